package httpsource

import (
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

func TestBuild(t *testing.T) {
	t.Parallel()
	base := func(change func(*streamdef.Source)) streamdef.Definition {
		d := trapDefinition()
		change(&d.Source)
		return d
	}
	none := func(*streamdef.Source) {}
	resume := func(to, expression string) func(*streamdef.Source) {
		return func(s *streamdef.Source) {
			s.Cursor.Bookmark, s.Cursor.Resume = "last.id", map[string]string{to: expression}
			if strings.HasPrefix(to, "body") {
				s.Method = "POST"
			}
		}
	}
	for name, c := range map[string]struct {
		def    streamdef.Definition
		cursor handoff.Cursor
		url    string // without the origin
		body   string
		header string // X-After
	}{
		"first":               {base(none), `{"at":"beginning"}`, "/events?limit=2", "", ""},
		"token":               {base(none), `{"p":"a,b;c&d::+=%/é","pt":"s"}`, "/events?cursor=a%2Cb%3Bc%26d%3A%3A%2B%3D%25%2F%C3%A9&limit=2", "", ""},
		"number":              {base(none), `{"p":"90071992547409931","pt":"n"}`, "/events?cursor=90071992547409931&limit=2", "", ""},
		"token over bookmark": {base(none), `{"b":"B","bt":"s","p":"T","pt":"s"}`, "/events?cursor=T&limit=2", "", ""},
		"url": {base(none), `{"p":"https://api.example.com/x?limit=9&after=a%3D,b&before=","pt":"u"}`,
			"/x?limit=9&after=a%3D,b&before=", "", ""},
		"configured query gives way": {base(func(s *streamdef.Source) { s.URL += "?keep=a,b&cursor=0&limit=7&x" }),
			`{"p":"T","pt":"s"}`, "/events?keep=a,b&x&cursor=T&limit=2", "", ""},
		"header":          {base(func(s *streamdef.Source) { s.Cursor.Send = "header:X-After" }), `{"p":"T=","pt":"s"}`, "/events?limit=2", "", "T="},
		"bookmark":        {base(resume("query:since", "bookmark")), `{"b":"2031-03-01T00:00:00+02:00","bt":"s"}`, "/events?limit=2&since=2031-03-01T00%3A00%3A00%2B02%3A00", "", ""},
		"search phrase":   {base(resume("query:phrase", `"created:>=" + bookmark`)), `{"b":"2031-03-01","bt":"s"}`, "/events?limit=2&phrase=created%3A%3E%3D2031-03-01", "", ""},
		"body, unchanged": {base(resume("body:from", "bookmark")), `{"b":"17.10","bt":"n"}`, "/events?limit=2", `{"from":17.10}`, ""},
		"body, as text":   {base(resume("body:from", "bookmark")), `{"b":"17","bt":"s"}`, "/events?limit=2", `{"from":"17"}`, ""},
		"body, computed":  {base(resume("body:f.from", "int(bookmark) - 1")), `{"b":"17","bt":"s"}`, "/events?limit=2", `{"f":{"from":16}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cur, err := parseCursor(c.cursor)
			if err != nil {
				t.Fatal(err)
			}
			r, err := mustSource(t, c.def, Options{}).build(cur)
			if err != nil {
				t.Fatal(err)
			}
			if r.url != "https://api.example.com"+c.url || string(r.body) != c.body || r.header.Get("X-After") != c.header {
				t.Errorf("%s %s %v", r.url, r.body, r.header)
			}
		})
	}
}

func TestBuildDoesNotTouchTheDefinition(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Source.Method, def.Source.Cursor.Send = "POST", "body:a.b"
	def.Source.Body = map[string]any{"a": map[string]any{"c": 1}}
	s := mustSource(t, def, Options{})
	first, err := s.build(cursor{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.build(cursor{token: value{"T", kindText}}); err != nil {
		t.Fatal(err)
	}
	again, err := s.build(cursor{})
	if err != nil || string(first.body) != `{"a":{"c":1}}` || string(again.body) != string(first.body) {
		t.Errorf("first %s, again %s, %v", first.body, again.body, err)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	noPlace := trapDefinition()
	noPlace.Source.Cursor = streamdef.Cursor{Bookmark: "last.id", Resume: map[string]string{"query:s": "int(bookmark)"}}
	header := trapDefinition()
	header.Source.Cursor.Send = "header:X-After"
	inBody := trapDefinition()
	inBody.Source.Cursor.Send = "body:after"
	for name, c := range map[string]struct {
		def    streamdef.Definition
		cursor cursor
	}{
		"no place for a token":    {noPlace, cursor{token: value{"PRIVATE", kindText}}},
		"no place for a bookmark": {trapDefinition(), cursor{bookmark: value{"PRIVATE", kindText}}},
		"resume fails":            {noPlace, cursor{bookmark: value{"PRIVATE", kindText}}},
		"line break in a header":  {header, cursor{token: value{"PRIVATE\r\nX: y", kindText}}},
		"body of a GET":           {inBody, cursor{token: value{"PRIVATE", kindText}}},
	} {
		if r, err := mustSource(t, c.def, Options{}).build(c.cursor); err == nil || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func TestEscapeQuery(t *testing.T) {
	t.Parallel()
	if got := escapeQuery("a=b c&d=é\r\n+%2B,;&e="); got != "a=b%20c&d=%C3%A9%0D%0A+%2B,;&e=" {
		t.Error(got)
	}
}
