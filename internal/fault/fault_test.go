package fault_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
)

// always strikes every call with one outcome.
func always(o fault.Outcome) func(fault.Call) fault.Outcome {
	return func(fault.Call) fault.Outcome { return o }
}

// start is a write of the simplest kind.
func start(s handoff.Stream) handoff.Tx {
	cp := handoff.Checkpoint{Stream: s, ResumeCursor: "c0", Version: 1, Rev: 1, Token: "t"}
	return handoff.Tx{Token: "t", Stream: s, Entry: &handoff.StreamEntry{Stream: s}, Checkpoint: &handoff.CheckpointWrite{If: handoff.Guard{Absent: true}, Put: &cp}}
}

// What each outcome does to a write with a condition: whether it is done, and what the caller hears.
func TestOutcomesOfAWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome fault.Outcome
		done    bool
		hears   error
	}{
		{fault.None, true, nil},
		{fault.ErrorBefore, false, handoff.ErrUnknown},
		{fault.ErrorAfter, true, handoff.ErrUnknown},
		{fault.RefusedAfter, true, handoff.ErrRefused},
		{fault.CrashBefore, false, fault.ErrDead},
		{fault.CrashAfter, true, fault.ErrDead},
		{fault.Conflict, false, handoff.ErrUnknown},
		{fault.Throttled, false, handoff.ErrUnknown},
		{fault.Unprocessed, false, handoff.ErrUnknown},
		{fault.Frozen, true, nil},
		{fault.Deadline, false, context.DeadlineExceeded},
	} {
		t.Run(string(c.outcome), func(t *testing.T) {
			t.Parallel()
			store := memstate.New()
			p := fault.New(always(c.outcome))
			ctx, end := p.Invocation(t.Context())
			defer end()
			err := p.State(store).Commit(ctx, start("s"))
			if !errors.Is(err, c.hears) || err != nil && c.hears == nil {
				t.Errorf("heard %v, want %v", err, c.hears)
			}
			_, err = store.Checkpoint(t.Context(), "s")
			if done := err == nil; done != c.done || c.outcome != fault.Deadline && c.outcome.Done() != done {
				t.Errorf("done is %v, want %v", done, c.done)
			}
			if p.Dead() != c.outcome.Crash() || (ctx.Err() != nil) != (c.outcome == fault.Deadline) {
				t.Errorf("dead %v, context %v", p.Dead(), ctx.Err())
			}
			if c.outcome == fault.None {
				return
			}
			if s := p.Struck(); len(s) != 1 || s[0] != (fault.Strike{Call: fault.Call{N: 1, Site: "start", Write: true}, Outcome: c.outcome}) {
				t.Errorf("struck %v", s)
			}
		})
	}
}

// A call without a condition is never refused, and one about a single thing never half done.
func TestOutcomesThatAreTheSame(t *testing.T) {
	t.Parallel()
	store := memstate.New()
	if err := store.Commit(t.Context(), start("s")); err != nil {
		t.Fatal(err)
	}
	for _, o := range fault.Outcomes() {
		p := fault.New(always(o))
		_, err := p.State(store).Checkpoint(t.Context(), "s")
		if errors.Is(err, handoff.ErrRefused) || (err == nil) != (o == fault.Frozen) {
			t.Errorf("%s of a read: %v", o, err)
		}
		told := fault.Call{Site: "read/checkpoint"}.Outcomes()
		if slices.Contains(told, o) != slices.Contains([]fault.Outcome{fault.ErrorBefore, fault.CrashBefore, fault.Frozen, fault.Deadline}, o) {
			t.Errorf("a read tells apart %v", told)
		}
	}
	for site, want := range map[string]fault.Outcome{
		"open": fault.RefusedAfter, "apply/settle": fault.Unprocessed, "send": fault.Unprocessed, "read/replays": fault.Unprocessed, "chunk": fault.ErrorAfter,
		"call": fault.Throttled, "ask": fault.ErrorAfter,
	} {
		if !slices.Contains(fault.Call{Site: site}.Outcomes(), want) {
			t.Errorf("%s does not tell %s apart", site, want)
		}
	}
}

// A dead process does nothing more, not even an outside call.
func TestTheDeadDoNothing(t *testing.T) {
	t.Parallel()
	store, sink := memstate.New(), &counter{}
	p := fault.New(nil)
	p.Kill()
	if err := p.State(store).Commit(t.Context(), start("s")); !errors.Is(err, fault.ErrDead) {
		t.Errorf("heard %v", err)
	}
	if r := p.Effect(sink).Call(t.Context(), handoff.Event{}, "k"); r.Kind != handoff.CallUnknown || sink.calls != 0 {
		t.Errorf("%d calls, %v", sink.calls, r)
	}
	if _, err := store.Checkpoint(t.Context(), "s"); !errors.Is(err, handoff.ErrNotFound) || len(p.Calls()) != 0 {
		t.Errorf("a dead process wrote: %v, calls %v", err, p.Calls())
	}
}

// counter is a sink that counts.
type counter struct{ calls int }

func (*counter) Traits() handoff.EffectTraits                    { return handoff.EffectTraits{Kind: handoff.Unsafe} }
func (*counter) Plan(handoff.Event) ([]handoff.DocChange, error) { return nil, nil }
func (c *counter) Call(context.Context, handoff.Event, string) handoff.CallResult {
	c.calls++
	return handoff.CallResult{Kind: handoff.CallDone}
}

// What a broken line says of an outside call is never a refusal; only a throttle says that nothing was done.
func TestOutsideCalls(t *testing.T) {
	t.Parallel()
	for o, want := range map[fault.Outcome]handoff.CallKind{
		fault.ErrorBefore: handoff.CallUnknown, fault.ErrorAfter: handoff.CallUnknown, fault.RefusedAfter: handoff.CallUnknown,
		fault.Conflict: handoff.CallUnknown, fault.Throttled: handoff.CallRetry, fault.CrashAfter: handoff.CallUnknown, fault.Frozen: handoff.CallDone,
	} {
		sink := &counter{}
		got := fault.New(always(o)).Effect(sink).Call(t.Context(), handoff.Event{}, "k")
		if got.Kind != want || (sink.calls == 1) != o.Done() {
			t.Errorf("%s: %s after %d calls, want %s", o, got.Kind, sink.calls, want)
		}
	}
}

// A frozen call waits for what others do, and then goes on.
func TestFrozen(t *testing.T) {
	t.Parallel()
	store := memstate.New()
	p := fault.New(always(fault.Frozen))
	var others error
	p.OnFreeze(func() { others = store.Commit(t.Context(), start("s")) })
	err := p.State(store).Commit(t.Context(), start("s"))
	if others != nil || !errors.Is(err, handoff.ErrRefused) {
		t.Errorf("the others heard %v, the frozen one %v", others, err)
	}
}

// Half of a call about many is done, and only the rest is unknown; a look-up for proof just finds less.
func TestUnprocessed(t *testing.T) {
	t.Parallel()
	store := memstate.New()
	p := fault.New(always(fault.Unprocessed))
	var items []handoff.Settlement
	var keys []handoff.ReceiptKey
	for _, id := range []string{"1", "2", "3", "4"} {
		r := handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: id}, Stream: "s", Outcome: handoff.Applied, Rev: 1, Token: id}
		items, keys = append(items, handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: handoff.Guard{Absent: true}, Put: r}}), append(keys, r.ReceiptKey)
	}
	for i, res := range p.State(store).Settle(t.Context(), "s", items) {
		if (res.Err == nil) != (i < 2) || i >= 2 && !errors.Is(res.Err, handoff.ErrUnknown) {
			t.Errorf("settlement %d: %v", i, res.Err)
		}
	}
	if found, err := store.Receipts(t.Context(), "s", keys, false); err != nil || len(found) != 2 {
		t.Errorf("%d receipts stand (%v), want 2", len(found), err)
	}
	if found, err := p.State(store).Receipts(t.Context(), "s", keys, true); err != nil || len(found) != 2 {
		t.Errorf("a look-up for proof: %d, %v", len(found), err)
	}
	if found, err := p.State(store).Receipts(t.Context(), "s", keys, false); !errors.Is(err, handoff.ErrUnknown) || found != nil {
		t.Errorf("a strong read gave %v, %v", found, err)
	}
	sent := &sender{}
	if err := p.Queue(sent).SendChunks(t.Context(), make([]handoff.ChunkMessage, 4), 0); err == nil || sent.n != 2 {
		t.Errorf("%d messages sent, %v", sent.n, err)
	}
}

type sender struct{ n int }

func (s *sender) SendChunks(_ context.Context, ms []handoff.ChunkMessage, _ time.Duration) error {
	s.n += len(ms)
	return nil
}
func (*sender) SendPoll(context.Context, handoff.PollMessage, time.Duration) error { return nil }

// The echo of a settlement comes with what it wrote itself.
func TestEchoOfASettlement(t *testing.T) {
	t.Parallel()
	p := fault.New(always(fault.RefusedAfter))
	put := handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: "1"}, Stream: "s", Outcome: handoff.Applied, Rev: 1, Token: "mine"}
	res := p.State(memstate.New()).Settle(t.Context(), "s", []handoff.Settlement{{ReceiptWrite: handoff.ReceiptWrite{If: handoff.Guard{Absent: true}, Put: put}}})[0]
	if !errors.Is(res.Err, handoff.ErrRefused) || res.Old == nil || res.Old.Token != "mine" {
		t.Errorf("%+v", res)
	}
}

// Hooks run once, around the call; one that never ran is told.
func TestHooks(t *testing.T) {
	t.Parallel()
	store := memstate.New()
	p := fault.New(nil)
	no := errors.New("no")
	p.Before("start", func() error { return no })
	if err := p.State(store).Commit(t.Context(), start("s")); !errors.Is(err, no) {
		t.Errorf("heard %v", err)
	}
	p.After("start", func() error {
		_, err := store.Checkpoint(t.Context(), "s")
		return errors.Join(no, err)
	})
	if got := p.Armed(); got != "after start" {
		t.Errorf("armed: %q", got)
	}
	if err := p.State(store).Commit(t.Context(), start("s")); !errors.Is(err, no) || errors.Is(err, handoff.ErrNotFound) {
		t.Errorf("heard %v: the hook runs after the write", err)
	}
	if p.Armed() != "" {
		t.Error("a hook is armed still")
	}
}
