package reviewapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
)

// The payloads are what somebody else may send: markup, quotes, control characters, numbers beyond a float, bytes that are no text.
var hostile = map[string]string{
	`"a/b?c#d%2F.."`:                      `{"x":"</script><script>alert(1)</script>","n":1000000000000000000000000000001}`,
	`"é\u0000\""`:                         "{\"nul\":\"\x00\", \"quote\":\"\\\"\"}",
	`17`:                                  "\xff\xfe not text",
	`"` + strings.Repeat("l", 3000) + `"`: `{ "spaced" : true }`,
}

// world is the real protocol on the embedded stores, with one page of hostile events held.
type world struct {
	*testing.T
	engine   *handoff.Engine
	state    *sqlitestate.Store
	now      time.Time
	n        int
	sent     []handoff.PollMessage
	reported []error
	fail     error // what Decide answers instead, once the decision was taken
}

const stream = handoff.Stream("orders/eu 1")

func (w *world) Now() time.Time { return w.now }
func (w *world) New() string    { w.n++; return fmt.Sprint("id-", w.n) }

func (w *world) SendChunks(context.Context, []handoff.ChunkMessage, time.Duration) error { return nil }

func (w *world) SendPoll(_ context.Context, m handoff.PollMessage, _ time.Duration) error {
	w.sent = append(w.sent, m)
	return nil
}

func (w *world) Ask(_ context.Context, _ handoff.Cursor, now time.Time) (handoff.Answer, error) {
	return handoff.Answer{Status: 200, FetchedAt: now, Body: []byte("page")}, nil
}

func (w *world) Read(handoff.Answer) handoff.Reading {
	r := handoff.Reading{Kind: handoff.ReadPage, Next: "c1", End: true}
	for id, raw := range hostile {
		r.Events = append(r.Events, handoff.Event{ID: id, Raw: []byte(raw), Digest: handoff.DigestOf([]byte(raw))})
	}
	return r
}

func (w *world) Judge(handoff.Event) (handoff.Ruling, error) {
	return handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}, nil
}

func (w *world) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: handoff.Transactional}
}
func (w *world) Plan(handoff.Event) ([]handoff.DocChange, error) { return nil, nil }
func (w *world) Call(context.Context, handoff.Event, string) handoff.CallResult {
	return handoff.CallResult{Kind: handoff.CallDone}
}

// Decide loses its answer when told to.
type flaky struct {
	*handoff.Engine
	w *world
}

func (f flaky) Decide(ctx context.Context, d handoff.Decision) (handoff.DecisionAnswer, error) {
	answer, err := f.Engine.Decide(ctx, d)
	if f.w.fail != nil {
		err, f.w.fail = f.w.fail, nil
		return handoff.DecisionAnswer{}, err
	}
	return answer, err
}

func newWorld(t *testing.T) (*world, http.Handler) {
	t.Helper()
	w := &world{T: t, now: time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)}
	var err error
	if w.state, err = sqlitestate.OpenMemory(t.Context()); err != nil {
		t.Fatal(err)
	}
	archive, err := dirarchive.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(w.state.Close(), archive.Close()) })
	w.engine = handoff.New(handoff.Deps{State: w.state, Archive: archive, Queue: w, Clock: w, IDs: w})
	b := handoff.Binding{
		Settings: handoff.Settings{Stream: stream, Start: "c0", Lanes: handoff.LaneEvent, Contract: handoff.Contract{Arrival: true}},
		Source:   w, Policy: w, Effect: w,
	}
	if _, err := w.engine.Poll(t.Context(), b, handoff.PollMessage{Stream: stream}); err != nil {
		t.Fatal(err)
	}
	d := handoff.Delivery{ChunkMessage: handoff.ChunkMessage{Stream: stream, Version: 1}, Receives: 1}
	if _, err := w.engine.Apply(t.Context(), b, d); err != nil {
		t.Fatal(err)
	}
	return w, reviewapi.New(reviewapi.Config{Engine: flaky{w.engine, w}, State: w.state, NewID: w.New, Report: w.report})
}

func (w *world) report(_ context.Context, err error) { w.reported = append(w.reported, err) }

// clients speak to the same handler without and with a socket: they must not differ.
func clients(t *testing.T, h http.Handler) map[string]*reviewapi.Client {
	server := httptest.NewServer(reviewapi.Loopback("token", h))
	t.Cleanup(server.Close)
	return map[string]*reviewapi.Client{
		"in process":    {Base: "http://in.process", HTTP: reviewapi.InProcess(h)},
		"over a socket": {Base: server.URL, Token: "token", HTTP: http.DefaultTransport},
	}
}

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

// request is one raw request; its answer is status, header and body.
func request(t *testing.T, h http.Handler, method, path, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(reviewapi.ActorHeader, "ada")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Code, rec.Header(), rec.Body.String()
}

func base() string { return "/v1/streams/" + url.PathEscape(string(stream)) }

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

// A decision is based on what was seen, repeated safely, and its refusal says who decided what and when.
func TestDecisions(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	path := base() + "/events/17/decisions"
	good := `{"kind":"ignore","reason":"known","rev":1}`
	status, header, first := request(t, h, "POST", path, good, "Idempotency-Key", "once")
	if status != http.StatusOK || header.Get("ETag") != `"2"` {
		t.Fatalf("%d %s %s", status, header.Get("ETag"), first)
	}
	if len(w.sent) != 1 || !w.sent[0].Drive {
		t.Errorf("the decision sent %v, want one hint to drive", w.sent)
	}
	if status, _, again := request(t, h, "POST", path, good, "Idempotency-Key", "once"); status != http.StatusOK || again != first {
		t.Errorf("repeated: %d %s, first %s", status, again, first)
	}
	status, _, body := request(t, h, "POST", path, `{"kind":"quarantine","reason":"late","rev":1}`, "Idempotency-Key", "another")
	var p reviewapi.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || status != http.StatusConflict || p.Type != "conflict" {
		t.Fatalf("%d %s", status, body)
	}
	if p.Receipt == nil || p.Receipt.By != "ada" || p.Receipt.Outcome != handoff.Ignored || !strings.Contains(p.Detail, "ignored by ada at 2031-03-01") {
		t.Errorf("the conflict does not say who decided what and when: %s", body)
	}
	if status, _, body := request(t, h, "POST", path, `{"kind":"quarantine","reason":"known","rev":1}`, "Idempotency-Key", "once"); status != http.StatusConflict {
		t.Errorf("another request under one id: %d %s", status, body)
	}
	audits, _, err := w.state.Audits(t.Context(), stream, "", 10)
	if err != nil || len(audits) != 1 || audits[0].Actor != "ada" || audits[0].Reason != "known" {
		t.Errorf("audit %+v, %v", audits, err)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	_, h := newWorld(t)
	event, whole := base()+"/events/17/decisions", base()+"/decisions"
	for _, c := range []struct {
		name, path, body string
		want             int
		header           []string
	}{
		{"no rev", event, `{"kind":"ignore","reason":"r"}`, http.StatusPreconditionRequired, nil},
		{"no rev for a reset", whole, `{"kind":"reset","reason":"r","cursor":"c"}`, http.StatusPreconditionRequired, nil},
		{"two revs", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusBadRequest, []string{"If-Match", `"2"`}},
		{"a rev that is none", event, `{"kind":"ignore","reason":"r"}`, http.StatusBadRequest, []string{"If-Match", `"x"`}},
		{"no reason", event, `{"kind":"ignore","reason":"  ","rev":1}`, http.StatusBadRequest, nil},
		{"a long reason", event, `{"kind":"ignore","reason":"` + strings.Repeat("r", 1001) + `","rev":1}`, http.StatusBadRequest, nil},
		{"an unknown kind", event, `{"kind":"explode","reason":"r","rev":1}`, http.StatusBadRequest, nil},
		{"a stream's kind on an event", event, `{"kind":"pause","reason":"r","rev":1}`, http.StatusBadRequest, nil},
		{"an event's kind on a stream", whole, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusBadRequest, nil},
		{"an unknown field", event, `{"kind":"ignore","reason":"r","rev":1,"force":true}`, http.StatusBadRequest, nil},
		{"two objects", event, `{"kind":"ignore","reason":"r","rev":1}{}`, http.StatusBadRequest, nil},
		{"no JSON", event, `kind=ignore`, http.StatusBadRequest, nil},
		{"a form", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnsupportedMediaType, []string{"Content-Type", "text/plain"}},
		{"a large body", event, `{"kind":"ignore","reason":"` + strings.Repeat("r", 70<<10) + `"}`, http.StatusRequestEntityTooLarge, nil},
		{"nobody", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnauthorized, []string{reviewapi.ActorHeader, ""}},
		{"a long id", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusBadRequest, []string{"Idempotency-Key", strings.Repeat("k", 201)}},
		{"an event that is not there", base() + "/events/99/decisions", `{"kind":"ignore","reason":"r","rev":1}`, http.StatusNotFound, nil},
		{"a release past its page", event, `{"kind":"applied","reason":"r","rev":1}`, http.StatusConflict, nil},
	} {
		status, header, body := request(t, h, "POST", c.path, c.body, c.header...)
		if status != c.want || header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s %s, want %d", c.name, status, header.Get("Content-Type"), body, c.want)
		}
	}
	if status, header, _ := request(t, h, "GET", base(), ""); status != http.StatusOK || header.Get("Cache-Control") != "no-store" ||
		header.Get("X-Content-Type-Options") != "nosniff" || header.Get("ETag") == "" {
		t.Errorf("headers of a good answer: %d %v", status, header)
	}
}

// An actor that the gateway vouches for wins over whatever the caller says of himself.
func TestTheGatewayNamesTheActor(t *testing.T) {
	t.Parallel()
	w, _ := newWorld(t)
	who := "arn:ada"
	h := reviewapi.New(reviewapi.Config{Engine: w.engine, State: w.state, Actor: func(*http.Request) (string, error) {
		if who == "" {
			return "", errors.New("nobody")
		}
		return who, nil
	}})
	path := base() + "/events/17/decisions"
	if status, _, body := request(t, h, "POST", path, `{"kind":"ignore","reason":"r","rev":1}`, reviewapi.ActorHeader, "mallory"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	audits, _, _ := w.state.Audits(t.Context(), stream, "", 10)
	if len(audits) != 1 || audits[0].Actor != "arn:ada" {
		t.Errorf("the record names %+v", audits)
	}
	who = ""
	if status, _, _ := request(t, h, "POST", path, `{"kind":"ignore","reason":"r","rev":1}`); status != http.StatusUnauthorized {
		t.Errorf("nobody: %d", status)
	}
}

// The outcome is unknown: the answer says so, names the id to repeat, and repeating it answers what was done.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	w.fail = fmt.Errorf("%w: secret-host.internal went away", handoff.ErrUnknown)
	status, _, body := request(t, h, "POST", base()+"/events/17/decisions", `{"kind":"ignore","reason":"r","rev":1}`)
	var p reviewapi.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || status != http.StatusServiceUnavailable || p.Type != "unknown" || p.Decision == "" {
		t.Fatalf("%d %s", status, body)
	}
	if strings.Contains(body, "secret-host") {
		t.Errorf("the answer tells about the inside: %s", body)
	}
	if len(w.reported) != 1 || !strings.Contains(w.reported[0].Error(), "secret-host") {
		t.Errorf("the log was told %v", w.reported)
	}
	w.fail = handoff.ErrUnknown
	explained := reviewapi.New(reviewapi.Config{Engine: flaky{w.engine, w}, State: w.state, NewID: w.New, Explain: true})
	if _, _, body := request(t, explained, "POST", base()+"/decisions", `{"kind":"pause","reason":"r"}`); !strings.Contains(body, "(pause ") && !strings.Contains(body, "outcome unknown") {
		t.Errorf("this machine's user is not told why: %s", body)
	}
	status, _, body = request(t, h, "POST", base()+"/events/17/decisions", `{"kind":"ignore","reason":"r","rev":1}`, "Idempotency-Key", p.Decision)
	if status != http.StatusOK || !strings.Contains(body, `"ignored"`) {
		t.Errorf("repeated: %d %s", status, body)
	}
	w.fail = handoff.ErrUnknown
	c := &reviewapi.Client{Base: "http://in.process", HTTP: reviewapi.InProcess(h)}
	d := handoff.Decision{ID: "x", Stream: stream, Kind: handoff.DecidePause, Actor: "ada", Reason: "r"}
	if _, err := c.Decide(t.Context(), d); !errors.Is(err, handoff.ErrUnknown) {
		t.Errorf("the client says %v", err)
	}
}

// A bulk acts on what it names, each by itself; repeated, it repeats none of it.
func TestBulk(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	body := `{"kind":"quarantine","reason":"spam","events":[{"event_id":"17","rev":1},{"event_id":"99","rev":1},{"event_id":"\"é\\u0000\\\"\"","rev":7}]}`
	var first string
	for i := range 2 {
		status, _, got := request(t, h, "POST", base()+"/bulk", body, "Idempotency-Key", "bulk")
		var out reviewapi.List[reviewapi.BulkResult]
		if err := json.Unmarshal([]byte(got), &out); err != nil || status != http.StatusOK || len(out.Items) != 3 {
			t.Fatalf("%d %s", status, got)
		}
		if a := out.Items[0].Answer; a == nil || a.Outcome != handoff.Quarantined {
			t.Errorf("the first: %s", got)
		}
		if p := out.Items[1].Problem; p == nil || p.Status != http.StatusNotFound {
			t.Errorf("the second: %s", got)
		}
		if p := out.Items[2].Problem; p == nil || p.Status != http.StatusConflict {
			t.Errorf("the third: %s", got)
		}
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("repeated: %s", got)
		}
	}
	if len(w.sent) != 2 {
		t.Errorf("two bulks sent %d hints to drive, want one each", len(w.sent))
	}
	audits, _, _ := w.state.Audits(t.Context(), stream, "", 10)
	if len(audits) != 1 {
		t.Errorf("%d decisions were taken, want one", len(audits))
	}
	for _, bad := range []string{`{"kind":"pause","reason":"r","events":[{"event_id":"17","rev":1}]}`, `{"kind":"ignore","reason":"r","events":[]}`} {
		if status, _, _ := request(t, h, "POST", base()+"/bulk", bad); status != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, status)
		}
	}
}

// Every decision about a stream, through the client.
func TestStreamDecisions(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	c := clients(t, h)["over a socket"]
	decide := func(d handoff.Decision) (handoff.DecisionAnswer, error) {
		d.ID, d.Stream, d.Actor, d.Reason = w.New(), stream, "ada", "r"
		return c.Decide(t.Context(), d)
	}
	rev := func() uint64 {
		st, err := c.Status(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		return st.Rev
	}
	if a, err := decide(handoff.Decision{Kind: handoff.DecidePause}); err != nil || a.Status != handoff.Paused {
		t.Fatalf("%+v %v", a, err)
	}
	var conflict *handoff.ConflictError
	if _, err := decide(handoff.Decision{Kind: handoff.DecideResume, Rev: 1}); !errors.As(err, &conflict) || conflict.Checkpoint == nil {
		t.Errorf("a stale resume: %v", err)
	}
	if a, err := decide(handoff.Decision{Kind: handoff.DecideResume, Rev: rev()}); err != nil || a.Status != handoff.Active {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := decide(handoff.Decision{Kind: handoff.DecideAccept, Rev: rev(), Check: handoff.HaltGap, Answer: "d"}); !errors.As(err, &conflict) {
		t.Errorf("nothing to accept: %v", err)
	}
	if _, err := decide(handoff.Decision{Kind: handoff.DecideLost, Rev: rev(), Version: 1}); !errors.As(err, &conflict) {
		t.Errorf("nothing is lost: %v", err)
	}
	if a, err := decide(handoff.Decision{Kind: handoff.DecideReset, Rev: rev(), Cursor: "c9"}); err != nil || a.Version != 2 {
		t.Errorf("%+v %v", a, err)
	}
	var invalid *handoff.InvalidError
	if _, err := decide(handoff.Decision{Kind: handoff.DecideReset, Rev: rev()}); !errors.As(err, &invalid) {
		t.Errorf("a reset to nowhere: %v", err)
	}
	if pages, _, err := c.Pages(t.Context(), stream, ""); err != nil || len(pages) != 1 || pages[0].Version != 1 {
		t.Errorf("pages %+v %v", pages, err)
	}
	if docs, _, err := c.Docs(t.Context(), stream, ""); err != nil || len(docs) != 0 {
		t.Errorf("docs %+v %v", docs, err)
	}
	if audits, _, err := c.Audits(t.Context(), stream, ""); err != nil || len(audits) != 3 || audits[0].Undo+audits[1].Undo+audits[2].Undo != "c0" {
		t.Errorf("audits %+v %v", audits, err)
	}
	if found, err := c.Check(t.Context(), stream); err != nil || len(found) != 0 {
		t.Errorf("check %+v %v", found, err)
	}
}

// Only programs of this machine that know the token get through.
func TestLoopbackRefuses(t *testing.T) {
	t.Parallel()
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") })
	for _, c := range []struct {
		name, token, host string
		header            []string
		want              int
	}{
		{"right", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t"}, 200},
		{"localhost", "t", "localhost", []string{"Authorization", "Bearer t"}, 200},
		{"IPv6", "t", "[::1]:80", []string{"Authorization", "Bearer t"}, 200},
		{"its own origin", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "http://127.0.0.1:80"}, 200},
		{"no token", "t", "127.0.0.1:80", nil, 401},
		{"wrong token", "t", "127.0.0.1:80", []string{"Authorization", "Bearer u"}, 401},
		{"empty token", "", "127.0.0.1:80", []string{"Authorization", "Bearer "}, 401},
		{"another scheme", "t", "127.0.0.1:80", []string{"Authorization", "Basic t"}, 401},
		{"a name that points here", "t", "evil.example", []string{"Authorization", "Bearer t"}, 403},
		{"an address beyond loopback", "t", "10.0.0.1", []string{"Authorization", "Bearer t"}, 403},
		{"another origin", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "http://evil.example"}, 403},
		{"another port", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "http://127.0.0.1:81"}, 403},
		{"no origin", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "null"}, 403},
		{"across sites", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Sec-Fetch-Site", "cross-site"}, 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://"+c.host+"/", nil)
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		rec := httptest.NewRecorder()
		reviewapi.Loopback(c.token, served).ServeHTTP(rec, r)
		if rec.Code != c.want || (c.want == 200) != bytes.Equal(rec.Body.Bytes(), []byte("in")) {
			t.Errorf("%s: %d, want %d", c.name, rec.Code, c.want)
		}
	}
}
