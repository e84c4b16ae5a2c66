package reviewapi_test

import (
	"context"
	"errors"
	"fmt"
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
	`"🍃 ' OR 1=1"`:                        `{"sep":" ","html":"&lt;b&gt;","n":1e400,"n":-0.10}`,
	`".."`:                                "[]\r\n",
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
	verdict  handoff.Verdict
	kind     handoff.EffectKind
	call     handoff.CallKind
}

const stream = handoff.Stream("orders/eu 1")

func (w *world) Now() time.Time { return w.now }

func (w *world) New() string { w.n++; return fmt.Sprint("id-", w.n) }

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
	return handoff.Ruling{Verdict: w.verdict, Rule: "ask"}, nil
}

func (w *world) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: w.kind, Timeout: time.Second}
}

func (w *world) Plan(handoff.Event) ([]handoff.DocChange, error) { return nil, nil }

func (w *world) Call(context.Context, handoff.Event, string) handoff.CallResult {
	return handoff.CallResult{Kind: w.call}
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

// newWorld plays one page through. Unless told otherwise, policy holds every event of it.
func newWorld(t *testing.T, edit ...func(*world)) (*world, http.Handler) {
	t.Helper()
	w := &world{T: t, now: time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC), verdict: handoff.VerdictHold, kind: handoff.Transactional}
	for _, f := range edit {
		f(w)
	}
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
	h := reviewapi.New(reviewapi.Config{Engine: flaky{w.engine, w}, State: w.state, NewID: w.New, Report: w.report})
	return w, fitting(t, h)
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
