package httpsource

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// MaxToken is the most bytes of one token or bookmark: what stores, headers and URLs take without trouble.
const MaxToken = 16 << 10

// valueKind says how a token or bookmark came, so that it is sent back as it came.
type valueKind string

const (
	kindNone   valueKind = ""
	kindNumber valueKind = "n" // a JSON number, digit for digit
	kindText   valueKind = "s"
	kindURL    valueKind = "u" // a whole URL, requested as it stands
)

// value is a token or a bookmark. The zero value is absent.
type value struct {
	text string
	kind valueKind
}

func (v value) absent() bool { return v.kind == kindNone }

// cursor is the composite behind a handoff.Cursor: a durable bookmark and a page token, either of which may be absent. With
// neither it asks for the beginning.
type cursor struct {
	bookmark value
	token    value
}

// wireCursor is the stored text of a cursor. The order of the fields is the canonical order of the members.
type wireCursor struct {
	At           string    `json:"at,omitzero"`
	V            string    `json:"v,omitzero"`
	Bookmark     string    `json:"b,omitzero"`
	BookmarkKind valueKind `json:"bt,omitzero"`
	Page         string    `json:"p,omitzero"`
	PageKind     valueKind `json:"pt,omitzero"`
}

const (
	atToken     = "token"
	atBookmark  = "bookmark"
	atBeginning = "beginning"
)

// parseCursor reads both forms. Errors name the fault, never the content.
func parseCursor(c handoff.Cursor) (cursor, error) {
	var w wireCursor
	if err := json.Unmarshal([]byte(c), &w, json.RejectUnknownMembers(true)); err != nil {
		return cursor{}, errors.New("the cursor is not one of this source")
	}
	if w.At != "" {
		return w.start()
	}
	if w.V != "" {
		return cursor{}, errors.New("the cursor has a value and no place to start at")
	}
	cur := cursor{value{w.Bookmark, w.BookmarkKind}, value{w.Page, w.PageKind}}
	if cur.bookmark.kind == kindURL {
		return cursor{}, errors.New("the cursor's bookmark cannot be a URL")
	}
	return cur, errors.Join(cur.bookmark.check("bookmark"), cur.token.check("token"))
}

// start reads the form that a person or a definition writes.
func (w wireCursor) start() (cursor, error) {
	if w.Bookmark != "" || w.BookmarkKind != "" || w.Page != "" || w.PageKind != "" {
		return cursor{}, errors.New("the cursor is a start and a place at once")
	}
	v := value{w.V, kindText}
	switch {
	case w.At == atBeginning && w.V == "":
		return cursor{}, nil
	case w.At == atToken:
		return cursor{token: v}, v.check("token")
	case w.At == atBookmark:
		return cursor{bookmark: v}, v.check("bookmark")
	}
	return cursor{}, errors.New("the cursor starts nowhere that is known")
}

func (v value) check(what string) error {
	switch {
	case v.kind == kindNone && v.text == "":
		return nil
	case len(v.text) > MaxToken:
		return fmt.Errorf("a %s of %d bytes: at most %d", what, len(v.text), MaxToken)
	case !utf8.ValidString(v.text):
		return fmt.Errorf("the %s is not UTF-8", what)
	case v.kind == kindNumber && isNumber(v.text), v.kind == kindText && v.text != "", v.kind == kindURL && v.text != "":
		return nil
	}
	return fmt.Errorf("the %s is not what its kind says", what)
}

// isNumber reports that s is one JSON number and nothing else.
func isNumber(s string) bool {
	return s != "" && strings.IndexByte("-0123456789", s[0]) >= 0 && strings.TrimSpace(s) == s && stdjson.Valid([]byte(s))
}

// encode gives the canonical text: equal cursors have equal bytes, so that handoff can tell a stall by comparing them.
func (c cursor) encode() handoff.Cursor {
	return wireCursor{
		Bookmark: c.bookmark.text, BookmarkKind: c.bookmark.kind,
		Page: c.token.text, PageKind: c.token.kind,
	}.encode()
}

func (w wireCursor) encode() handoff.Cursor {
	if w == (wireCursor{}) {
		w.At = atBeginning
	}
	b, err := json.Marshal(w)
	if err != nil { // only for text that is not UTF-8, which check refuses
		return ""
	}
	return handoff.Cursor(bytes.TrimSpace(b))
}

// StartAt gives the cursor of a declared start. A relative time (`now`, `now-24h`) becomes literal by the given clock, so it
// must be called once and its answer stored. Errors wrap handoff.ErrConfig.
func StartAt(s streamdef.Start, now time.Time) (handoff.Cursor, error) {
	switch {
	case s.Beginning:
		return wireCursor{At: atBeginning}.encode(), nil
	case s.Token != "":
		return startCursor(atToken, s.Token)
	case s.Bookmark != "":
		return startCursor(atBookmark, s.Bookmark)
	case s.Time != "":
		at, err := literalTime(s.Time, now)
		if err != nil {
			return "", fmt.Errorf("start: %w: %w", handoff.ErrConfig, err)
		}
		return startCursor(atBookmark, at)
	}
	return "", fmt.Errorf("start: %w: nothing says where", handoff.ErrConfig)
}

func startCursor(at, v string) (handoff.Cursor, error) {
	if err := (value{v, kindText}).check(at); err != nil {
		return "", fmt.Errorf("start: %w: %w", handoff.ErrConfig, err)
	}
	return wireCursor{At: at, V: v}.encode(), nil
}

// literalTime keeps an RFC 3339 time as written and makes a relative one a UTC time in whole seconds.
func literalTime(s string, now time.Time) (string, error) {
	if ago, relative := strings.CutPrefix(s, "now"); relative {
		d := time.Duration(0)
		if ago != "" {
			var err error
			if d, err = time.ParseDuration(ago); err != nil || d > 0 {
				return "", errors.New("a relative time is now or now-DURATION")
			}
		}
		return now.UTC().Add(d).Format(time.RFC3339), nil
	}
	if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
		return "", errors.New("not an RFC 3339 time, now or now-DURATION")
	}
	return s, nil
}
