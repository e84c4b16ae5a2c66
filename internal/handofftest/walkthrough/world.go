package walkthrough

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Backend is a store under test: an empty State and Archive, or fresh names on shared ones.
type Backend struct {
	State   handoff.State
	Archive handoff.Archive
}

// epoch is when every story begins.
var epoch = time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)

// clock is moved by the story alone.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// ids counts.
type ids struct {
	mu sync.Mutex
	n  int
}

func (i *ids) New() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.n++
	return fmt.Sprintf("id-%d", i.n)
}

// queue keeps messages until the story delivers them.
type queue struct {
	mu     sync.Mutex
	chunks []handoff.ChunkMessage
	delays []time.Duration
	polls  []handoff.PollMessage
}

func (q *queue) SendChunks(_ context.Context, ms []handoff.ChunkMessage, delay time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range ms {
		q.chunks, q.delays = append(q.chunks, m), append(q.delays, delay)
	}
	return nil
}

func (q *queue) SendPoll(_ context.Context, m handoff.PollMessage, _ time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.polls = append(q.polls, m)
	return nil
}

// takeChunks empties the queue.
func (q *queue) takeChunks() []handoff.ChunkMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	ms := q.chunks
	q.chunks, q.delays = nil, nil
	return ms
}

func (q *queue) takePolls() []handoff.PollMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	ms := q.polls
	q.polls = nil
	return ms
}

// world is one story's stage.
type world struct {
	*testing.T
	ctx    context.Context
	clock  *clock
	ids    *ids
	queue  *queue
	source *source
	sink   *sink
	policy policy
	tap    *tap // the faults of the process under test
	inner  Backend
	engine *handoff.Engine // the process under test
	other  *handoff.Engine // another process, never faulted
	b      handoff.Binding
}

// stage opens a world whose stream starts at cursor "c0".
func stage(t *testing.T, open func(*testing.T) Backend, edit ...func(*handoff.Settings)) *world {
	t.Helper()
	inner := open(t)
	w := &world{
		T: t, ctx: t.Context(), clock: &clock{now: epoch}, ids: &ids{}, queue: &queue{}, source: newSource(), sink: &sink{},
		policy: policy{}, inner: inner,
	}
	w.sink.kind, w.sink.clock = handoff.Transactional, w.clock
	name := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())
	w.b = handoff.Binding{
		Settings: handoff.Settings{
			Stream: handoff.Stream(name), Definition: name, Start: "c0", Interval: time.Minute, Pages: 20, Lanes: handoff.LaneEntity,
			Contract: handoff.Contract{Ordered: true, Unique: true}, Revision: "r1", FetchHash: "f1", Identity: "i1", Policy: "p1", Effect: "e1",
		},
		Source: w.source, Policy: w.policy, Effect: w.sink,
	}
	for _, f := range edit {
		f(&w.b.Settings)
	}
	w.restart()
	t.Cleanup(w.missed)
	w.other = handoff.New(w.deps(inner.State, inner.Archive, w.queue))
	return w
}

func (w *world) deps(s handoff.State, a handoff.Archive, q handoff.Queue) handoff.Deps {
	return handoff.Deps{State: s, Archive: a, Queue: q, Clock: w.clock, IDs: w.ids, Timing: handoff.DefaultTiming()}
}

// restart begins a new process on what is stored: nothing in memory survives.
func (w *world) restart() {
	w.missed()
	w.tap = &tap{Process: fault.New(nil), archive: w.inner.Archive}
	w.engine = handoff.New(w.deps(w.tap.State(w.inner.State), w.tap.Archive(behind{w.tap}), w.tap.Queue(w.queue)))
}

// missed fails a story whose fault never struck: it proves nothing.
func (w *world) missed() {
	if w.tap == nil {
		return
	}
	if hook := w.tap.Armed(); hook != "" {
		w.Errorf("the hook %s never ran", hook)
	}
}

// die makes the process die right before or after the next call of a site.
func (w *world) die(when, site string) {
	w.tap.hook(when, site, func() error { w.tap.Kill(); return fault.ErrDead })
}

func (w *world) poll(e *handoff.Engine, m handoff.PollMessage) (handoff.PollReport, error) {
	m.Stream = w.b.Stream
	return e.Poll(w.ctx, w.b, m)
}

// tick is a scheduled poll that must do what is said.
func (w *world) tick(want handoff.PollAct) handoff.PollReport {
	w.Helper()
	r, err := w.poll(w.engine, handoff.PollMessage{})
	if err != nil {
		w.Fatalf("tick: %v", err)
	}
	if r.Did != want {
		w.Fatalf("tick did %q (%s), want %q", r.Did, r.Detail, want)
	}
	return r
}

// apply delivers every chunk message that waits, once.
func (w *world) apply() {
	w.Helper()
	for _, m := range w.queue.takeChunks() {
		if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil && !errors.Is(err, fault.ErrDead) {
			w.Fatalf("apply: %v", err)
		}
	}
}

// settleAll polls and applies until nothing moves any more, like a schedule would, without anybody's help.
func (w *world) settleAll() {
	w.Helper()
	idle := 0
	for range 200 {
		r, err := w.poll(w.engine, handoff.PollMessage{})
		if err != nil {
			w.Fatalf("poll: %v", err)
		}
		w.apply()
		w.queue.takePolls()
		switch r.Did {
		case handoff.ActCaughtUp, handoff.ActHalted, handoff.ActPaused, handoff.ActBlocked, handoff.ActNotDue, handoff.ActDriven:
			idle++
			w.clock.advance(20 * time.Minute)
		default:
			idle = 0
		}
		if idle > 2 {
			return
		}
	}
	w.Fatal("the stream never came to rest")
}

func (w *world) checkpoint() handoff.Checkpoint {
	w.Helper()
	cp, err := w.inner.State.Checkpoint(w.ctx, w.b.Stream)
	if err != nil {
		w.Fatalf("checkpoint: %v", err)
	}
	return cp
}

// at requires where the stream stands.
func (w *world) at(v handoff.Version, cursor handoff.Cursor) handoff.Checkpoint {
	w.Helper()
	cp := w.checkpoint()
	if cp.Version != v || cp.ResumeCursor != cursor {
		w.Fatalf("the checkpoint stands at version %d, cursor %q; want %d, %q", cp.Version, cp.ResumeCursor, v, cursor)
	}
	return cp
}

func (w *world) applied(want string) {
	w.Helper()
	if got := w.checkpoint().AppliedPosition.String(); got != want {
		w.Fatalf("applied position is %q, want %q", got, want)
	}
}

func (w *world) receipt(id string, conflict ...string) (handoff.Receipt, bool) {
	w.Helper()
	key := handoff.ReceiptKey{EventID: jsonID(id)}
	if len(conflict) > 0 {
		key.Conflict = conflict[0]
	}
	found, err := w.inner.State.Receipts(w.ctx, w.b.Stream, []handoff.ReceiptKey{key}, false)
	if err != nil {
		w.Fatalf("receipt %s: %v", id, err)
	}
	r, ok := found[key]
	return r, ok
}

// is requires an event's outcome, and its reason if it is held.
func (w *world) is(id string, want handoff.Outcome, reason ...handoff.HoldReason) handoff.Receipt {
	w.Helper()
	r, ok := w.receipt(id)
	if !ok {
		w.Fatalf("event %s has no receipt, want %s", id, want)
	}
	if r.Outcome != want || len(reason) > 0 && r.Reason != reason[0] {
		w.Fatalf("event %s is %s (%s), want %s %v", id, r.Outcome, r.Reason, want, reason)
	}
	return r
}

// effects requires what was applied to an entity, in order: the second model is the story's own list.
func (w *world) effects(entity, want string) {
	w.Helper()
	doc, err := w.inner.State.Doc(w.ctx, w.b.Stream, entity)
	if errors.Is(err, handoff.ErrNotFound) {
		doc.Fields = nil
	} else if err != nil {
		w.Fatalf("document %s: %v", entity, err)
	}
	if got := trail(doc); got != want {
		w.Fatalf("entity %s saw %q, want %q", entity, got, want)
	}
}

// decide takes a decision on an event as it stands now.
func (w *world) decide(kind handoff.DecisionKind, id string) error {
	w.Helper()
	r, _ := w.receipt(id)
	return w.decideOn(kind, r)
}

func (w *world) decideOn(kind handoff.DecisionKind, r handoff.Receipt) error {
	return w.decideWith(w.engine, kind, r)
}

// decideBy is decide, through another process.
func (w *world) decideBy(e *handoff.Engine, kind handoff.DecisionKind, id string) error {
	w.Helper()
	r, _ := w.receipt(id)
	return w.decideWith(e, kind, r)
}

func (w *world) decideWith(e *handoff.Engine, kind handoff.DecisionKind, r handoff.Receipt) error {
	_, err := e.Decide(w.ctx, handoff.Decision{
		ID: w.ids.New(), Stream: w.b.Stream, Kind: kind, Actor: "ada", Reason: "checked by hand", Event: r.ReceiptKey, Rev: r.Rev,
	})
	return err
}

// command decides about the stream as it stands now.
func (w *world) command(d handoff.Decision) error {
	w.Helper()
	d.ID, d.Stream, d.Actor, d.Reason = w.ids.New(), w.b.Stream, "ada", "checked by hand"
	if d.Rev == 0 && d.Kind != handoff.DecideStart {
		d.Rev = w.checkpoint().Rev
	}
	_, err := w.other.Decide(w.ctx, d)
	return err
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// refused requires that a decision was refused because something changed.
func (w *world) refused(err error) {
	w.Helper()
	var c *handoff.ConflictError
	if !errors.As(err, &c) {
		w.Fatalf("got %v, want a conflict", err)
	}
}

// clean requires the invariants.
func (w *world) clean() {
	w.Helper()
	found, err := w.other.CheckInvariants(w.ctx, w.b.Stream)
	if err != nil {
		w.Fatalf("check: %v", err)
	}
	for _, v := range found {
		w.Errorf("%s broken at version %d, event %s: %s", v.Invariant, v.Version, v.EventID, v.Detail)
	}
	w.reread()
}

// reread audits with the definition: raw answers are read again, and documents compared with what their events say.
func (w *world) reread() {
	w.Helper()
	_, err := w.other.Audit(w.ctx, w.b.Stream, handoff.AuditOptions{Binding: &w.b, Deep: true}, func(f handoff.Finding) error {
		if f.Level != handoff.Leftover {
			w.Errorf("%s: %s (%s) at version %d, event %s: %s", f.Level, f.Kind, f.Invariant, f.Version, f.EventID, f.Detail)
		}
		return nil
	})
	if err != nil {
		w.Fatalf("audit: %v", err)
	}
}
