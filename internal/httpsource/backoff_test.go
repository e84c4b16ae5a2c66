package httpsource

import (
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1930000000, 0)
	date := func(d time.Duration) string { return now.Add(d).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT") }
	for name, c := range map[string]struct {
		header map[string][]string
		want   time.Duration
	}{
		"none":                  {nil, 0},
		"seconds":               {map[string][]string{"Retry-After": {"60"}}, time.Minute},
		"lower case":            {map[string][]string{"retry-after": {" 60 "}}, time.Minute},
		"zero":                  {map[string][]string{"Retry-After": {"0"}}, 0},
		"negative":              {map[string][]string{"Retry-After": {"-5"}}, 0},
		"garbage":               {map[string][]string{"Retry-After": {"soon"}}, 0},
		"fraction":              {map[string][]string{"Retry-After": {"1.5"}}, 0},
		"too long":              {map[string][]string{"Retry-After": {"86401"}}, 24 * time.Hour},
		"more digits than fit":  {map[string][]string{"Retry-After": {"99999999999999999999"}}, 24 * time.Hour},
		"date":                  {map[string][]string{"Retry-After": {date(10 * time.Minute)}}, 10 * time.Minute},
		"date in the past":      {map[string][]string{"Retry-After": {date(-time.Minute)}}, 0},
		"date far away":         {map[string][]string{"Retry-After": {date(1000 * time.Hour)}}, 24 * time.Hour},
		"reset":                 {map[string][]string{"X-Rate-Limit-Reset": {"1930000060"}, "X-Rate-Limit-Remaining": {"0"}}, time.Minute},
		"reset, GitHub's":       {map[string][]string{"X-RateLimit-Reset": {"1930000060"}}, time.Minute},
		"reset, IETF's":         {map[string][]string{"RateLimit-Reset": {"160, 160;w=1"}}, 160 * time.Second},
		"reset in ms":           {map[string][]string{"X-Rate-Limit-Reset": {"1930000060000"}}, time.Minute},
		"reset past":            {map[string][]string{"X-Rate-Limit-Reset": {"1929999999"}}, 0},
		"reset garbage":         {map[string][]string{"X-Rate-Limit-Reset": {"x"}}, 0},
		"budget left":           {map[string][]string{"X-Rate-Limit-Reset": {"1930000060"}, "X-Rate-Limit-Remaining": {"59"}}, 0},
		"Retry-After wins":      {map[string][]string{"Retry-After": {"5"}, "X-RateLimit-Reset": {"1930000060"}}, 5 * time.Second},
		"garbage hides nothing": {map[string][]string{"X-Rate-Limit-Reset": {""}, "RateLimit-Reset": {"7"}}, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := retryAfter(c.header, now); got != c.want {
				t.Errorf("%v gives %v, want %v", c.header, got, c.want)
			}
		})
	}
}

func TestThrottled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		header map[string][]string
		want   bool
	}{
		{429, nil, true},
		{403, nil, false},
		{403, map[string][]string{"Retry-After": {"60"}}, true},
		{403, map[string][]string{"X-RateLimit-Remaining": {"0"}}, true},
		{403, map[string][]string{"X-RateLimit-Remaining": {"10"}}, false},
		{200, map[string][]string{"X-RateLimit-Remaining": {"0"}}, false},
	} {
		if got := throttled(c.status, c.header); got != c.want {
			t.Errorf("%d %v: %v", c.status, c.header, got)
		}
	}
}
