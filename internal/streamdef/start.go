package streamdef

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// ParseStart reads the short form of a start: beginning, bookmark:VALUE, time:now-24h, or else a token, as it stands. A token
// that begins like one of these is written token:VALUE.
func ParseStart(text string) (Start, error) {
	kind, value, found := strings.Cut(text, ":")
	switch {
	case text == "":
		return Start{}, errors.New("an empty start")
	case text == "beginning":
		return Start{Beginning: true}, nil
	case found && (kind == "token" || kind == "bookmark" || kind == "time") && value == "":
		return Start{}, fmt.Errorf("an empty %s", kind)
	case found && kind == "token":
		return Start{Token: value}, nil
	case found && kind == "bookmark":
		return Start{Bookmark: value}, nil
	case found && kind == "time":
		_, err := literalTime(value, time.Time{})
		return Start{Time: value}, err
	}
	return Start{Token: text}, nil
}

// startCursor is the literal form of a cursor that a source adapter understands beside its own.
type startCursor struct {
	At    string `json:"at"` // token, bookmark, beginning
	Value string `json:"v,omitempty"`
}

// StartCursor makes a start literal: `now` and `now-24h` become the UTC time in whole seconds by the given clock, so it is
// called once and its answer stored. A time is a bookmark.
func StartCursor(s Start, now time.Time) (handoff.Cursor, error) {
	c := startCursor{At: "beginning"}
	switch {
	case s.Token != "":
		c = startCursor{"token", s.Token}
	case s.Bookmark != "":
		c = startCursor{"bookmark", s.Bookmark}
	case s.Time != "":
		at, err := literalTime(s.Time, now)
		if err != nil {
			return "", fmt.Errorf("start: %w", err)
		}
		c = startCursor{"bookmark", at}
	case !s.Beginning:
		return "", errors.New("start: nothing says where")
	}
	b, err := json.Marshal(c)
	return handoff.Cursor(b), err
}

func literalTime(s string, now time.Time) (string, error) {
	bad := errors.New("a time is an RFC 3339 time, now, or now-24h")
	if s == "now" {
		return now.UTC().Format(time.RFC3339), nil
	}
	if ago, relative := strings.CutPrefix(s, "now-"); relative {
		d, err := ParseDuration(ago)
		if err != nil {
			return "", bad
		}
		return now.UTC().Add(-d).Format(time.RFC3339), nil
	}
	if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
		return "", bad
	}
	return s, nil
}
