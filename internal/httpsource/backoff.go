package httpsource

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter caps what a source may ask for: a longer wait is a mistake of one side or the other.
const maxRetryAfter = 24 * time.Hour

// retryAfter is how long the source asked us to wait, by the clock of the fetch; 0 if it did not say anything of use: garbage,
// zero and the past are 0, and the caller's own back-off decides.
func retryAfter(header map[string][]string, fetchedAt time.Time) time.Duration {
	if v := strings.TrimSpace(firstValue(header, "Retry-After")); v != "" {
		if d := delta(v); d > 0 {
			return d
		}
		if at, err := http.ParseTime(v); err == nil {
			return clampWait(at.Sub(fetchedAt))
		}
		return 0
	}
	if left, told := remaining(header); told && left != "0" {
		return 0 // the budget is not what stopped us
	}
	for _, name := range []string{"X-Rate-Limit-Reset", "X-RateLimit-Reset", "RateLimit-Reset"} {
		if d := reset(firstValue(header, name), fetchedAt); d > 0 {
			return d
		}
	}
	return 0
}

// remaining is what is left of the budget, as the source words it.
func remaining(header map[string][]string) (left string, told bool) {
	for _, name := range []string{"X-Rate-Limit-Remaining", "X-RateLimit-Remaining", "RateLimit-Remaining"} {
		if v := firstItem(firstValue(header, name)); v != "" {
			return v, true
		}
	}
	return "", false
}

// throttled: 429, or a 403 that says by its headers that it is about a budget and not about a permission.
func throttled(status int, header map[string][]string) bool {
	if status == http.StatusTooManyRequests {
		return true
	}
	left, _ := remaining(header)
	return status == http.StatusForbidden && (left == "0" || firstValue(header, "Retry-After") != "")
}

// reset reads seconds since 1970, milliseconds since 1970, or, as the IETF's header has it, seconds from now: the three are many
// orders of magnitude apart. A list of budgets starts with the one that counts.
func reset(v string, fetchedAt time.Time) time.Duration {
	v = firstItem(v)
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case err != nil || n <= 0:
		return 0
	case n >= 1e12:
		return clampWait(time.UnixMilli(n).Sub(fetchedAt))
	case n >= 1e9:
		return clampWait(time.Unix(n, 0).Sub(fetchedAt))
	}
	return delta(v)
}

func firstItem(v string) string {
	if i := strings.IndexAny(v, ",;"); i >= 0 {
		v = v[:i]
	}
	return strings.TrimSpace(v)
}

// delta reads whole seconds; more digits than fit are a long wait all the same.
func delta(v string) time.Duration {
	if v == "" {
		return 0
	}
	for i := range len(v) {
		if v[i] < '0' || v[i] > '9' {
			return 0
		}
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n > int64(maxRetryAfter/time.Second) {
		return maxRetryAfter
	}
	return time.Duration(n) * time.Second
}

func clampWait(d time.Duration) time.Duration { return min(max(d, 0), maxRetryAfter) }
