package httpsource

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

func trapDefinition() streamdef.Definition {
	return streamdef.Definition{
		Source: streamdef.Source{
			URL: "https://api.example.com/events", Query: map[string]string{"limit": "2"}, Auth: bearer(),
			Success: `status in [200, 204] && !(has(body.ok) && !body.ok)`,
			Events:  "body.data", End: "!body.has_more",
			Cursor: streamdef.Cursor{
				Token: "has(body.next) ? body.next : null", Send: "query:cursor",
				NextURL: "has(body.links) ? body.links.next : null",
			},
		},
		Event: streamdef.EventRules{ID: "event.id", Position: "event.seq", Entity: "event.key"},
	}
}

const t0 = handoff.Cursor(`{"p":"T0","pt":"s"}`)

func TestTraps(t *testing.T) {
	t.Parallel()
	bad := func(class string) want { return want{kind: handoff.ReadUnreadable, class: class} }
	t1 := `{"p":"T1","pt":"s"}`
	wants := []want{
		bad("html"), bad("json"),
		{kind: page, end: true}, // 204: the cursor is kept, since none is given
		bad("success"),
		{kind: page, next: t1, end: true, continues: true},
		bad("contradiction"),
		{kind: page, ids: `"a1"`, positions: "1", next: string(t0), continues: true},
		{kind: page, next: string(t0), continues: true},
		bad("origin"), bad("origin"), bad("origin"),
		bad("schema"), // no has_more here: read by a definition of its own in TestLinkInAnAnswer
		bad("redirect"),
		{kind: unavailable, class: "http_503", after: 10 * time.Minute},
		{kind: page, ids: `"a1" "a1"`, positions: "1 | 1", next: t1, end: true, continues: true},
		{}, // TestUnfitRecords
		{kind: page, ids: `"b1" "b2" "b3" "b4" "b5"`, positions: "9007199254740993 | 9007199254740992 | -1 | 1e3 | 1.50",
			next: `{"p":"90071992547409931","pt":"n"}`, end: true, continues: true},
		bad("json"), // the byte order mark; without it in TestUnfitRecords
		{kind: unavailable, class: "http_500"},
		{kind: page}, // the long token: below
	}
	s := mustSource(t, trapDefinition(), Options{})
	for i, x := range loadFixture(t, "generic-traps") {
		t.Run(x.Step, func(t *testing.T) {
			a := x.answer(t0)
			a.FetchedAt = time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)
			r := s.Read(a)
			switch {
			case wants[i] == want{}:
			case strings.HasPrefix(x.Step, "token longer"):
				if got := len(r.Next); r.Kind != page || got < 3000 {
					t.Errorf("%s: a token below the limit must be kept whole, got a cursor of %d bytes", r.Kind, got)
				}
			default:
				check(t, r, wants[i])
			}
			if r.Kind != page && (len(r.Events) > 0 || r.Next != "") {
				t.Errorf("%s carries %d events and cursor %s", r.Kind, len(r.Events), r.Next)
			}
		})
	}
}

func TestLinkInAnAnswer(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Source.End, def.Source.Cursor = "", streamdef.Cursor{Link: "next"}
	s := mustSource(t, def, Options{})
	for _, x := range loadFixture(t, "generic-traps") {
		if strings.HasPrefix(x.Step, "Link header") {
			check(t, s.Read(x.answer(`{"at":"beginning"}`)), want{kind: page, end: true, continues: true,
				next: `{"p":"https://api.example.com/events?fields=a,b;c&cursor=T1","pt":"u"}`})
			return
		}
	}
	t.Fatal("the exchange is gone from the fixture")
}

// body builds an answer of the trap API.
func body(text string) handoff.Answer {
	return handoff.Answer{
		Cursor: t0, Status: 200, FetchedAt: fetchedAt, Body: []byte(text),
		Request: handoff.SentRequest{URL: "https://api.example.com/events?cursor=T0"},
	}
}

func TestUnfitRecords(t *testing.T) {
	t.Parallel()
	s := mustSource(t, trapDefinition(), Options{})
	r := s.Read(body(`{"data":[
		{"seq":5,"key":"k1"}, {"id":"a6","seq":6}, {"id":7,"seq":7,"key":"k1"}, {"id":"7","seq":8,"key":"k1"},
		{"id":"c1","id":"c2","seq":1,"key":"k\u0000"}, {"id":"\ud800","seq":2,"key":"k"}, {"id":"n","seq":null,"key":"k"},
		{"id":"","seq":3,"key":"k"}, {"id":"e","seq":3,"key":""}, {"id":true,"seq":4,"key":"k"}, {"id":"z","seq":9,"key":1,"x":"\udfff"}
	],"next":"T1","has_more":false}`))
	if r.Kind != page || len(r.Events) != 11 {
		t.Fatalf("%s (%s) with %d events", r.Kind, r.Detail, len(r.Events))
	}
	wants := []struct{ id, invalid, entity string }{
		{"!", "no id: event.id: no such key: id (at 1:6)", "k1"},
		{`"a6"`, "no entity: event.entity: no such key: key (at 1:6)", ""},
		{"7", "", "k1"},
		{`"7"`, "", "k1"},
		{"!", "defect: duplicate key", ""},
		{"!", "defect: invalid UTF-8 or lone surrogate", "k"},
		{`"n"`, "no position: it is null or empty", "k"},
		{"!", "no id: it is null or empty", "k"},
		{`"e"`, "no entity: it is null or empty", ""},
		{"!", "no id: event.id: a bool identifies nothing", "k"},
		{`"z"`, "defect: invalid UTF-8 or lone surrogate", "1"},
	}
	for i, w := range wants {
		ev := r.Events[i]
		if w.id == "!" {
			w.id = handoff.InvalidID(handoff.DigestOf(ev.Raw))
		}
		if ev.ID != w.id || !strings.HasPrefix(ev.Invalid, w.invalid) || (w.invalid == "") != (ev.Invalid == "") || ev.Entity != w.entity {
			t.Errorf("event %d: id %s invalid %q entity %s, want %s %q %s", i, ev.ID, ev.Invalid, ev.Entity, w.id, w.invalid, w.entity)
		}
	}
	if got := string(r.Events[4].Raw); got != `{"id":"c1","id":"c2","seq":1,"key":"k\u0000"}` {
		t.Errorf("raw bytes changed: %s", got)
	}
}

func TestInvalidNeverShowsPayload(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Event.PositionType, def.Event.Time, def.Contract.HoldBack = "time", "event.at", time.Minute
	s := mustSource(t, def, Options{})
	const private = "PRIVATE"
	r := s.Read(body(fmt.Sprintf(`{"data":[{"id":["%[1]s","\ud800"],"seq":"%[1]s","key":{"%[1]s":1},"at":"%[1]s"}],"next":"T1","has_more":false}`, private)))
	if r.Kind != page || len(r.Events) != 1 || strings.Count(r.Events[0].Invalid, ";") < 3 {
		t.Fatalf("%+v", r)
	}
	if strings.Contains(r.Events[0].Invalid, private) {
		t.Errorf("the reason shows payload: %s", r.Events[0].Invalid)
	}
	r = s.Read(body(`{"data":"PRIVATE","next":["PRIVATE"],"has_more":"PRIVATE"}`))
	if r.Kind != handoff.ReadUnreadable || strings.Contains(r.Detail, private) {
		t.Errorf("%s: %s", r.Kind, r.Detail)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Source.MaxEvents = 2
	s := mustSource(t, def, Options{})
	truncated := body("")
	truncated.Truncated = true
	late := truncated
	late.Status = 503
	for name, c := range map[string]struct {
		a    handoff.Answer
		kind handoff.ReadKind
		says string
	}{
		"at the limit":     {body(`{"data":[{},{}],"has_more":false}`), page, ""},
		"above the limit":  {body(`{"data":[{},{},{}],"has_more":false}`), handoff.ReadTooLarge, "3 events: at most 2"},
		"long token":       {body(`{"data":[],"has_more":false,"next":"` + strings.Repeat("T", 16384) + `"}`), page, ""},
		"too long a token": {body(`{"data":[],"has_more":false,"next":"` + strings.Repeat("T", 16385) + `"}`), handoff.ReadTooLarge, "a token of 16385 bytes: at most 16384"},
		"truncated":        {truncated, handoff.ReadTooLarge, "a body of more than 10485760 bytes"},
		"truncated error":  {late, unavailable, "status 503"},
		"not a list":       {body(`{"data":{},"has_more":false}`), handoff.ReadUnreadable, "source.events: a list is needed, found an object"},
		"no list":          {body(`{"has_more":false}`), handoff.ReadUnreadable, "source.events: no such key: data (at 1:5)"},
		"duplicate keys":   {body(`{"data":[],"next":"A","next":"B","has_more":false}`), handoff.ReadUnreadable, ""},
		"two documents":    {body(`{"data":[],"has_more":false}{}`), handoff.ReadUnreadable, "JSON at byte 28: something follows the document"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := s.Read(c.a); r.Kind != c.kind || (c.says != "" && r.Detail != c.says) {
				t.Errorf("%s: %s; want %s: %s", r.Kind, r.Detail, c.kind, c.says)
			}
		})
	}
}

func TestArchivedAnswerReadsTheSame(t *testing.T) {
	t.Parallel()
	defs := definitions()
	defs["generic-traps"] = trapDefinition()
	for name, def := range defs {
		s := mustSource(t, def, Options{})
		for _, x := range loadFixture(t, name) {
			a := x.answer(`{"at":"beginning"}`)
			meta, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			var back handoff.Answer
			if err := json.Unmarshal(meta, &back); err != nil {
				t.Fatal(err)
			}
			back.Body = append([]byte(nil), a.Body...)
			if was, is := s.Read(a), s.Read(back); !same(was, is) {
				t.Errorf("%s, %s: read %+v, and from the archive %+v", name, x.Step, was, is)
			}
		}
	}
}

// same compares all that a Reading holds, through its JSON and the raw bytes, which JSON leaves out.
func same(a, b handoff.Reading) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err1 != nil || err2 != nil || string(x) != string(y) {
		return false
	}
	for i := range a.Events {
		if string(a.Events[i].Raw) != string(b.Events[i].Raw) {
			return false
		}
	}
	return true
}
