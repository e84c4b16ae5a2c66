package aws

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// feed serves two pages of 25 events of about 1 KB, of the same 25 customers, then one that is empty and moves its token, then the end.
type feed struct{}

const eventsPerPage = 25

func (feed) Ask(_ context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	return handoff.Answer{Cursor: c, Status: 200, FetchedAt: now, Body: []byte(c)}, nil
}

func (feed) Read(a handoff.Answer) handoff.Reading {
	r := handoff.Reading{Kind: handoff.ReadPage, Continues: true}
	first := 0
	switch string(a.Body) {
	case "token-1":
		r.Next = "token-2"
	case "token-2":
		first, r.Next = eventsPerPage, "token-3"
	case "token-3":
		r.Next = "token-4"
		return r
	default:
		r.Next, r.End = "token-4", true
		return r
	}
	for i := first; i < first+eventsPerPage; i++ {
		raw, _ := json.Marshal(map[string]any{"id": i, "text": string(jsonText(900))})
		p, _ := handoff.NumberPosition(fmt.Sprint(4_000_000 + i))
		r.Events = append(r.Events, handoff.Event{
			ID: fmt.Sprintf(`"evt_%024d"`, i), Position: p, Entity: fmt.Sprintf(`"customer-%06d"`, i%eventsPerPage), Digest: handoff.DigestOf(raw), Raw: raw,
		})
	}
	return r
}

// ledger is a projection of a common size: eight fields, one of them a sum.
type ledger struct{}

func (ledger) Traits() handoff.EffectTraits { return handoff.EffectTraits{Kind: handoff.Transactional} }

func (ledger) Plan(e handoff.Event) ([]handoff.DocChange, error) {
	c := handoff.DocChange{Entity: e.Entity, Set: map[string]json.RawMessage{}, Add: map[string]string{"total": "19.90"}, Position: e.Position}
	for i := range 7 {
		c.Set[fmt.Sprint("field_", i)] = jsonText(40)
	}
	return []handoff.DocChange{c}, nil
}

func (ledger) Call(context.Context, handoff.Event, string) handoff.CallResult {
	return handoff.CallResult{Kind: handoff.CallUnknown}
}

// one holds nothing but what its name says.
type one struct{ held string }

func (p one) Judge(e handoff.Event) (handoff.Ruling, error) {
	if e.ID == p.held {
		return handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "by hand"}, nil
	}
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

// hand is a clock that the test moves.
type hand struct{ now time.Time }

func (h *hand) Now() time.Time { return h.now }

type randomIDs struct{}

func (randomIDs) New() string { return rand.Text() }

// box keeps chunk messages; a poll's are not needed, the test polls.
type box struct {
	mu     sync.Mutex
	chunks []handoff.ChunkMessage
}

func (q *box) SendChunks(_ context.Context, ms []handoff.ChunkMessage, _ time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.chunks = append(q.chunks, ms...)
	return nil
}

func (q *box) SendPoll(context.Context, handoff.PollMessage, time.Duration) error { return nil }

// metered is a stream on a store whose calls are metered.
type metered struct {
	*testing.T
	*meter
	engine *handoff.Engine
	clock  *hand
	queue  *box
	b      handoff.Binding
}

func newMetered(t *testing.T) *metered {
	t.Helper()
	archive, err := dirarchive.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = archive.Close() })
	m := &metered{T: t, meter: &meter{}, clock: &hand{noon}, queue: &box{}}
	store := ddbstate.New(cloud.DynamoDB(m.install), cloud.Tables(t), ddbstate.Options{})
	m.engine = handoff.New(handoff.Deps{State: store, Archive: archive, Queue: m.queue, Clock: m.clock, IDs: randomIDs{}, Timing: handoff.DefaultTiming()})
	hash := handoff.DigestOf
	m.b = handoff.Binding{
		Settings: handoff.Settings{
			Stream: "billing/eu", Definition: "billing", Start: "token-1", Interval: time.Minute, Pages: 20, Lanes: handoff.LaneEntity,
			Contract: handoff.Contract{Ordered: true, Unique: true, ReceiptRetention: 90 * 24 * time.Hour},
			Revision: hash([]byte("r")), FetchHash: hash([]byte("f")), Identity: hash([]byte("i")), Policy: hash([]byte("p")), Effect: hash([]byte("e")),
		},
		Source: feed{}, Policy: one{}, Effect: ledger{},
	}
	return m
}

// poll is a tick in its step.
func (m *metered) poll(step string, want handoff.PollAct) {
	m.Helper()
	m.next(step)
	m.clock.now = m.clock.now.Add(time.Minute)
	r, err := m.engine.Poll(m.Context(), m.b, handoff.PollMessage{Stream: m.b.Stream})
	if err != nil || r.Did != want {
		m.Fatalf("%s: did %q and %v, want %q", step, r.Did, err, want)
	}
}

// apply delivers the one chunk that waits, in its step.
func (m *metered) apply(step string) handoff.ChunkMessage {
	m.Helper()
	m.next(step)
	if len(m.queue.chunks) != 1 {
		m.Fatalf("%s: %d chunks wait, want 1", step, len(m.queue.chunks))
	}
	chunk := m.queue.chunks[0]
	m.queue.chunks = nil
	if _, err := m.engine.Apply(m.Context(), m.b, handoff.Delivery{ChunkMessage: chunk, Receives: 1}); err != nil {
		m.Fatalf("%s: %v", step, err)
	}
	return chunk
}

// A settled event costs its two transactional writes, and one strong read of its document; everything else is the page's, and is
// listed. docs/performance.md shows what this prints.
func TestUnits(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	m.poll("start, open page 1", handoff.ActOpened)
	m.apply("settle 25 new entities, promote")
	m.poll("open page 2", handoff.ActOpened)
	chunk := m.apply("settle 25 events, promote")
	m.next("the same message again")
	m.deliver(chunk, 2)
	m.poll("turn an empty page", handoff.ActTurned)
	m.poll("tick, nothing new", handoff.ActCaughtUp)
	t.Log("\n" + m.table())

	h := newMetered(t)
	h.b.Policy = one{held: fmt.Sprintf(`"evt_%024d"`, 3)}
	h.poll("start, open page 1", handoff.ActOpened)
	chunk = h.apply("settle 24 events, hold one")
	h.poll("tick while it is held", handoff.ActBlocked)
	h.next("deliver again, still held")
	h.deliver(chunk, 2)
	h.next("ignore it, by hand")
	h.ignore(3)
	t.Log("\n" + h.table())

	for _, c := range []struct {
		m           *metered
		step        string
		read, write float64
	}{
		// 25 × (receipt and document, 1 KB each, twice as a transaction), and 1 for the chunk, 1 for the promote.
		{m, "settle 25 events, promote", 25 + 5, 25*4 + 2},
		{m, "the same message again", 2, 0},
		{m, "tick, nothing new", 3, 1},
		// The held receipt is written to the table and to the index of holds.
		{h, "settle 24 events, hold one", 24 + 3, 24*4 + 2},
		{h, "tick while it is held", 2, 0},
		{h, "deliver again, still held", 3 + 25, 2},
	} {
		if read, write := c.m.sum(c.step); read != c.read || write != c.write {
			t.Errorf("%s: %g read and %g write units, want %g and %g", c.step, read, write, c.read, c.write)
		}
	}
}

// deliver gives a chunk message to an apply, for the n-th time.
func (m *metered) deliver(chunk handoff.ChunkMessage, n int) {
	m.Helper()
	if _, err := m.engine.Apply(m.Context(), m.b, handoff.Delivery{ChunkMessage: chunk, Receives: n}); err != nil {
		m.Fatal(err)
	}
}

// ignore is an operator's decision on event n, as it stands.
func (m *metered) ignore(n int) {
	m.Helper()
	k := handoff.ReceiptKey{EventID: fmt.Sprintf(`"evt_%024d"`, n)}
	_, err := m.engine.Decide(m.Context(), handoff.Decision{
		ID: "d1", Stream: m.b.Stream, Kind: handoff.DecideIgnore, Actor: "ada", Reason: "seen to by hand", Event: k, Rev: 1,
	})
	if err != nil {
		m.Fatal(err)
	}
}
