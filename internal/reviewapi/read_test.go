package reviewapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

func TestWhatBlocksComesFirst(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	_, err := w.engine.Decide(t.Context(), handoff.Decision{ID: "s", Stream: "calm", Kind: handoff.DecideStart, Actor: "ada", Reason: "r", Cursor: "c"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range clients(t, h) {
		lines, err := c.Streams(t.Context())
		if err != nil || len(lines) != 2 || lines[0].Stream != stream || lines[1].Stream != "calm" {
			t.Fatalf("%s: %+v, %v", name, lines, err)
		}
		if b := lines[0].Blocked; b == nil || b.By != "hold: policy" || !b.Since.Equal(w.now) || lines[0].Held != len(hostile) {
			t.Errorf("%s: blocked %+v, held %d", name, b, lines[0].Held)
		}
		if _, err := c.Status(t.Context(), "nobody"); !errors.Is(err, handoff.ErrNotFound) {
			t.Errorf("%s: an unknown stream: %v", name, err)
		}
	}
}

func TestPayloadsComeByteForByte(t *testing.T) {
	t.Parallel()
	_, h := newWorld(t)
	for name, c := range clients(t, h) {
		held, _, err := c.Held(t.Context(), stream, "")
		if err != nil || len(held) != len(hostile) {
			t.Fatalf("%s: %d holds, %v", name, len(held), err)
		}
		for id, raw := range hostile {
			v, err := c.Event(t.Context(), stream, handoff.ReceiptKey{EventID: id})
			if err != nil || string(v.Payload()) != raw || v.Receipt.EventID != id {
				t.Errorf("%s: %.40s came back as %q, %v", name, id, v.Payload(), err)
			}
		}
		if _, err := c.Event(t.Context(), stream, handoff.ReceiptKey{EventID: `"17"`}); !errors.Is(err, handoff.ErrNotFound) {
			t.Errorf("%s: the text 17 is not the number 17: %v", name, err)
		}
	}
}

func TestListingsArePaged(t *testing.T) {
	t.Parallel()
	_, h := newWorld(t)
	seen, after := map[string]bool{}, ""
	for range len(hostile) + 1 {
		_, _, body := request(t, h, "GET", base()+"/holds?limit=1&after="+url.QueryEscape(after), "")
		var page reviewapi.List[handoff.Receipt]
		if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Items) > 1 {
			t.Fatalf("%s: %v", body, err)
		}
		for _, r := range page.Items {
			seen[r.EventID] = true
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(seen) != len(hostile) {
		t.Errorf("%d of %d holds were listed", len(seen), len(hostile))
	}
	for _, bad := range []string{"limit=0", "limit=201", "limit=x", "after=nonsense"} {
		if status, _, body := request(t, h, "GET", base()+"/holds?"+bad, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
}

// Blocked ones come first, the longest blocked before the others; the rest in order of name.
func TestOrderOfTheList(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)
	f := &fake{statuses: map[handoff.Stream]handoff.StreamStatus{
		"b-young": {Blocked: &handoff.Blocked{By: "pause", Since: at.Add(time.Hour)}, Status: handoff.Paused},
		"z-old":   {Blocked: &handoff.Blocked{By: "hold: late", Since: at}, Status: handoff.Active, Held: 1000, HeldMore: true, Rev: 1<<63 + 1},
		"y-old":   {Blocked: &handoff.Blocked{By: "hold: late", Since: at}, Status: handoff.Active},
		"c":       {Status: handoff.Active}, "a": {Status: handoff.Active},
	}}
	for _, s := range []handoff.Stream{"c", "b-young", "z-old", "a", "y-old"} {
		f.entries = append(f.entries, handoff.StreamEntry{Stream: s, Definition: "d", StartedAt: at, RetiredAt: at.Add(time.Minute)})
	}
	for name, c := range clients(t, f.serve(t)) {
		lines, err := c.Streams(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, l := range lines {
			order = append(order, string(l.Stream))
		}
		if got := strings.Join(order, " "); got != "y-old z-old b-young a c" {
			t.Errorf("%s: %s", name, got)
		}
		if l := lines[1]; l.Held != 1000 || !l.HeldMore || l.Rev != 1<<63+1 || l.Definition != "d" || !l.StartedAt.Equal(at) || !l.RetiredAt.Equal(at.Add(time.Minute)) {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// One stream that cannot be read holds up no other: its line says so, first, and nothing of the inside; the log is told once. What was
// retired comes last, blocked or not.
func TestOneUnreadableStream(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)
	blocked := handoff.StreamStatus{Blocked: &handoff.Blocked{By: "pause", Since: at}, Status: handoff.Paused, Version: 7}
	var logged []error
	f := &fake{
		statuses:   map[handoff.Stream]handoff.StreamStatus{"blocked": blocked, "gone": blocked},
		statusErrs: map[handoff.Stream]error{"torn": errors.New("table-7 is on fire"), "torn-too": errors.New("too"), "lost": fmt.Errorf("S#lost: %w", handoff.ErrNotFound)},
		entries:    []handoff.StreamEntry{{Stream: "gone", RetiredAt: at}, {Stream: "calm", OrphanedAt: at}, {Stream: "blocked"}, {Stream: "torn-too"}, {Stream: "torn"}, {Stream: "lost"}},
	}
	h := f.serve(t, func(c *reviewapi.Config) {
		c.Report = func(_ context.Context, err error) { logged = append(logged, err) }
	})
	for name, c := range clients(t, h) {
		logged = nil
		lines, err := c.Streams(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		for _, l := range lines {
			got += fmt.Sprintf("%s %q; ", l.Stream, l.Error)
		}
		const again = `"it could not be read: ask again"; `
		if want := `lost "it is on the list and has no checkpoint"; torn ` + again + `torn-too ` + again + `blocked ""; calm ""; gone ""; `; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
		if lines[3].Version != 7 || lines[1].Status != "" || !lines[4].OrphanedAt.Equal(at) || len(logged) != 1 {
			t.Errorf("%s: %+v, logged %v", name, lines, logged)
		}
	}
	h = f.serve(t, func(c *reviewapi.Config) { c.Explain = true })
	if _, _, body := request(t, h, "GET", "/v1/streams", ""); !strings.Contains(body, "table-7 is on fire") {
		t.Errorf("this machine's user is not told why: %s", body)
	}
}

// A payload that is gone is told from one that could not be read.
func TestMissingPayload(t *testing.T) {
	t.Parallel()
	key := handoff.ReceiptKey{EventID: "1", Conflict: "c0de"}
	f := &fake{receipts: map[handoff.ReceiptKey]handoff.Receipt{key: {ReceiptKey: key, Outcome: handoff.Held, Rev: 3}}}
	c := &reviewapi.Client{Base: "http://in.process", HTTP: reviewapi.InProcess(f.serve(t))}
	for _, gone := range []error{handoff.ErrNotFound, handoff.ErrDigest} {
		f.eventErr = fmt.Errorf("get s3://bucket: %w", gone)
		v, err := c.Event(t.Context(), "s", key)
		if err != nil || v.Missing == "" || strings.Contains(v.Missing, "bucket") || v.Payload() != nil || v.Receipt.Rev != 3 {
			t.Errorf("%v: %+v, %v", gone, v, err)
		}
	}
	f.eventErr = errors.New("timeout")
	if _, err := c.Event(t.Context(), "s", key); !errors.Is(err, handoff.ErrUnknown) {
		t.Errorf("a time-out: %v", err)
	}
	if _, err := c.Event(t.Context(), "s", handoff.ReceiptKey{EventID: "1"}); !errors.Is(err, handoff.ErrNotFound) {
		t.Errorf("the event's own receipt is another one: %v", err)
	}
	f.eventErr, f.event = nil, handoff.Event{}
	if v, err := c.Event(t.Context(), "s", key); err != nil || v.Raw == nil || v.Missing != "" {
		t.Errorf("an empty payload is one: %+v, %v", v, err)
	}
}

// A read that fails says to ask again, tells nothing of the inside, and is told to the log.
func TestReadsThatFail(t *testing.T) {
	t.Parallel()
	var logged []error
	f := &fake{err: errors.New("table-7 is on fire"), entries: []handoff.StreamEntry{{Stream: "s"}}}
	h := f.serve(t, func(c *reviewapi.Config) {
		c.Report = func(_ context.Context, err error) { logged = append(logged, err) }
	})
	paths := []string{"/v1/streams", "/v1/streams/s", "/v1/streams/s/events/1", "/v1/streams/s/pages", "/v1/streams/s/docs", "/v1/streams/s/check"}
	for _, path := range paths {
		status, _, body := request(t, h, "GET", path, "")
		if status != http.StatusServiceUnavailable || strings.Contains(body, "table") || strings.Contains(body, "Idempotency") || !strings.Contains(body, "ask again") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if len(logged) != len(paths) {
		t.Errorf("the log was told %v", logged)
	}
	f.err = fmt.Errorf("key S#secret: %w", handoff.ErrNotFound)
	if status, _, body := request(t, h, "GET", "/v1/streams/s", ""); status != http.StatusNotFound || strings.Contains(body, "secret") {
		t.Errorf("%d %s", status, body)
	}
	h = f.serve(t, func(c *reviewapi.Config) { c.Explain = true })
	if _, _, body := request(t, h, "GET", "/v1/streams/s", ""); !strings.Contains(body, "key S#secret") {
		t.Errorf("this machine's user is not told what: %s", body)
	}
}

func TestPagesAndDocuments(t *testing.T) {
	t.Parallel()
	f := &fake{
		pages: []handoff.Page{{Version: 1}, {Version: 2}, {Version: 1<<63 + 1}},
		docs: []handoff.Doc{{Stream: "s", Entity: "<e>", Fields: map[string]json.RawMessage{
			"n": json.RawMessage("1000000000000000000000000000001"), "f": json.RawMessage("-0.10"), "t": json.RawMessage(`"</script>\u0000"`),
		}}},
		violations: []handoff.Violation{{Invariant: "I1", Version: 3, EventID: "1", Detail: "d"}},
	}
	h := f.serve(t)
	var versions []handoff.Version
	after := ""
	for range 4 {
		_, _, body := request(t, h, "GET", "/v1/streams/s/pages?limit=1&after="+after, "")
		var page reviewapi.List[handoff.Page]
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Items {
			versions = append(versions, p.Version)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if !slices.Equal(versions, []handoff.Version{1, 2, 1<<63 + 1}) || after != "" {
		t.Errorf("pages %v, then %q", versions, after)
	}
	if _, _, body := request(t, h, "GET", "/v1/streams/s/pages?limit=2&after=2", ""); strings.Contains(body, `"next"`) {
		t.Errorf("a batch that is not full is the last: %s", body)
	}
	for _, bad := range []string{"pages?after=x", "pages?after=-1", "pages?limit=0", "docs?limit=x", "audit?limit=201", "holds?limit=1e2"} {
		if status, _, body := request(t, h, "GET", "/v1/streams/s/"+bad, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
	for name, c := range clients(t, h) {
		docs, next, err := c.Docs(t.Context(), "s/1", "m?&")
		if err != nil || next != "on" || f.asked != "s/1 m?&" || len(docs) != 1 {
			t.Fatalf("%s: %v %q %q, %v", name, docs, next, f.asked, err)
		}
		if d := docs[0].Fields; string(d["n"]) != "1000000000000000000000000000001" || string(d["f"]) != "-0.10" || docs[0].Entity != "<e>" {
			t.Errorf("%s: %s", name, d)
		}
		if found, err := c.Check(t.Context(), "s"); err != nil || !slices.Equal(found, f.violations) {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}

// What no route takes is refused in the API's words, and nobody is sent to another path.
func TestPathsThatAreNone(t *testing.T) {
	t.Parallel()
	h := (&fake{}).serve(t)
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/", 404}, {"GET", "/v1/streams/", 404}, {"GET", "/v1/streams/a/../b", 404}, {"GET", "/v1/streams//holds", 404},
		{"GET", "/v1//streams", 404}, {"GET", "/v1/streams/./holds", 404}, {"GET", "/v1/streams/s/", 404},
		{"POST", "/v1/streams/a/../b/decisions", 404}, {"DELETE", "/v1/streams/s", 405}, {"PUT", "/v1/streams/s/decisions", 405},
	} {
		status, header, body := request(t, h, c.method, c.path, "{}")
		var p reviewapi.Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || status != c.want || p.Status != c.want || header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %v %s", c.method, c.path, status, header, body)
		}
		if (header.Get("Allow") != "") != (c.want == http.StatusMethodNotAllowed) {
			t.Errorf("%s %s: Allow is %q", c.method, c.path, header.Get("Allow"))
		}
	}
	if status, _, _ := request(t, (&fake{statuses: map[handoff.Stream]handoff.StreamStatus{"..": {Status: handoff.Active}}}).serve(t), "GET", "/v1/streams/%2E%2E", ""); status != http.StatusOK {
		t.Errorf("a stream of dots: %d", status)
	}
}
