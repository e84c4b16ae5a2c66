package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// protocol plays everything behind the handler: engine, queue, list of streams, and binder.
type protocol struct {
	polled  []handoff.PollMessage
	sent    []handoff.PollMessage
	fails   map[handoff.Stream]error // of polls and of sends
	roll    *handoff.Roll            // nil polls what is defined
	listErr error
	asleep  map[handoff.Stream]bool
	unclear map[handoff.Stream]error // of Due
	kept    []handoff.Stream
	mu      sync.Mutex         // guards sent
	report  handoff.PollReport // of every poll; the zero value says opened
	looked  []handoff.Stream   // whose holds were read
	held    []handoff.Receipt
}

func (p *protocol) Poll(_ context.Context, b handoff.Binding, m handoff.PollMessage) (handoff.PollReport, error) {
	if b.Stream != m.Stream {
		return handoff.PollReport{}, fmt.Errorf("%s is bound for %s", b.Stream, m.Stream)
	}
	p.polled = append(p.polled, m)
	if p.report.Did == "" {
		p.report.Did = handoff.ActOpened
	}
	return p.report, p.fails[m.Stream]
}

func (p *protocol) SendPoll(_ context.Context, m handoff.PollMessage, delay time.Duration) error {
	if delay != 0 {
		return fmt.Errorf("a delay of %s", delay)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
	return p.fails[m.Stream]
}

func (*protocol) SendChunks(context.Context, []handoff.ChunkMessage, time.Duration) error {
	return errors.New("poll's handler sends no chunks")
}

func (p *protocol) Enlist(_ context.Context, defined []handoff.Stream) (handoff.Roll, error) {
	if p.roll != nil {
		return *p.roll, p.listErr
	}
	return handoff.Roll{Poll: defined}, p.listErr
}

func (p *protocol) Due(_ context.Context, s handoff.Stream) (bool, error) {
	return !p.asleep[s], p.unclear[s]
}

func (p *protocol) Keep(_ context.Context, s handoff.Stream) error {
	p.kept = append(p.kept, s)
	return p.fails[s]
}

func (p *protocol) HeldReceipts(_ context.Context, s handoff.Stream, _ string, _ int) ([]handoff.Receipt, string, error) {
	p.looked = append(p.looked, s)
	return p.held, "", nil
}

func (p *protocol) Binding(s handoff.Stream) (handoff.Binding, error) {
	if name, _, _ := strings.Cut(string(s), "/"); name == "unknown" {
		return handoff.Binding{}, errors.New("no definition of that name")
	}
	return handoff.Binding{Settings: handoff.Settings{Stream: s}}, nil
}

func subject(p *protocol, defined ...handoff.Stream) (*handler, *bytes.Buffer) {
	var log bytes.Buffer
	l := cloud.Log(&log, slog.LevelInfo)
	return &handler{engine: p, queue: p, binder: p, holds: p, defined: defined, rec: cloud.NewRecorder(l, cloud.Meter{}, time.Now)}, &log
}

func streams(ms []handoff.PollMessage) (names []string) {
	for _, m := range ms {
		names = append(names, string(m.Stream))
		if m != (handoff.PollMessage{Stream: m.Stream}) {
			names = append(names, fmt.Sprintf("which says more: %+v", m))
		}
	}
	slices.Sort(names)
	return names
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A sole stream is polled by the tick itself, whatever the scheduler puts into its event.
func TestTickOfOneStream(t *testing.T) {
	t.Parallel()
	for _, event := range []string{`{}`, `{"version":"0","id":"x","detail-type":"Scheduled Event","source":"aws.events","resources":[],"detail":{}}`} {
		p := &protocol{}
		h, log := subject(p, "orders")
		if _, err := h.handle(t.Context(), json.RawMessage(event)); err != nil {
			t.Error(err)
		}
		same(t, "polled", streams(p.polled), "orders")
		same(t, "sent", streams(p.sent))
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d log lines: %s", n, log)
		}
	}
}

// Several get a message each, those that are due: an hourly stream between its hours is left alone, and one that cannot be looked at is not.
// What no definition names any more is told of and kept alive, and not polled.
func TestTickFansOut(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	p := &protocol{
		roll:   &handoff.Roll{Poll: []handoff.Stream{"orders", "users", "orders/eu", "hourly", "odd"}, Orphans: []handoff.StreamEntry{{Stream: "gone"}, {Stream: "lost"}}},
		asleep: map[handoff.Stream]bool{"hourly": true, "odd": true}, unclear: map[handoff.Stream]error{"odd": down}, fails: map[handoff.Stream]error{"gone": down},
	}
	h, log := subject(p, "orders", "users")
	if _, err := h.handle(t.Context(), json.RawMessage(`{}`)); !errors.Is(err, down) {
		t.Errorf("a stream that could not be looked at: %v", err)
	}
	same(t, "polled", streams(p.polled))
	same(t, "sent", streams(p.sent), "odd", "orders", "orders/eu", "users")
	if !slices.Equal(p.kept, []handoff.Stream{"gone", "lost"}) {
		t.Errorf("kept %q", p.kept)
	}
	if !strings.Contains(log.String(), `"streams":5,"orphans":2,`) {
		t.Errorf("an orphan is not told of: %s", log)
	}
}

// A stream that fails stops no other, and the tick says that it failed.
func TestOneFailureStopsNoOther(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	p := &protocol{fails: map[handoff.Stream]error{"a": down}}
	h, _ := subject(p, "a", "b", "c")
	if _, err := h.handle(t.Context(), json.RawMessage(`{}`)); !errors.Is(err, down) {
		t.Errorf("a failed fan-out is %v", err)
	}
	same(t, "sent", streams(p.sent), "a", "b", "c")

	p = &protocol{listErr: down}
	h, _ = subject(p, "a")
	if _, err := h.handle(t.Context(), json.RawMessage(`{}`)); !errors.Is(err, down) || len(p.polled) > 0 {
		t.Errorf("without the list of streams: %v, polled %v", err, p.polled)
	}
}

// event.json names one stream: only that one is polled, by this invocation.
func TestTickByName(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("event.json")
	if err != nil {
		t.Fatal(err)
	}
	p := &protocol{listErr: errors.New("nobody asked")}
	h, _ := subject(p, "users", "orders", "more")
	if _, err := h.handle(t.Context(), raw); err != nil {
		t.Error(err)
	}
	same(t, "polled", streams(p.polled), "orders")
	if _, err := h.handle(t.Context(), json.RawMessage(`{"stream":"unknown"}`)); err == nil {
		t.Error("a stream without a definition was polled")
	}
	for _, event := range []string{`{"stream":7}`, `[]`, `"orders"`} {
		if _, err := h.handle(t.Context(), json.RawMessage(event)); err == nil {
			t.Errorf("%s passed for a tick", event)
		}
	}
	same(t, "polled", streams(p.polled), "orders")
}

// A continuation reaches the protocol word for word. What cannot be read, bound or carried out is a failure, so that it comes again or
// ends in the dead-letter queue; nothing else is.
func TestContinuations(t *testing.T) {
	t.Parallel()
	const good = `{"stream":"orders/eu","version":7,"drive":true,"drain":3}`
	for _, c := range []struct {
		body string
		fail bool
	}{
		{good, false}, {`{"stream":"down"}`, true}, {`{"stream":"unknown"}`, true}, {`{"version":7}`, true}, {`{}`, true}, {``, true}, {`{"stream":`, true},
		{`{"stream":"orders","version":-1}`, true}, {`[]`, true},
	} {
		p := &protocol{fails: map[handoff.Stream]error{"down": errors.New("down")}}
		h, log := subject(p, "orders")
		out := deliver(t, h, c.body)
		want := `{"batchItemFailures":[]}`
		if c.fail {
			want = `{"batchItemFailures":[{"itemIdentifier":"m-0"}]}`
		}
		if out != want {
			t.Errorf("%s answers %s, want %s", c.body, out, want)
		}
		info, rest := levels(log.String())
		if info != 1 || rest == 0 == c.fail {
			t.Errorf("%s: %d Info lines and %d others: %s", c.body, info, rest, log)
		}
		if c.body == good && !slices.Equal(p.polled, []handoff.PollMessage{{Stream: "orders/eu", Version: 7, Drive: true, Drain: 3}}) {
			t.Errorf("polled %+v", p.polled)
		}
		if len(p.sent) > 0 {
			t.Errorf("%s: sent %v", c.body, p.sent)
		}
	}
}

// levels counts Info lines and all others.
func levels(log string) (info, rest int) {
	info = strings.Count(log, `"level":"INFO"`)
	return info, strings.Count(log, "\n") - info
}

// One Info line says what an invocation did, however it ends: what it polled, or that it could not. What is returned is not logged
// besides: the runtime does that.
func TestOneInfoLine(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for _, c := range []struct{ event, has string }{
		{`{}`, `"msg":"tick","cold":true,`}, {`{"stream":"orders"}`, `"did":"opened"`}, {`{"stream":"down"}`, `"class":"internal","failed":1`},
		{`{"stream":"unknown"}`, `"class":"config","failed":1`}, {`[]`, `"class":"invalid","failed":1`}, {`{"stream":7}`, `"class":"invalid"`},
	} {
		h, log := subject(&protocol{fails: map[handoff.Stream]error{"down": down}}, "orders")
		_, _ = h.handle(t.Context(), json.RawMessage(c.event))
		if info, rest := levels(log.String()); info != 1 || rest != 0 || !strings.Contains(log.String(), c.has) {
			t.Errorf("%s: %d Info lines, %d others, without %s: %s", c.event, info, rest, c.has, log)
		}
	}
	h, log := subject(&protocol{listErr: down}, "orders")
	if _, err := h.handle(t.Context(), json.RawMessage(`{}`)); err == nil || strings.Contains(log.String(), `"streams"`) {
		t.Errorf("a tick that reached no stream is a heartbeat: %s", log)
	}
}

// A tick that meets a page it cannot turn reads that stream's holds, once; no other poll does.
func TestHoldsAreReadOnABlockedTick(t *testing.T) {
	t.Parallel()
	stands := &handoff.Standing{Page: &handoff.Page{Version: 7}}
	for _, c := range []struct {
		event string
		did   handoff.PollAct
		want  []handoff.Stream
	}{
		{`{}`, handoff.ActBlocked, []handoff.Stream{"orders"}}, {`{}`, handoff.ActDriven, []handoff.Stream{"orders"}}, {`{}`, handoff.ActOpened, nil}, {`{}`, handoff.ActCaughtUp, nil},
		{`{"Records":[{"body":"{\"stream\":\"orders\"}"}]}`, handoff.ActBlocked, []handoff.Stream{"orders"}},
		{`{"Records":[{"body":"{\"stream\":\"orders\",\"version\":7}"}]}`, handoff.ActBlocked, nil},
	} {
		p := &protocol{report: handoff.PollReport{Did: c.did, Stands: stands}}
		h, _ := subject(p, "orders")
		if _, err := h.handle(t.Context(), json.RawMessage(c.event)); err != nil || !slices.Equal(p.looked, c.want) {
			t.Errorf("%s, %s: read the holds of %q, want %q (%v)", c.event, c.did, p.looked, c.want, err)
		}
	}
}

// Messages of one batch stand for themselves.
func TestABatchFailsInParts(t *testing.T) {
	t.Parallel()
	h, _ := subject(&protocol{fails: map[handoff.Stream]error{"down": errors.New("down")}}, "orders")
	if out := deliver(t, h, `{"stream":"orders"}`, `{"stream":"down"}`, `?`, `{"stream":"orders"}`); out != `{"batchItemFailures":[{"itemIdentifier":"m-1"},{"itemIdentifier":"m-2"}]}` {
		t.Error(out)
	}
}

// deliver invokes with an event as SQS sends it, and gives the answer as Lambda sends it back.
func deliver(t *testing.T, h *handler, bodies ...string) string {
	t.Helper()
	var records []map[string]any
	for i, b := range bodies {
		records = append(records, map[string]any{"messageId": fmt.Sprint("m-", i), "body": b, "eventSource": "aws:sqs", "attributes": map[string]string{"ApproximateReceiveCount": "1"}})
	}
	event, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := h.handle(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
