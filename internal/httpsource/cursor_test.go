package httpsource

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

func TestCursorForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[handoff.Cursor]cursor{
		`{"at":"beginning"}`:                           {},
		`{"at":"token","v":"0"}`:                       {token: value{"0", kindText}},
		`{"at":"bookmark","v":"evt_1"}`:                {bookmark: value{"evt_1", kindText}},
		`{"b":"17","bt":"n"}`:                          {bookmark: value{"17", kindNumber}},
		`{"b":"a","bt":"s","p":"1e3","pt":"n"}`:        {value{"a", kindText}, value{"1e3", kindNumber}},
		`{"p":"https://x.example/?a=1&b=<>","pt":"u"}`: {token: value{"https://x.example/?a=1&b=<>", kindURL}},
	} {
		got, err := parseCursor(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if !strings.Contains(string(text), `"at"`) && got.encode() != text {
			t.Errorf("%s becomes %s", text, got.encode())
		}
	}
}

func TestCursorRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []handoff.Cursor{
		"", "T0", `[]`, `{"P":"T0","pt":"s"}`, `{"p":"T0"}`, `{"pt":"s"}`, `{"p":"T0","pt":"x"}`, `{"p":"1x","pt":"n"}`, `{"p":" 1","pt":"n"}`,
		`{"b":"https://x.example","bt":"u"}`, `{"at":"now"}`, `{"at":"token"}`, `{"at":"beginning","v":"1"}`, `{"v":"1"}`,
		`{"at":"token","v":"1","p":"2","pt":"s"}`, `{"p":"1","pt":"s","p":"2"}`, `{"p":"1","pt":"s"}x`, `{"p":"1","pt":"s","z":1}`,
		handoff.Cursor(`{"p":"` + strings.Repeat("T", MaxToken+1) + `","pt":"s"}`),
	} {
		if c, err := parseCursor(text); err == nil {
			t.Errorf("%.60s was read as %+v", text, c)
		} else if strings.Contains(err.Error(), "TTT") {
			t.Errorf("the error shows the cursor: %v", err)
		}
	}
}

func TestStartAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 3, 1, 1, 2, 3, 4, time.FixedZone("", 3600))
	for want, s := range map[handoff.Cursor]streamdef.Start{
		`{"at":"beginning"}`:                                  {Beginning: true},
		`{"at":"token","v":"*"}`:                              {Token: "*"},
		`{"at":"bookmark","v":"evt_1"}`:                       {Bookmark: "evt_1"},
		`{"at":"bookmark","v":"2031-03-01T00:02:03Z"}`:        {Time: "now"},
		`{"at":"bookmark","v":"2031-02-28T00:02:03Z"}`:        {Time: "now-24h"},
		`{"at":"bookmark","v":"2031-01-01T00:00:00.5+01:00"}`: {Time: "2031-01-01T00:00:00.5+01:00"},
	} {
		if got, err := StartAt(s, now); err != nil || got != want {
			t.Errorf("%+v: %s, %v; want %s", s, got, err, want)
		}
	}
	for _, s := range []streamdef.Start{{}, {Time: "now+1h"}, {Time: "nowadays"}, {Time: "yesterday"}, {Token: strings.Repeat("T", MaxToken+1)}} {
		if _, err := StartAt(s, now); !errors.Is(err, handoff.ErrConfig) {
			t.Errorf("%.60v: %v", s, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{`{"at":"beginning"}`, `{"at":"token","v":"0"}`, `{"b":"a","bt":"s","p":"1e3","pt":"n"}`, `{"p":"https://x.example/?é","pt":"u"}`, `{}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(handoff.Cursor(text))
		if err != nil {
			return
		}
		canonical := c.encode()
		back, err := parseCursor(canonical)
		if err != nil || back != c || back.encode() != canonical {
			t.Fatalf("%q becomes %q, then %+v, %v", text, canonical, back, err)
		}
	})
}
