package walkthrough

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// A held event is not attempted again by a chunk that a wait of another event sent again.
func heldNotCalledAgain(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRefused, Detail: "422"}, "2": {Kind: handoff.CallRetry, Detail: "503", After: 10 * time.Second}}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("1", handoff.Held, handoff.HoldEffectRefused)
	w.is("2", handoff.Retrying)
	w.sink.answers = nil // the sink takes both now; nobody released 1
	w.clock.advance(time.Minute)
	w.apply() // the chunk that the wait sent again
	if got := fmt.Sprint(w.sink.calls); got != "[1 2 2]" {
		w.Errorf("calls %s, want [1 2 2]: a held event was attempted again without a release", got)
	}
	r, _ := w.receipt("1")
	w.Logf("1 is %s", r.Outcome)
}

// A second content of an applied id never reaches the sink.
func conflictNotCalled(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.sink.kind = handoff.Idempotent
	w.source.page("c0", "c1", ev(1, "a"))
	other := ev(1, "a")
	other.Body = "v2"
	w.source.end("c1", "c2", other)
	w.source.end("c2", "c2")
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActOpened)
	w.apply()
	if c := w.conflicts("1"); c.Outcome != handoff.Held {
		w.Fatal(c.Outcome)
	}
	if len(w.sink.calls) != 1 {
		w.Errorf("calls %v: the second content of id 1 was sent to the sink, then held", w.sink.calls)
	}
}

// What was quarantined stays so: also when a reset shows it again, its sink is not called.
func quarantinedNotCalled(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRefused, Detail: "422"}, "2": {Kind: handoff.CallRefused, Detail: "422"}}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.decide(handoff.DecideQuarantine, "2"))
	w.sink.answers = nil
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c0"}))
	n := len(w.sink.calls)
	w.tick(handoff.ActOpened)
	w.apply()
	for _, c := range w.sink.calls[n:] {
		if c == "2" {
			w.Errorf("quarantined event 2 was sent to the sink: %v", w.sink.calls)
		}
	}
	w.is("2", handoff.Quarantined)
}

// A wait that is not over is kept by a delivery that another wait brought.
func waitsAreKept(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry, Detail: "503", After: 10 * time.Second}, "2": {Kind: handoff.CallRetry, After: 10 * time.Minute}}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.clock.advance(time.Minute)
	w.apply()
	if got := fmt.Sprint(w.sink.calls); got != "[1 2 1]" {
		w.Errorf("calls %s, want [1 2 1]: one retry of 1, and 2 must wait ten minutes", got)
	}
}

// Outside calls stop before the deadline too: nobody is killed in the middle of one.
func deadlineBetweenCalls(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	var rs []record
	for i := 1; i <= 20; i++ {
		rs = append(rs, ev(i, fmt.Sprint("e", i)))
	}
	w.source.page("c0", "c1", rs...)
	w.tick(handoff.ActOpened)
	dl := w.clock.Now().Add(30 * time.Second)
	var hook func()
	hook = func() {
		w.clock.advance(4 * time.Second)
		if w.clock.Now().After(dl) {
			w.tap.Kill() // Lambda killed it
		}
		w.sink.onCall = hook
	}
	w.sink.onCall = hook
	m := w.queue.takeChunks()[0]
	_, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1, Deadline: dl})
	if w.tap.Dead() {
		w.Errorf("still calling after the deadline (%v); calls %v", err, w.sink.calls)
	}
	w.restart()
	w.sink.onCall = nil
	w.clock.advance(5 * time.Minute)
	_, err = w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2})
	w.Logf("%v", err)
	for i := 1; i <= 20; i++ {
		if r, _ := w.receipt(fmt.Sprint(i)); r.Outcome != handoff.Applied {
			w.Errorf("%d is %s (%s)", i, r.Outcome, r.Reason)
		}
	}
}

type panicky struct{ policy }

func (p panicky) Judge(handoff.Event) (handoff.Ruling, error) {
	panic("nil dereference in a team's code")
}

// A panic is no orderly end: it counts as a death, and the event is held in the end.
func panicIsNoOrderlyEnd(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	w.b.Policy = panicky{w.policy}
	for n := 1; n <= 12; n++ {
		func() {
			defer func() { _ = recover() }()
			_, _ = w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: n})
		}()
		w.restart()
		w.clock.advance(time.Hour)
	}
	if r, ok := w.receipt("1"); !ok {
		w.Errorf("12 deliveries died of a panic, and nothing is held")
	} else {
		w.Log(r.Outcome, r.Reason)
	}
}

// A start whose answer was lost is taken back: nobody died.
func lostStartIsNoDeath(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	for n := 2; n <= 4; n++ {
		w.tap.hook("after", "poison/count", func() error { return fmt.Errorf("%w: throttled", handoff.ErrUnknown) })
		if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: n}); err == nil {
			w.Fatal("no error")
		}
		w.clock.advance(5 * time.Minute)
	}
	_, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 5})
	w.must(err)
	if r := w.mustReceipt("1"); r.Outcome != handoff.Applied {
		w.Errorf("1 is %s (%s) although no delivery died", r.Outcome, r.Reason)
	}
}

func (w *world) mustReceipt(id string) handoff.Receipt { r, _ := w.receipt(id); return r }

// A call that surely did nothing ends after a reset passed its page: superseded and listed, not waiting for nobody.
func retryAfterReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry, Detail: "503"}}
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("r", "r")
	w.tick(handoff.ActOpened)
	w.sink.onCall = func() {
		w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
		if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
			w.Error(err)
		}
	}
	w.apply()
	w.settleAll()
	r := w.mustReceipt("1")
	held, _, err := w.inner.State.HeldReceipts(w.ctx, w.b.Stream, "", 10)
	w.must(err)
	if r.Outcome != handoff.Superseded || len(held) != 1 {
		w.Errorf("1 is %s on version %d, %d listed; want superseded and listed", r.Outcome, r.PageVersion, len(held))
	}
	w.clean()
}

// An open page of a backfill breaks no invariant.
func backfillIsHealthy(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.end("c0", "c1", evs("a", 500, 510)...)
	w.source.end("c1", "c1")
	w.settleAll()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "old"}))
	w.source.page("old", "c0", evs("a", 100, 200)...)
	w.tick(handoff.ActOpened)
	w.clean()
}

// A held second content below the applied position breaks no invariant.
func conflictIsHealthy(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"))
	other := ev(1, "a")
	other.Body = "v2"
	w.source.end("c1", "c2", other, ev(3, "a"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActOpened)
	w.apply()
	w.clean()
}

// The prefix does not pass a hold on a page whose regression was accepted.
func regressionKeepsPrefix(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["3"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(4, "a"), ev(3, "b"), ev(7, "a"))
	w.tick(handoff.ActHalted)
	h := w.haltedBy(handoff.HaltOrderRegression)
	w.must(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: h.Answer.Digest}))
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("3", handoff.Held)
	w.clock.advance(time.Hour)
	w.tick(handoff.ActDriven)
	if p := w.checkpoint().AppliedPosition; !p.IsZero() {
		w.Errorf("applied position %s, and 3 is held", p)
	}
	w.clean()
}

// After an accepted regression the border is the greatest position, not the last.
func borderAfterRegression(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Gapless = true })
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"), ev(4, "a"), ev(3, "a"))
	w.source.page("c1", "c2", ev(5, "a"))
	w.source.end("c2", "c2")
	for range 2 {
		w.tick(handoff.ActHalted)
		h := w.checkpoint().Halt
		w.Log("page 1:", h.Reason, h.Detail)
		w.must(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: h.Answer.Digest}))
	}
	w.tick(handoff.ActOpened)
	w.apply()
	_, err := w.poll(w.engine, handoff.PollMessage{})
	w.must(err)
	if h := w.checkpoint().Halt; h != nil {
		w.Errorf("page 2: %s %s", h.Reason, h.Detail)
	}
}

// A turn that loses against an open is stale, not an error.
func turnRacingOpen(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1")
	w.tap.hook("before", "turn", func() error {
		w.source.page("c0", "c2", ev(1, "a"))
		r, err := w.poll(w.other, handoff.PollMessage{})
		if r.Did != handoff.ActOpened {
			w.Error(r.Did)
		}
		return err
	})
	n := len(w.tap.Calls())
	r, err := w.poll(w.engine, handoff.PollMessage{})
	if err != nil {
		w.Errorf("%v %v after %d operations", r.Did, err, len(w.tap.Calls())-n)
	}
}

// The events object of a page after a reset is rebuilt too, replays above the applied position included.
func rebuiltAfterReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.policy["3"] = w.policy["1"]
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"), ev(3, "c"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c0"}))
	w.tick(handoff.ActOpened)
	w.apply()
	dir, err := w.inner.State.Directory(w.ctx, w.b.Stream, 2)
	w.must(err)
	w.tap.archive = &forgetful{Archive: w.inner.Archive, gone: map[string]bool{dir.Object.Key: true}}
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.must(w.decide(handoff.DecideRelease, "3"))
	w.queue.takePolls()
	if _, err := w.poll(w.engine, handoff.PollMessage{Drive: true}); err != nil {
		w.Errorf("poll: %v", err)
	}
	for _, m := range w.queue.takeChunks() {
		if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
			w.Errorf("apply: %v", err)
		}
	}
}

// An accept is not dropped by a poll that asked before it.
func acceptSurvivesOldPoll(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c0")
	w.tick(handoff.ActStalled)
	// the poll asks, gets an idle end, sleeps; meanwhile another halts and an operator accepts
	w.source.end("c0", "c0")
	w.tap.hook("before", "note", func() error {
		w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"))
		if r, err := w.poll(w.other, handoff.PollMessage{}); err != nil || r.Did != handoff.ActHalted {
			w.Error(r.Did, err)
		}
		h := w.haltedBy(handoff.HaltOrderRegression)
		return w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: h.Answer.Digest})
	})
	r, err := w.poll(w.engine, handoff.PollMessage{})
	w.must(err)
	if n := len(w.checkpoint().Accepts); n != 1 {
		w.Errorf("poll did %s; %d accepts left: the operator's word is gone", r.Did, n)
	}
}

// A record without a place may stand just where a gap seems to be: it is held, and halts nothing, inside a page and across a border.
func gapOverInvalid(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Gapless = true })
	bad := func(id string) record { return record{ID: id, Entity: "a", Invalid: "no position"} }
	w.source.page("c0", "c1", ev(1, "a"), bad("x"), ev(3, "a"), bad("y"))
	w.source.page("c1", "c2", ev(5, "a"))
	w.source.page("c2", "c3", ev(7, "a"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.decide(handoff.DecideIgnore, "x"))
	w.must(w.decide(handoff.DecideIgnore, "y"))
	w.settleOpenPage()
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActHalted)
	w.haltedBy(handoff.HaltGap) // a real one
	w.effects("a", "1 3 5 < 5")
	w.clean()
}

// Polls that decisions ask for between two ticks do not count towards a stall.
func stallsCountTicks(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c0")
	for range 10 {
		w.tick(handoff.ActStalled)
	}
	if n := w.checkpoint().Stalls; n != 1 {
		w.Fatalf("ten polls in one tick count as %d", n)
	}
	w.clean()
}

// A delivery that ends at its deadline still sends the wait that it wrote.
func waitAtDeadline(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry, Detail: "503", After: 10 * time.Second}}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"), ev(3, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	w.sink.onCall = func() { w.clock.advance(21 * time.Second) }
	_, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1, Deadline: w.clock.Now().Add(30 * time.Second)})
	w.must(err)
	if n := len(w.queue.chunks); n != 2 || w.queue.delays[0] == 0 || w.queue.delays[1] != 0 {
		w.Fatalf("messages with delays %v, want the wait's and the rest's", w.queue.delays)
	}
	w.sink.answers = nil
	w.settleAll()
	w.at(2, "c1")
	w.clean()
}
