package httpsource

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// composite has both a bookmark and a page token.
func composite() streamdef.Definition {
	d := trapDefinition()
	d.Source.End = ""
	d.Source.RefusedToken = `status == 400 && body.code == "stale"`
	d.Source.Cursor = streamdef.Cursor{
		Token: "body.next", Send: "query:page", Bookmark: "last.at", Resume: map[string]string{"query:since": "bookmark"}, TokenLife: time.Minute,
	}
	d.Event = streamdef.EventRules{ID: "event.id", Time: "event.at", TimeUnit: "s"}
	return d
}

const both = handoff.Cursor(`{"b":"B0","bt":"s","p":"T0","pt":"s"}`)

func answerTo(c handoff.Cursor, status int, text string) handoff.Answer {
	return handoff.Answer{Cursor: c, Status: status, Body: []byte(text), FetchedAt: fetchedAt}
}

func events(times ...string) string {
	out := make([]string, len(times))
	for i, at := range times {
		out[i] = fmt.Sprintf(`{"id":%d,"at":%s}`, i, at)
	}
	return "[" + strings.Join(out, ",") + "]"
}

func TestNextOfACompositeCursor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cursor    handoff.Cursor
		next      string
		data      string
		overlap   bool
		wantNext  string
		end, goes bool
	}{
		"token and bookmark": {both, `"T1"`, events(`"2031-03-01T00:00:00Z"`), false, `{"b":"2031-03-01T00:00:00Z","bt":"s","p":"T1","pt":"s"}`, false, true},
		"token, no event":    {both, `"T1"`, `[]`, false, `{"b":"B0","bt":"s","p":"T1","pt":"s"}`, false, true},
		"no token":           {both, `null`, events(`"2031-03-01T00:00:00Z"`), false, `{"b":"2031-03-01T00:00:00Z","bt":"s"}`, true, true},
		"overlap":            {both, `""`, events(`"2031-03-01T00:00:00Z"`), true, `{"b":"2031-03-01T00:00:00Z","bt":"s"}`, true, false},
		"neither":            {both, `null`, `[]`, false, `{"b":"B0","bt":"s"}`, true, true},
		"nothing ever seen":  {`{"at":"beginning"}`, `null`, `[]`, false, `{"at":"beginning"}`, true, false},
		"from a start":       {`{"at":"bookmark","v":"B0"}`, `null`, `null`, false, `{"b":"B0","bt":"s"}`, true, true},
		"zero is a token":    {both, `0`, `[]`, false, `{"b":"B0","bt":"s","p":"0","pt":"n"}`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := composite()
			def.Contract.Overlap = c.overlap
			r := mustSource(t, def, Options{}).Read(answerTo(c.cursor, 200, fmt.Sprintf(`{"data":%s,"next":%s}`, c.data, c.next)))
			if r.Kind != page || string(r.Next) != c.wantNext || r.End != c.end || r.Continues != c.goes {
				t.Errorf("%s (%s) next %s end %v continues %v", r.Kind, r.Detail, r.Next, r.End, r.Continues)
			}
			if strings.Contains(c.wantNext, `"p"`) != (r.TokenLife == time.Minute) {
				t.Errorf("token life %v", r.TokenLife)
			}
		})
	}
}

func TestBookmarkNeverRunsAhead(t *testing.T) {
	t.Parallel()
	now := fetchedAt.Unix()
	text := func(d time.Duration) string { return fetchedAt.Add(d).Format(`"` + time.RFC3339 + `"`) }
	for name, c := range map[string]struct {
		hold     time.Duration
		data     string
		bookmark string
		invalid  int
	}{
		"past":              {0, events(text(-time.Hour), text(-time.Minute)), strings.Trim(text(-time.Minute), `"`), 0},
		"one in the future": {0, events(text(-time.Hour), text(6*time.Minute)), strings.Trim(text(-time.Hour), `"`), 1},
		"clocks apart":      {0, events(text(-time.Hour), text(4*time.Minute)), strings.Trim(text(-time.Hour), `"`), 0},
		"all ahead":         {0, events(text(time.Minute)), "B0", 0},
		"held back":         {time.Hour, events(text(-2*time.Hour), text(-time.Minute)), strings.Trim(text(-2*time.Hour), `"`), 0},
		"seconds":           {0, events(fmt.Sprint(now-5), fmt.Sprint(now+5)), fmt.Sprint(now - 5), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := composite()
			def.Contract.HoldBack = c.hold
			r := mustSource(t, def, Options{}).Read(answerTo(both, 200, `{"next":null,"data":`+c.data+`}`))
			cur, err := parseCursor(r.Next)
			if err != nil || cur.bookmark.text != c.bookmark {
				t.Errorf("%s (%s): bookmark %s, %v; want %s", r.Kind, r.Detail, cur.bookmark.text, err, c.bookmark)
			}
			invalid := 0
			for _, ev := range r.Events {
				if ev.Invalid != "" {
					invalid++
				}
			}
			if invalid != c.invalid {
				t.Errorf("%d invalid events, want %d", invalid, c.invalid)
			}
		})
	}
}

func TestBookmarkThatNoEventGives(t *testing.T) {
	t.Parallel()
	def := composite()
	def.Source.Cursor.Bookmark = "last.att"
	r := mustSource(t, def, Options{}).Read(answerTo(both, 200, `{"next":null,"data":`+events(`"2031-03-01T00:00:00Z"`)+`}`))
	if r.Kind != handoff.ReadUnreadable || !strings.Contains(r.Detail, "source.cursor.bookmark: no such key: att") {
		t.Errorf("%s: %s", r.Kind, r.Detail)
	}
	// An invalid last record must not halt the stream: the one before it gives the bookmark.
	def = composite()
	def.Source.Cursor.Bookmark = "last.id"
	r = mustSource(t, def, Options{}).Read(answerTo(both, 200, `{"next":null,"data":[{"id":"a"},{"at":1}]}`))
	if r.Kind != page || r.Next != `{"b":"a","bt":"s"}` || r.Events[1].Invalid == "" {
		t.Errorf("%s: %s %s", r.Kind, r.Detail, r.Next)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := mustSource(t, composite(), Options{})
	for name, c := range map[string]struct {
		a        handoff.Answer
		kind     handoff.ReadKind
		bookmark handoff.Cursor
	}{
		"stale token":                {answerTo(both, 400, `{"code":"stale"}`), handoff.ReadTokenRefused, `{"b":"B0","bt":"s"}`},
		"stale without a bookmark":   {answerTo(t0, 400, `{"code":"stale"}`), handoff.ReadCursorRefused, ""},
		"stale bookmark":             {answerTo(`{"b":"B0","bt":"s"}`, 400, `{"code":"stale"}`), handoff.ReadCursorRefused, ""},
		"gone":                       {answerTo(both, 410, `<html>`), handoff.ReadCursorRefused, ""},
		"another 400":                {answerTo(both, 400, `{"code":"x"}`), handoff.ReadUnreadable, ""},
		"a 400 that is no JSON":      {answerTo(both, 400, `oops`), handoff.ReadUnreadable, ""},
		"401 is no lost token":       {answerTo(both, 401, ``), handoff.ReadUnavailable, ""},
		"403":                        {answerTo(both, 403, ``), handoff.ReadUnavailable, ""},
		"408":                        {answerTo(both, 408, ``), handoff.ReadUnavailable, ""},
		"425":                        {answerTo(both, 425, ``), handoff.ReadUnavailable, ""},
		"500":                        {answerTo(both, 500, `<html>`), handoff.ReadUnavailable, ""},
		"404":                        {answerTo(both, 404, ``), handoff.ReadUnreadable, ""},
		"a cursor of something else": {answerTo("T0", 200, `{}`), handoff.ReadMisconfigured, ""},
	} {
		if r := s.Read(c.a); r.Kind != c.kind || r.Bookmark != c.bookmark {
			t.Errorf("%s: %s (%s) bookmark %s", name, r.Kind, r.Detail, r.Bookmark)
		}
	}
	// A throttle stays one, whatever a broad predicate says.
	def := composite()
	def.Source.Refused, def.Source.Unavailable = "status >= 400", "false"
	throttle := answerTo(both, 403, "")
	throttle.Header = map[string][]string{"retry-after": {"7"}}
	if r := mustSource(t, def, Options{}).Read(throttle); r.Kind != handoff.ReadUnavailable || r.Class != "throttled" || r.RetryAfter != 7*time.Second {
		t.Errorf("%s %s %v", r.Kind, r.Class, r.RetryAfter)
	}
}

func TestEmptyAnswers(t *testing.T) {
	t.Parallel()
	s := mustSource(t, trapDefinition(), Options{})
	plain := trapDefinition()
	plain.Source.Success = ""
	strict := trapDefinition()
	strict.Source.Success = "status == 200"
	linked := trapDefinition()
	linked.Source.Cursor = streamdef.Cursor{Link: "next"}
	for name, c := range map[string]struct {
		s      *Source
		status int
		body   string
		link   string
		want   want
	}{
		"204":             {s, 204, "", "", want{kind: page, end: true}},
		"304":             {mustSource(t, plain, Options{}), 304, "", "", want{kind: page, end: true}},
		"200":             {s, 200, "", "", want{kind: page, end: true}},
		"200, blank":      {s, 200, " \r\n", "", want{kind: page, end: true}},
		"204 is no page":  {mustSource(t, strict, Options{}), 204, "", "", want{kind: handoff.ReadUnreadable, class: "http_204"}},
		"202 is no page":  {mustSource(t, plain, Options{}), 202, "", "", want{kind: handoff.ReadUnreadable, class: "http_202"}},
		"204 with a link": {mustSource(t, linked, Options{}), 204, "", `</events?p=2>; rel=next`, want{kind: page, end: true, continues: true, next: `{"p":"https://api.example.com/events?p=2","pt":"u"}`}},
		"two links":       {mustSource(t, linked, Options{}), 204, "", `</a>; rel=next, </b>; rel=next`, want{kind: handoff.ReadUnreadable, class: "contradiction"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t0, c.status, c.body)
			if c.link != "" {
				a.Header = map[string][]string{"Link": {c.link}}
			}
			check(t, c.s.Read(a), c.want)
		})
	}
}

// Without an end expression: what ends a source of each kind.
func TestUsualEnds(t *testing.T) {
	t.Parallel()
	token := streamdef.Cursor{Token: "body.next", Send: "query:c"}
	kept := token
	kept.KeepAtEnd = true
	withBookmark := composite().Source.Cursor
	onlyBookmark := withBookmark
	onlyBookmark.Token, onlyBookmark.Send = "", ""
	for name, c := range map[string]struct {
		cursor streamdef.Cursor
		data   string
		next   string
		end    bool
	}{
		"token, events":             {token, `[{"id":1}]`, `"T1"`, false},
		"token, empty":              {token, `[]`, `"T1"`, true},
		"kept, token":               {kept, `[{"id":1}]`, `"T1"`, false},
		"kept, none":                {kept, `[{"id":1}]`, `null`, true},
		"bookmark and token, empty": {withBookmark, `[]`, `"T1"`, false},
		"bookmark and token, none":  {withBookmark, `[]`, `null`, true},
		"bookmark, events":          {onlyBookmark, `[{"id":1,"at":1}]`, `null`, false},
		"bookmark, empty":           {onlyBookmark, `[]`, `null`, true},
	} {
		def := composite()
		def.Source.Cursor, def.Source.RefusedToken = c.cursor, ""
		r := mustSource(t, def, Options{}).Read(answerTo(t0, 200, `{"data":`+c.data+`,"next":`+c.next+`}`))
		if r.Kind != page || r.End != c.end {
			t.Errorf("%s: %s (%s) end %v", name, r.Kind, r.Detail, r.End)
		}
	}
}

func TestPositionsAndTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		expr, kind, unit string
		value            string
		stored           string // the position's stored form; empty is invalid
	}{
		"number":               {"event.p", "", "", "12345678901234567890", `[["n","12345678901234567890"]]`},
		"number as text":       {"event.p", "number", "", `"211"`, `[["n","211"]]`},
		"text":                 {"event.p", "", "", `"211"`, `[["s","211"]]`},
		"number declared text": {"event.p", "text", "", `211`, `[["s","211"]]`},
		"time":                 {"event.p", "time", "", `"2031-03-01T01:00:00.50+01:00"`, `[["t","2031-03-01T01:00:00.50+01:00"]]`},
		"seconds":              {"event.p", "time", "s", `1930000000.25`, `[["t","2031-02-27T23:06:40.25Z"]]`},
		"milliseconds":         {"event.p", "time", "ms", `1930000000250`, `[["t","2031-02-27T23:06:40.25Z"]]`},
		"before 1970":          {"event.p", "time", "s", `-1.5`, `[["t","1969-12-31T23:59:58.5Z"]]`},
		"no unit":              {"event.p", "time", "", `1930000000`, ``},
		"year 10000":           {"event.p", "time", "s", `253402300800`, ``},
		"not a time":           {"event.p", "time", "", `"yesterday"`, ``},
		"not a number":         {"event.p", "number", "", `"PRIVATE"`, ``},
		"tuple":                {"[event.p, event.id]", "time", "", `"2031-03-01T00:00:00Z"`, `[["t","2031-03-01T00:00:00Z"],["s","a"]]`},
		"tuple by value":       {"[event.p, event.id]", "", "", `7`, `[["n","7"],["s","a"]]`},
		"tuple with null":      {"[event.id, event.p]", "", "", `null`, ``},
		"empty tuple":          {"event.p", "", "", `[]`, ``},
		"bool":                 {"event.p", "", "", `true`, ``},
		"null":                 {"event.p", "", "", `null`, ``},
		"in the future":        {"event.p", "time", "", `"2031-03-02T00:05:01Z"`, ``},
		"five minutes ahead":   {"event.p", "time", "", `"2031-03-02T00:05:00Z"`, `[["t","2031-03-02T00:05:00Z"]]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := trapDefinition()
			def.Event = streamdef.EventRules{ID: "event.id", Position: c.expr, PositionType: c.kind, TimeUnit: c.unit}
			r := mustSource(t, def, Options{}).Read(body(`{"has_more":false,"data":[{"id":"a","p":` + c.value + `}]}`))
			if r.Kind != page || len(r.Events) != 1 {
				t.Fatalf("%s: %s", r.Kind, r.Detail)
			}
			ev := r.Events[0]
			if shown := strings.Trim(c.value, `"`); len(shown) > 6 && strings.Contains(ev.Invalid, shown) {
				t.Errorf("the reason shows the value: %s", ev.Invalid)
			}
			stored, err := ev.Position.MarshalText()
			if err != nil || (ev.Invalid == "") != (c.stored != "") || c.stored != "" && string(stored) != c.stored {
				t.Errorf("position %s, invalid %q; want %s", stored, ev.Invalid, c.stored)
			}
		})
	}
}

func TestIdentityAndDigest(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Event = streamdef.EventRules{ID: "event.id", Digest: "[event.v, event.w]"}
	s := mustSource(t, def, Options{})
	read := func(record string) handoff.Event {
		t.Helper()
		r := s.Read(body(`{"has_more":false,"data":[` + record + `]}`))
		if r.Kind != page || len(r.Events) != 1 {
			t.Fatalf("%s: %s", r.Kind, r.Detail)
		}
		return r.Events[0]
	}
	for record, id := range map[string]string{
		`{"id":"a\u002fb<\u00e9","v":1,"w":1}`:                   "\"a/b<é\"",
		`{"id":1e3,"v":1,"w":1}`:                                 "1e3",
		`{"id":12345678901234567890123,"v":1,"w":1}`:             "12345678901234567890123",
		`{"id":{"b" : 1.50, "a":["x",null]},"v":1,"w":1}`:        `{"a":["x",null],"b":1.50}`,
		`{"id":"` + strings.Repeat("i", 5000) + `","v":1,"w":1}`: `"` + strings.Repeat("i", 5000) + `"`,
	} {
		if ev := read(record); ev.ID != id || ev.Invalid != "" {
			t.Errorf("%.80s: id %.80s, %s", record, ev.ID, ev.Invalid)
		}
	}
	a, b := read(`{"id":1,"v":{"x":1,"y":2.0},"w":1,"seen":1}`), read(`{"seen":2,"id":1,"w": 1,"v":{"y":2.0, "x":1}}`)
	if a.Digest != b.Digest || a.Digest != handoff.DigestOf([]byte(`[{"x":1,"y":2.0},1]`)) {
		t.Errorf("digests %s and %s over the same fields", a.Digest, b.Digest)
	}
	if c := read(`{"id":1,"v":{"x":1,"y":2},"w":1}`); c.Digest == a.Digest {
		t.Error("other digits, same digest")
	}
	if c := read(`{"id":1,"v":1}`); c.Digest != handoff.DigestOf(c.Raw) || !strings.HasPrefix(c.Invalid, "no digest: event.digest: no such key: w") {
		t.Errorf("digest %s, %s", c.Digest, c.Invalid)
	}
}

func TestRecordsAnExpressionMade(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Source.Events = `body.edges.map(e, e.node)`
	r := mustSource(t, def, Options{}).Read(body(`{"has_more":false,"edges":[{"node":{ "id":1.0, "seq":1,"key":"k"}}]}`))
	if r.Kind != page || len(r.Events) != 1 || string(r.Events[0].Raw) != `{ "id":1.0, "seq":1,"key":"k"}` || r.Events[0].ID != "1.0" {
		t.Errorf("%s: %s %+v", r.Kind, r.Detail, r.Events)
	}
}

func TestRawOutlivesTheAnswer(t *testing.T) {
	t.Parallel()
	a := body(`{"has_more":false,"data":[{"id":"a","seq":1,"key":"k"}]}`)
	r := mustSource(t, trapDefinition(), Options{}).Read(a)
	clear(a.Body)
	if got := string(r.Events[0].Raw); got != `{"id":"a","seq":1,"key":"k"}` {
		t.Errorf("raw became %q", got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*streamdef.Definition){
		"no events":     func(d *streamdef.Definition) { d.Source.Events = "" },
		"no id":         func(d *streamdef.Definition) { d.Event.ID = "" },
		"bad CEL":       func(d *streamdef.Definition) { d.Source.End = "body." },
		"no send":       func(d *streamdef.Definition) { d.Source.Cursor.Send = "" },
		"bad send":      func(d *streamdef.Definition) { d.Source.Cursor.Send = "path:x" },
		"bad header":    func(d *streamdef.Definition) { d.Source.Cursor.Send = "header:a b" },
		"bad resume":    func(d *streamdef.Definition) { d.Source.Cursor.Resume = map[string]string{"x": "bookmark"} },
		"method":        func(d *streamdef.Definition) { d.Source.Method = "DELETE" },
		"body with GET": func(d *streamdef.Definition) { d.Source.Body = map[string]any{"a": 1} },
		"plain http":    func(d *streamdef.Definition) { d.Source.URL = "http://api.example.com/" },
	} {
		def := trapDefinition()
		change(&def)
		if _, err := New(&def, nil, Options{}); err == nil || !strings.Contains(err.Error(), handoff.ErrConfig.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
