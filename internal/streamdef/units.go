package streamdef

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var days = regexp.MustCompile(`^[0-9]{1,5}d$`)

// ParseDuration reads 90s, 24h, 1h30m or 30d: more than nothing, and a whole number where it is in days.
func ParseDuration(s string) (time.Duration, error) {
	if days.MatchString(s) {
		n, err := strconv.Atoi(strings.TrimSuffix(s, "d"))
		if err == nil && n > 0 {
			return time.Duration(n) * day, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%.40q is not a duration such as 90s, 24h or 30d", s)
	}
	return d, nil
}

func formatDuration(d time.Duration) string {
	switch {
	case d >= day && d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	case d >= time.Hour && d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	case d >= time.Minute && d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	}
	return d.String()
}

var sizes = regexp.MustCompile(`^([0-9]{1,15}) ?(|B|kB|KB|MB|GB|KiB|MiB|GiB)$`)

// ParseSize reads bytes: 4096, 20MB (a million each), 20MiB (1024 × 1024 each).
func ParseSize(s string) (int64, error) {
	m := sizes.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%.40q is not a size such as 20MB", s)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a size such as 20MB", s)
	}
	unit := map[string]int64{
		"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}[m[2]]
	if n > (1<<62)/unit {
		return 0, fmt.Errorf("%.40q is too large", s)
	}
	return n * unit, nil
}
