package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
)

const stream handoff.Stream = "feed"

// stage is the real protocol over a store in memory, ready to be led through a trace of the model.
type stage struct {
	*testing.T
	ctx     context.Context
	m       *model
	store   *memstate.Store
	archive *memstate.Archive
	sent    sentMessages
	now     stageClock
	ids     counter
	calls   [maxEvents]uint8 // of an outside sink, by event, up to 2
	actors  [slots]*actor
	entry   handoff.SpoolEntry // what was fetched ahead
}

func newStage(t *testing.T, m *model) *stage {
	s := &stage{T: t, ctx: t.Context(), m: m, store: memstate.New(), archive: memstate.NewArchive()}
	s.now.at = time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)
	_, err := s.engine(fault.New(nil)).Decide(s.ctx, handoff.Decision{
		ID: "start", Stream: stream, Kind: handoff.DecideStart, Actor: "ada", Reason: "begin", Cursor: cursorOf(1), Definition: "feed",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// engine is one process over the shared store.
func (s *stage) engine(p *fault.Process) *handoff.Engine {
	return handoff.New(handoff.Deps{
		State: oneByOne{p.State(s.store)}, Archive: p.Archive(s.archive), Queue: p.Queue(&s.sent), Clock: &s.now, IDs: &s.ids,
		Timing: handoff.Timing{
			Tick: time.Minute, DriveLease: time.Hour, MaxDriveLease: time.Hour, FunctionLife: time.Minute, Margin: time.Second, PoisonStarts: 1 << 20,
			RetryBase: time.Minute, RetryMax: time.Minute, MaxDelay: time.Minute, StallTicks: 100, UnreadableTicks: 100,
		},
	})
}

func (s *stage) binding(a *actor) handoff.Binding {
	return handoff.Binding{
		Settings: handoff.Settings{
			Stream: stream, Definition: "feed", Pages: 100, ChunkSize: 1, Lanes: handoff.LaneEntity, FetchHash: "f", Effect: "e", Policy: "p",
			Contract: handoff.Contract{Ordered: true, Unique: true, Overlap: true},
		},
		Source: a.life.Source(script{s.m, a}), Policy: ruling{s.m}, Effect: a.life.Effect(sink{s, a}),
	}
}

// oneByOne settles each event by a call of its own, as any store may.
type oneByOne struct{ handoff.State }

func (o oneByOne) Settle(ctx context.Context, name handoff.Stream, items []handoff.Settlement) (out []handoff.SettleResult) {
	for i := range items {
		out = append(out, o.State.Settle(ctx, name, items[i:i+1])...)
	}
	return out
}

// stageClock moves with the trace alone.
type stageClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *stageClock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *stageClock) advance(d time.Duration) { c.mu.Lock(); c.at = c.at.Add(d); c.mu.Unlock() }

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) New() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return strconv.Itoa(c.n)
}

// sentMessages is the queue: which messages are under way. The trace delivers them.
type sentMessages struct {
	mu sync.Mutex
	of [maxChunks]uint8
}

func (q *sentMessages) SendChunks(_ context.Context, ms []handoff.ChunkMessage, _ time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range ms {
		q.of[m.Chunk] |= 1 << m.Version
	}
	return nil
}

func (q *sentMessages) SendPoll(context.Context, handoff.PollMessage, time.Duration) error {
	return nil
}

func (q *sentMessages) lose(v, k uint8) { q.mu.Lock(); q.of[k] &^= 1 << v; q.mu.Unlock() }

func cursorOf(c uint8) handoff.Cursor { return handoff.Cursor(fmt.Sprintf("cursor %d", c)) }

func idOf(e uint8) string { return fmt.Sprintf("%q", strconv.Itoa(int(e))) }

func entityOf(n uint8) string { return "entity " + strconv.Itoa(int(n)) }

// script is the model's source: the trace says which answer comes.
type script struct {
	m *model
	a *actor
}

func (s script) Ask(context.Context, handoff.Cursor, time.Time) (handoff.Answer, error) {
	return s.m.answerFor(s.a.choice, s.a.stage.now.Now()), nil
}

func (m *model) answerFor(choice uint8, now time.Time) handoff.Answer {
	body, _ := json.Marshal(choice) // a number always encodes
	return handoff.Answer{Status: 200, FetchedAt: now, Body: body}
}

func (s script) Read(a handoff.Answer) handoff.Reading {
	var choice uint8
	if err := json.Unmarshal(a.Body, &choice); err != nil {
		return handoff.Reading{Kind: handoff.ReadUnreadable}
	}
	said := s.m.answers[choice]
	r := handoff.Reading{Kind: handoff.ReadPage, Next: cursorOf(said.next), End: said.end, Continues: true, TokenLife: time.Millisecond}
	for e := uint8(1); e <= maxEvents; e++ {
		if said.events&(1<<(e-1)) != 0 {
			at, _ := handoff.NumberPosition(strconv.Itoa(int(e))) // digits always parse
			raw := []byte(fmt.Sprintf(`{"n":%d}`, e))
			r.Events = append(r.Events, handoff.Event{ID: idOf(e), Position: at, Entity: entityOf(s.m.entity[e-1]), Raw: raw, Digest: handoff.DigestOf(raw)})
		}
	}
	return r
}

func numberOf(id string) uint8 {
	text, _ := strconv.Unquote(id)
	n, _ := strconv.Atoi(text)
	return uint8(n)
}

type ruling struct{ m *model }

func (r ruling) Judge(ev handoff.Event) (handoff.Ruling, error) {
	if r.m.holds&(1<<(numberOf(ev.ID)-1)) != 0 {
		return handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}, nil
	}
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

// sink counts effects: as a projection in the document of the entity, as an outside call on the stage.
type sink struct {
	s *stage
	a *actor
}

func (k sink) Traits() handoff.EffectTraits {
	if k.s.m.outside {
		return handoff.EffectTraits{Kind: handoff.Unsafe, Timeout: time.Second}
	}
	return handoff.EffectTraits{Kind: handoff.Transactional}
}

func (k sink) Plan(ev handoff.Event) ([]handoff.DocChange, error) {
	return []handoff.DocChange{{Entity: ev.Entity, Add: map[string]string{"n" + strconv.Itoa(int(numberOf(ev.ID))): "1"}}}, nil
}

func (k sink) Call(_ context.Context, ev handoff.Event, _ string) handoff.CallResult {
	if k.a.happens {
		n := &k.s.calls[numberOf(ev.ID)-1]
		*n = min(*n+1, 2)
	}
	switch k.a.choice {
	case callDone:
		return handoff.CallResult{Kind: handoff.CallDone}
	case callLost:
		return handoff.CallResult{Kind: handoff.CallUnknown, Detail: "no answer"}
	}
	return handoff.CallResult{Kind: handoff.CallRetry, Detail: "busy"}
}
