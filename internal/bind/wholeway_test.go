package bind_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/bind"
	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/httpsource"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// rig runs one real definition against one real server on the embedded stores; the test is the schedule.
type rig struct {
	*testing.T
	engine  *handoff.Engine
	binding handoff.Binding
	state   *sqlitestate.Store
	archive *dirarchive.Archive
	queue   *messages
	now     time.Time
	n       int
}

type messages struct{ chunks []handoff.ChunkMessage }

func (q *messages) SendChunks(_ context.Context, ms []handoff.ChunkMessage, _ time.Duration) error {
	q.chunks = append(q.chunks, ms...)
	return nil
}

func (q *messages) SendPoll(context.Context, handoff.PollMessage, time.Duration) error { return nil }

func (r *rig) Now() time.Time { return r.now }
func (r *rig) New() string    { r.n++; return fmt.Sprintf("id-%d", r.n) }

func newRig(t *testing.T, definition string) *rig {
	t.Helper()
	d, err := streamdef.Parse("feed.yaml", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, queue: &messages{}, now: time.Date(2031, 3, 1, 12, 0, 0, 0, time.UTC)}
	if r.state, err = sqlitestate.OpenMemory(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.archive, err = dirarchive.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(r.state.Close(), r.archive.Close()) })
	b := bind.New([]*streamdef.Definition{d}, bind.Options{Now: r.Now, Secrets: httpsource.HostSecrets{}})
	if r.binding, err = b.Binding("feed"); err != nil {
		t.Fatal(err)
	}
	r.engine = handoff.New(handoff.Deps{State: r.state, Archive: r.archive, Queue: r.queue, Clock: r, IDs: r, Timing: handoff.DefaultTiming()})
	return r
}

// poll is one tick and whatever it sends.
func (r *rig) poll() handoff.PollReport {
	r.Helper()
	report, err := r.engine.Poll(r.Context(), r.binding, handoff.PollMessage{Stream: "feed"})
	if err != nil {
		r.Fatalf("poll: %v", err)
	}
	ms := r.queue.chunks
	r.queue.chunks = nil
	for _, m := range ms {
		if _, err := r.engine.Apply(r.Context(), r.binding, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
			r.Fatalf("apply: %v", err)
		}
	}
	return report
}

// drain polls until the source has nothing more.
func (r *rig) drain() {
	r.Helper()
	for range 100 {
		switch report := r.poll(); report.Did {
		case handoff.ActCaughtUp:
			return
		case handoff.ActHalted, handoff.ActWaiting, handoff.ActStalled:
			r.Fatalf("the poll %s: %s", report.Did, report.Detail)
		}
		r.now = r.now.Add(time.Minute)
	}
	r.Fatal("the source was never drained")
}

// counts requires how often each event was applied, by the projection's own ledger.
func (r *rig) counts(want map[string]int) {
	r.Helper()
	docs, _, err := r.state.ListDocs(r.Context(), "feed", "", 1000)
	if err != nil {
		r.Fatal(err)
	}
	got := map[string]int{}
	for _, d := range docs {
		n, err := strconv.Atoi(string(d.Fields["n"]))
		if err != nil {
			r.Fatalf("document %s: %v", d.Entity, err)
		}
		got[strings.Trim(d.Entity, `"`)] = n
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.Fatalf("entities were applied %v, want %v", got, want)
	}
	violations, err := r.engine.CheckInvariants(r.Context(), "feed")
	if err != nil || len(violations) > 0 {
		r.Fatalf("invariants: %v %v", violations, err)
	}
}

// feed is a growing list of events; each of the four servers shows it in its own way.
type feed struct {
	mu     sync.Mutex
	n      int
	asked  []string
	serve  func(f *feed, w http.ResponseWriter, r *http.Request)
	server *httptest.Server
}

func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.URL.String())
	f.serve(f, w, r)
}

func serve(t *testing.T, n int, how func(*feed, http.ResponseWriter, *http.Request)) *feed {
	f := &feed{n: n, serve: how}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *feed) grow(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n += n
}

// event i belongs to entity k<i mod 3>; its id does not fit into a float.
func event(i int) map[string]any {
	return map[string]any{"id": json.Number(fmt.Sprintf("90071992547409931%03d", i)), "seq": i, "key": fmt.Sprintf("k%d", i%3), "at": int64(1930003200000 + i/2)}
}

func events(from, to int) []any {
	out := []any{}
	for i := from; i < to; i++ {
		out = append(out, event(i))
	}
	return out
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// perEntity is the second model: events 0..n-1, three entities.
func perEntity(n int) map[string]int {
	out := map[string]int{}
	for i := range n {
		out[fmt.Sprintf("k%d", i%3)]++
	}
	return out
}

// A CouchDB change feed: last_seq is opaque and always there, ids are composed, the same token comes back when caught up.
func TestChangeFeed(t *testing.T) {
	t.Parallel()
	f := serve(t, 7, func(f *feed, w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(strings.Split(r.URL.Query().Get("since"), "-")[0])
		to := min(from+3, f.n)
		results := []any{}
		for i := from; i < to; i++ {
			results = append(results, map[string]any{"seq": fmt.Sprintf("%d-g", i+1), "id": fmt.Sprintf("k%d", i%3), "changes": []any{map[string]any{"rev": fmt.Sprintf("%d-a", i)}}})
		}
		write(w, map[string]any{"results": results, "last_seq": fmt.Sprintf("%d-g", to), "pending": f.n - to})
	})
	r := newRig(t, fmt.Sprintf(`
start: "0"
source:
  url: %s/db/_changes?limit=3
  allow_private: true
  events: body.results
  end: size(body.results) == 0
  cursor: {token: body.last_seq, send: "query:since"}
event: {id: 'event.id + "@" + event.changes[0].rev', entity: event.id}
contract: {order: none, positions: arrival}
effect: {projection: {add: {n: 1}}}
`, f.server.URL))
	r.drain()
	r.counts(perEntity(7))
	f.grow(5)
	r.drain()
	r.counts(perEntity(12))
	if got := f.asked[1]; !strings.Contains(got, "since=3-g") {
		t.Errorf("the second request was %s", got)
	}
}

// An API of Link headers whose last page has none: the path is rewritten, ties share a millisecond, and the next poll asks anew from the
// bookmark, over an overlap.
func TestLinkHeaders(t *testing.T) {
	t.Parallel()
	f := serve(t, 7, func(f *feed, w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("after"))
		if since := r.URL.Query().Get("phrase"); since != "" && from == 0 {
			ms, _ := strconv.Atoi(strings.TrimPrefix(since, "created:>="))
			from = (ms - 1930003200000) * 2
		}
		to := min(from+3, f.n)
		if to < f.n {
			w.Header().Set("Link", fmt.Sprintf(`<%s/orgs/9001/log?fields=a,b;c&after=%d&before=>; rel="next", <%s/orgs/9001/log>; rel="first"`, f.server.URL, to, f.server.URL))
		}
		write(w, events(from, to))
	})
	r := newRig(t, fmt.Sprintf(`
start: beginning
source:
  url: %s/orgs/acme/log?order=asc
  allow_private: true
  events: body
  cursor:
    link: next
    bookmark: last.at
    resume: {"query:phrase": '"created:>=" + bookmark'}
event: {id: event.id, position: event.at, entity: event.key}
contract: {positions: shared, overlap: true}
effect: {projection: {add: {n: 1}}}
`, f.server.URL))
	r.drain()
	r.counts(perEntity(7))
	f.grow(6)
	r.drain()
	r.counts(perEntity(13))
	if got := f.asked[1]; got != "/orgs/9001/log?fields=a,b;c&after=3&before=" {
		t.Errorf("the next link was asked as %s", got)
	}
	if got := strings.Join(f.asked, " "); !strings.Contains(got, "phrase=created%3A%3E%3D1930003200003") {
		t.Errorf("no new query from the bookmark among %s", got)
	}
}

// A token in the body and a flag; a page in the middle is empty; each page repeats the last event of the one before.
func TestBodyToken(t *testing.T) {
	t.Parallel()
	f := serve(t, 7, func(f *feed, w http.ResponseWriter, r *http.Request) {
		raw, _ := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("cursor"))
		var at, empty int
		_, _ = fmt.Sscanf(string(raw), "%d.%d", &at, &empty)
		to := min(at+3, f.n)
		page := events(max(at-1, 0), to)
		if at == 3 && empty == 0 {
			to, page, empty = at, []any{}, 1
		}
		token := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", to, empty))
		write(w, map[string]any{"data": page, "next": token, "has_more": to < f.n})
	})
	r := newRig(t, fmt.Sprintf(`
start: beginning
source:
  url: %s/events
  allow_private: true
  events: body.data
  end: "!body.has_more"
  cursor: {token: body.next, send: "query:cursor"}
event: {id: event.id, position: event.seq, entity: event.key}
contract: {positions: unique, gapless: true, overlap: true}
effect: {projection: {add: {n: 1}}}
`, f.server.URL))
	r.drain()
	r.counts(perEntity(7))
	f.grow(5)
	r.drain()
	r.counts(perEntity(12))
}

// The cursor is the id of the last event; an empty answer carries none, and a number of twenty digits is sent back digit for digit.
func TestLastID(t *testing.T) {
	t.Parallel()
	f := serve(t, 7, func(f *feed, w http.ResponseWriter, r *http.Request) {
		from := 0
		for i := range f.n {
			if fmt.Sprint(event(i)["id"]) == r.URL.Query().Get("lastEventId") {
				from = i + 1
			}
		}
		write(w, events(from, min(from+3, f.n)))
	})
	r := newRig(t, fmt.Sprintf(`
start: beginning
source:
  url: %s/feed
  allow_private: true
  events: body
  cursor: {bookmark: last.id, resume: {"query:lastEventId": bookmark}}
event: {id: event.id, position: event.id, entity: event.key}
contract: {positions: unique}
effect: {projection: {add: {n: 1}}}
`, f.server.URL))
	r.drain()
	r.counts(perEntity(7))
	f.grow(2)
	r.drain()
	r.counts(perEntity(9))
	if got := f.asked[1]; got != "/feed?lastEventId=90071992547409931002" {
		t.Errorf("the second request was %s", got)
	}
}

// Whatever a source answers: a clear error or a named halt, the bytes kept, the cursor where it was, no panic.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		want  handoff.HaltReason
	}{
		{"html with 200", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<!doctype html><title>Be right back</title>"))
		}, handoff.HaltPageUnreadable},
		{"truncated json", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"data":[{"id":"a1","seq":1,"key":"k1"},{"id":"a2","seq`))
		}, handoff.HaltPageUnreadable},
		{"error object with 200", func(w http.ResponseWriter, _ *http.Request) { write(w, map[string]any{"ok": false}) }, handoff.HaltPageUnreadable},
		{"more without a token", func(w http.ResponseWriter, _ *http.Request) {
			write(w, map[string]any{"data": events(0, 2), "next": nil, "has_more": true})
		}, handoff.HaltPageUnreadable},
		{"60 MB", func(w http.ResponseWriter, _ *http.Request) {
			block := []byte(strings.Repeat(" ", 1<<20))
			_, _ = w.Write([]byte(`{"data":[],"pad":"`))
			for range 60 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, handoff.HaltPageTooLarge},
		{"a token of 100 KB", func(w http.ResponseWriter, _ *http.Request) {
			write(w, map[string]any{"data": events(0, 2), "next": strings.Repeat("T", 100<<10), "has_more": true})
		}, handoff.HaltPageTooLarge},
		{"one key twice", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"data":[{"id":"a","id":"b","seq":1,"key":"k"}],"data":null,"next":"x","has_more":true}`))
		}, handoff.HaltPageUnreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.serve)
			t.Cleanup(server.Close)
			r := newRig(t, badDefinition(server.URL))
			before := r.binding.Start
			for range 5 {
				if r.poll().Did == handoff.ActHalted {
					break
				}
				r.now = r.now.Add(time.Hour)
			}
			cp, err := r.state.Checkpoint(t.Context(), "feed")
			if err != nil {
				t.Fatal(err)
			}
			if cp.Halt == nil || cp.Halt.Reason != c.want {
				t.Fatalf("halt %+v, want %s", cp.Halt, c.want)
			}
			if cp.ResumeCursor != before || cp.Version != 1 {
				t.Errorf("the cursor moved to version %d, %s", cp.Version, cp.ResumeCursor)
			}
			meta, err := r.archive.Get(t.Context(), cp.Halt.Answer.Key)
			if err != nil {
				t.Fatalf("the answer was not kept: %v", err)
			}
			var kept struct{ Body handoff.ObjectRef }
			if err := json.Unmarshal(meta, &kept); err != nil {
				t.Fatal(err)
			}
			if b, err := r.archive.Get(t.Context(), kept.Body.Key); err != nil || len(b) == 0 {
				t.Errorf("its body was not kept: %d bytes, %v", len(b), err)
			}
			r.counts(map[string]int{})
		})
	}
}

func badDefinition(url string) string {
	return fmt.Sprintf(`
start: beginning
source:
  url: %s/events
  allow_private: true
  success: 'status == 200 && (!has(body.ok) || body.ok)'
  events: body.data
  end: "!body.has_more"
  cursor: {token: body.next, send: "query:cursor"}
event: {id: event.id, position: event.seq, entity: event.key}
contract: {positions: unique}
effect: {projection: {add: {n: 1}}}
`, url)
}

// A source that cannot be reached: a clear word in the status, and nothing moves.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	r := newRig(t, badDefinition(server.URL))
	if got := r.poll(); got.Did != handoff.ActWaiting || !strings.HasPrefix(got.Detail, "unreachable:") {
		t.Fatalf("the poll did %q: %s", got.Did, got.Detail)
	}
	st, err := r.engine.Status(t.Context(), "feed")
	if err != nil || st.Blocked == nil || st.Blocked.By != "failing: unreachable" {
		t.Fatalf("status %+v, %v", st.Blocked, err)
	}
}

// Records without an id, a position or an entity are events all the same: held, each by itself, and settled like any other.
func TestInvalidRecords(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]any{"has_more": false, "next": "T1", "data": []any{
			map[string]any{"id": "a", "seq": 1, "key": "k0"}, map[string]any{"seq": 2, "key": "k0"},
			map[string]any{"id": "c", "key": "k0"}, map[string]any{"id": "d", "seq": 4}, map[string]any{"id": "e", "seq": 5, "key": "k0"},
		}})
	}))
	t.Cleanup(server.Close)
	r := newRig(t, badDefinition(server.URL))
	r.poll()
	held, _, err := r.state.HeldReceipts(t.Context(), "feed", "", 10)
	if err != nil || len(held) != 3 {
		t.Fatalf("%d events are held, want 3: %v", len(held), err)
	}
	for i, h := range held {
		if h.Reason != handoff.HoldInvalidEvent {
			t.Errorf("%s is held by %s", h.EventID, h.Reason)
		}
		_, err := r.engine.Decide(t.Context(), handoff.Decision{
			ID: fmt.Sprint("d", i), Stream: "feed", Kind: handoff.DecideQuarantine, Actor: "ada", Reason: "broken", Event: h.ReceiptKey, Rev: h.Rev,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.engine.Poll(t.Context(), r.binding, handoff.PollMessage{Stream: "feed", Drive: true}); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.queue.chunks {
		if _, err := r.engine.Apply(t.Context(), r.binding, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
			t.Fatal(err)
		}
	}
	cp, err := r.state.Checkpoint(t.Context(), "feed")
	if err != nil || cp.Version != 2 {
		t.Fatalf("version %d, %v", cp.Version, err)
	}
	r.counts(map[string]int{"k0": 2})
}
