package httpsource

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// FuzzRead: no answer makes Read panic, the same answer reads the same, and what it says is within what handoff relies on.
func FuzzRead(f *testing.F) {
	defs := definitions()
	defs["generic-traps"] = trapDefinition()
	defs["composite"] = composite()
	names := []string{"generic-traps", "composite", "couchdb-changes", "github-audit-log", "http-feeds", "stripe-events", "okta-system-log", "onepassword-events"}
	sources := make([]*Source, len(names))
	for i, name := range names {
		sources[i] = mustSource(f, defs[name], Options{})
		if name == "composite" {
			continue
		}
		for _, x := range loadFixture(f, name) {
			a := x.answer("")
			f.Add(uint8(i), a.Status, firstValue(a.Header, "Link"), firstValue(a.Header, "Retry-After"), string(a.Body), string(both))
		}
	}
	f.Add(uint8(0), 200, "", "", `{"data":[{"id":1e999999999,"seq":1e1000,"key":-0}],"next":1e-400,"has_more":false}`, `{"at":"token","v":"https://api.example.com/"}`)
	f.Add(uint8(1), 200, "", "", `{"data":[{"id":[],"at":-9e18}],"next":{}}`, `{"b":"1","bt":"n"}`)
	f.Fuzz(func(t *testing.T, which uint8, status int, link, after, text, c string) {
		s := sources[int(which)%len(sources)]
		a := handoff.Answer{
			Cursor: handoff.Cursor(c), Status: status, FetchedAt: fetchedAt, Body: []byte(text),
			Header: map[string][]string{"Link": {link}, "Retry-After": {after}}, Request: handoff.SentRequest{URL: link},
		}
		r, again := s.Read(a), s.Read(a)
		if !same(r, again) {
			t.Fatalf("not pure: %+v and %+v", r, again)
		}
		if r.RetryAfter < 0 || r.RetryAfter > 24*time.Hour {
			t.Fatalf("wait of %v", r.RetryAfter)
		}
		if r.Kind != handoff.ReadPage && (len(r.Events) > 0 || r.Next != "" || r.Detail == "" || r.Class == "") {
			t.Fatalf("%+v", r)
		}
		if r.Kind == handoff.ReadPage && r.Next == "" && !r.End {
			t.Fatal("neither an end nor a cursor")
		}
		for _, next := range []handoff.Cursor{r.Next, r.Bookmark} {
			cur, err := parseCursor(next)
			if next != "" && err != nil {
				t.Fatalf("a cursor %q that cannot be read: %v", next, err)
			}
			if next != "" && cur.token.kind == kindURL && !sameOrigin(s.endpoint, mustURL(t, cur.token.text)) {
				t.Fatalf("a cursor off the origin: %s", next)
			}
		}
		for _, ev := range r.Events {
			if ev.ID == "" || len(ev.Digest) != 64 || len(ev.Raw) == 0 {
				t.Fatalf("%+v", ev)
			}
			if b, err := ev.Position.MarshalText(); err != nil || ev.Position.UnmarshalText(b) != nil {
				t.Fatalf("position %s: %v", b, err)
			}
		}
	})
}
