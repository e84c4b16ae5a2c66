package cloud_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnleaf/turnleaf/internal/bind"
	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
	"github.com/turnleaf/turnleaf/internal/httpsource"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// marker is in everything that comes from the source or belongs to the team: ids, entities, positions, payloads, tokens, headers, the
// secret. Whatever happens, no line may carry it.
const marker = "XyZZy"

const definition = `
name: orders
start:
  token: %[1]s-start
source:
  url: %[2]s/events
  allow_private: true
  auth:
    bearer:
      env: SECRET
  events: body.events
  end: "!body.has_more"
  cursor:
    token: body.next
    send: query:cursor
event:
  id: event.id
  position: event.at
  position_type: text
  entity: event.who
contract:
  positions: unique
  retention: 720h
policy:
  - name: by hand
    when: event.kind == "hold"
    then: held
  - name: tests
    when: event.kind == "test"
    then: quarantined
  - name: pings
    when: event.kind == "ping"
    then: ignored
effect:
  projection:
    set:
      note: event.note
    add:
      total: event.total
`

// answers are what a source may send: each %d is a number that only grows.
var answers = []string{
	`200 {"events":[%[1]s],"next":"XyZZy-%[2]d","has_more":true}`, `200 {"events":[%[1]s],"next":"XyZZy-%[2]d","has_more":true}`,
	`200 {"events":[%[1]s],"next":"XyZZy-%[2]d","has_more":false}`, `200 {"events":[],"next":"XyZZy-%[2]d","has_more":true}`,
	`200 {"events":[],"has_more":true,"XyZZy":1}`, `200 {"events":{"XyZZy":1},"next":"XyZZy"}`, `200 <html>XyZZy</html>`, `200 {"XyZZy`, `200 XyZZy`,
	`200 {"error":"XyZZy"}`, `500 XyZZy`, `429 XyZZy`, `401 {"XyZZy":1}`, `404 XyZZy`, `410 {"token":"XyZZy"}`, `302 XyZZy`,
	`200 {"events":[%[1]s,{"id":"XyZZy","at":"XyZZy-0","who":"XyZZy","kind":"late"}],"next":"XyZZy-%[2]d","has_more":true}`,
}

// kinds of records: applied, ignored, quarantined, held, refused by the effect, without an id, without a position.
var kinds = []string{
	`{"id":"XyZZy-%[1]d","at":"XyZZy-%[1]d","who":"XyZZy","kind":"a","note":"XyZZy","total":"1.5"}`, `{"id":"XyZZy-%[1]d","at":"XyZZy-%[1]d","who":"XyZZy","kind":"ping"}`,
	`{"id":"XyZZy-%[1]d","at":"XyZZy-%[1]d","who":"XyZZy","kind":"test"}`, `{"id":"XyZZy-%[1]d","at":"XyZZy-%[1]d","who":"XyZZy","kind":"hold"}`,
	`{"id":"XyZZy-%[1]d","at":"XyZZy-%[1]d","who":"XyZZy","kind":"a","note":"XyZZy","total":"XyZZy"}`, `{"id":"XyZZy-%[1]d","at":"XyZZy-%[1]d","who":"XyZZy","note":"XyZZy"}`,
	`{"at":"XyZZy-%[1]d","who":"XyZZy"}`, `{"id":"XyZZy-%[1]d","who":"XyZZy"}`, `"XyZZy"`,
}

// stage is a function's insides on stores in memory, with a source that answers what the test draws.
type stage struct {
	engine *handoff.Engine
	rec    *cloud.Recorder
	state  *memstate.Store
	b      *bind.Binder
	out    bytes.Buffer
	now    time.Time
	n      int
	answer string
	chunks []handoff.ChunkMessage
}

func (s *stage) Now() time.Time { return s.now }

func (s *stage) New() string { s.n++; return fmt.Sprint("id-", s.n) }

func (s *stage) SendChunks(_ context.Context, ms []handoff.ChunkMessage, _ time.Duration) error {
	s.chunks = append(s.chunks, ms...)
	return nil
}

func (*stage) SendPoll(context.Context, handoff.PollMessage, time.Duration) error { return nil }

func (s *stage) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	status, body := 0, ""
	if _, err := fmt.Sscan(s.answer, &status); err == nil {
		body = s.answer[4:]
	}
	w.Header().Set("X-Note", marker)
	w.Header().Set("Location", "https://elsewhere.example/"+marker)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

func newStage(t *rapid.T, feed *httptest.Server) *stage {
	s := &stage{now: time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC), state: memstate.New()}
	d, err := streamdef.Parse("orders.yaml", fmt.Appendf(nil, definition, marker, feed.URL))
	if err != nil {
		t.Fatal(err)
	}
	s.b = bind.New([]*streamdef.Definition{d}, bind.Options{Now: s.Now, Secrets: httpsource.HostSecrets{
		LookupEnv: func(string) (string, bool) { return "secret-" + marker, true },
	}})
	s.rec = cloud.NewRecorder(cloud.Log(&s.out, slog.LevelDebug), cloud.Meter{Out: &s.out, Namespace: "N", Service: "prod", ByStream: true, Slow: time.Minute}, s.Now)
	s.engine = handoff.New(handoff.Deps{State: s.state, Archive: memstate.NewArchive(), Queue: s, Clock: s, IDs: s, Observer: s.rec})
	return s
}

// step is an invocation: a tick, or the delivery of whatever waits.
func (s *stage) step(t *rapid.T, ctx context.Context) {
	b, err := s.b.Binding("orders")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.chunks) > 0 && rapid.Bool().Draw(t, "deliver") {
		in := s.rec.Begin(ctx, "apply")
		m := s.chunks[0]
		if !rapid.Bool().Draw(t, "again") {
			s.chunks = s.chunks[1:]
		}
		r, err := s.engine.Apply(ctx, b, handoff.Delivery{ChunkMessage: m, Receives: 1})
		in.Applied(m, r, err)
		in.End()
		return
	}
	s.now = s.now.Add(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(t, "pause"))
	in := s.rec.Begin(ctx, "poll")
	m := handoff.PollMessage{Stream: "orders"}
	r, err := s.engine.Poll(ctx, b, m)
	in.Polled(s.state, b.Settings, m, r, err)
	in.End()
	if r.Did == handoff.ActHalted && rapid.Bool().Draw(t, "resume") {
		d := handoff.Decision{ID: s.New(), Stream: "orders", Kind: handoff.DecideResume, Actor: "ada", Reason: marker, Rev: r.Stands.Checkpoint.Rev}
		if _, err := s.engine.Decide(ctx, d); err != nil {
			s.rec.Report(ctx, err)
		}
	}
}

// Whatever a source sends and whatever becomes of it, at any level: no line repeats a word of it, nor a cursor, nor a secret. And each
// invocation is one Info line.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	var on *stage
	feed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { on.ServeHTTP(w, r) }))
	t.Cleanup(feed.Close)
	did := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(t, feed)
		on = s
		invocations := rapid.IntRange(1, 12).Draw(t, "invocations")
		for range invocations {
			var records []string
			for range rapid.IntRange(1, 4).Draw(t, "records") {
				s.n++
				records = append(records, fmt.Sprintf(rapid.SampledFrom(kinds).Draw(t, "kind"), 1000+s.n))
			}
			format := rapid.SampledFrom(answers).Draw(t, "answer")
			if s.answer = format; strings.Contains(format, "%") {
				s.n++
				s.answer = strings.NewReplacer("%[1]s", strings.Join(records, ","), "%[2]d", fmt.Sprint(s.n)).Replace(format)
			}
			s.step(t, context.Background())
		}
		text := s.out.String()
		if strings.Contains(strings.ToLower(text), strings.ToLower(marker)) || strings.Contains(text, feed.URL) {
			t.Fatalf("leaked: %s", text)
		}
		if n := strings.Count(text, `"level":"INFO"`); n != invocations {
			t.Fatalf("%d Info lines of %d invocations: %s", n, invocations, text)
		}
		for _, word := range []string{`"msg":"hold"`, `"msg":"halt"`, `"did":"waiting"`, `"did":"opened"`, `"events_applied"`, `"did":"blocked"`, `"class":"unreadable"`, `"OldestHoldAge"`} {
			did[word] = did[word] || strings.Contains(text, word)
		}
	})
	var missed []string
	for word, ok := range did {
		if !ok {
			missed = append(missed, word)
		}
	}
	if slices.Sort(missed); len(missed) > 0 {
		t.Errorf("the runs never came to %q", missed)
	}
}
