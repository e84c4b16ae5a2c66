package walkthrough

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Pages overlap: 104 is shown twice, and the process dies before 107.
func overlapWithCrash(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.source.page("c0", "c1", evs("a", 103, 104)...)
	w.source.end("c1", "c1", evs("a", 104, 106, 107)...)
	w.tick(handoff.ActOpened)
	w.apply()
	w.at(2, "c1")
	w.applied("104")

	if r := w.tick(handoff.ActOpened); r.Events != 2 || r.Replays != 1 {
		w.Fatalf("the page opened with %d events and %d replays, want 106 and 107 new, 104 a replay", r.Events, r.Replays)
	}
	// 106 and 107 are one lane: die after 106 is durable, before 107.
	w.die("after", "apply/settle")
	w.apply()
	w.is("106", handoff.Applied)
	if _, ok := w.receipt("107"); ok {
		w.Fatal("107 has a receipt before anything was done about it")
	}
	w.at(2, "c1") // the cursor is not ahead of its page
	w.restart()
	w.settleAll()
	w.at(3, "c1")
	w.applied("107")
	w.effects("a", "103 104 106 107 < 107")
	w.clean()
}

// 210 applied, 211 held, 212 applied: the position is 210, whatever is done later; a decision that is only in memory counts for nothing.
func quarantine(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["211"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "looks odd"}
	w.source.page("c0", "c1", ev(210, "a"), ev(211, "b"), ev(212, "c"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("210", handoff.Applied)
	w.is("211", handoff.Held, handoff.HoldPolicy)
	w.is("212", handoff.Applied)
	w.at(1, "c0")
	w.clock.advance(5 * time.Minute)
	w.tick(handoff.ActDriven)
	w.apply()
	w.applied("210")
	w.at(1, "c0")

	// The decision dies before its transaction: nothing of it counts.
	w.die("before", "decide")
	if err := w.decide(handoff.DecideQuarantine, "211"); err == nil {
		w.Fatal("a decision that was never written was reported done")
	}
	w.restart()
	w.is("211", handoff.Held, handoff.HoldPolicy)
	w.clock.advance(20 * time.Minute)
	w.tick(handoff.ActDriven)
	w.apply()
	w.at(1, "c0")

	// A reversible hold: released, it is judged again, and the same rule does not stop it a second time.
	w.must(w.decide(handoff.DecideRelease, "211"))
	w.is("211", handoff.Released)
	w.at(1, "c0") // released is not terminal
	for _, m := range w.queue.takePolls() {
		if _, err := w.poll(w.engine, m); err != nil {
			w.Fatal(err)
		}
	}
	w.apply()
	w.is("211", handoff.Applied)
	w.at(2, "c1")
	w.applied("212")
	w.effects("b", "211 < 211")

	// And one that is quarantined for good.
	w.policy["213"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "looks odd"}
	w.source.end("c1", "c2", ev(213, "b"))
	w.source.end("c2", "c2")
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.decide(handoff.DecideQuarantine, "213"))
	w.refused(w.decide(handoff.DecideRelease, "213")) // terminal is for ever
	w.settleAll()
	w.at(3, "c2")
	w.applied("213")
	w.effects("b", "211 < 211")
	w.clean()
}

// Two deliveries of one chunk run at the same time; the slow one wakes after the fast one has finished and the page is turned.
func staleConcurrentRetry(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"), ev(3, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	w.tap.hook("before", "apply/settle", func() error { // the other one does everything while this one sleeps
		if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
			w.Error(err)
		}
		w.at(2, "c1")
		return nil
	})
	r, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1})
	w.must(err)
	if r.Applied != 0 || r.Replayed != 3 {
		w.Fatalf("the stale delivery applied %d and replayed %d, want 0 and 3", r.Applied, r.Replayed)
	}
	w.effects("a", "1 2 < 2")
	w.effects("b", "3 < 3")
	w.at(2, "c1")
	w.clean()
}

// An empty page with a new token is turned at once, and is not the end.
func emptyPage(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1")
	w.source.page("c1", "c2", ev(1, "a"))
	w.source.end("c2", "c2")
	w.tick(handoff.ActTurned)
	w.at(2, "c1")
	if ms := w.queue.takePolls(); len(ms) != 1 || ms[0].Version != 2 {
		w.Fatalf("continuations %v, want one that names version 2", ms)
	}
	w.settleAll()
	w.at(3, "c2")
	w.effects("a", "1 < 1")
	w.clean()
}

// Token T answers with T and with events: applied once, no spinning, visible as stalled if it lasts.
func selfTokenWithEvents(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c0", evs("a", 1, 2)...)
	w.tick(handoff.ActOpened)
	w.apply()
	w.at(2, "c0")
	if ms := w.queue.takePolls(); len(ms) != 0 {
		w.Fatalf("a token that does not move sent a continuation: %v", ms)
	}
	w.tick(handoff.ActStalled)
	w.clock.advance(time.Minute)
	w.tick(handoff.ActStalled)
	w.clock.advance(time.Minute)
	w.tick(handoff.ActHalted)
	if h := w.checkpoint().Halt; h == nil || h.Reason != handoff.HaltTokenStalled {
		w.Fatalf("halt %+v, want token_stalled", h)
	}
	w.effects("a", "1 2 < 2")
	w.clean()
}

// The same token and no events: at an end that is being caught up and writes nothing; not at an end it is a stall.
func selfTokenWithoutEvents(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.end("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.settleAll()
	before := w.at(2, "c1")
	for range 10 {
		w.tick(handoff.ActCaughtUp)
	}
	if after := w.checkpoint(); after.Rev != before.Rev {
		w.Fatalf("ten idle ends wrote the checkpoint:\n%+v\n%+v", before, after)
	}
	w.source.page("c1", "c1")
	w.tick(handoff.ActStalled)
	w.clock.advance(time.Minute)
	w.source.end("c1", "c1")
	w.tick(handoff.ActCaughtUp) // an end clears it
	w.source.page("c1", "c1")
	w.tick(handoff.ActStalled)
	w.clock.advance(time.Minute)
	w.tick(handoff.ActStalled)
	w.clock.advance(time.Minute)
	w.tick(handoff.ActHalted)
	w.at(2, "c1")
	w.clean()
}

// The process dies after the effect is durable and before anything else: the answer to the write is lost, then the whole process.
func acknowledgementLost(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", evs("a", 1, 2)...)
	w.source.end("c1", "c1")
	w.tap.hook("after", "open", func() error { return fmt.Errorf("%w: the line went dead", handoff.ErrUnknown) })
	w.tick(handoff.ActOpened) // read back by token: our own page
	w.tap.hook("after", "apply/settle", func() error { return fmt.Errorf("%w: the line went dead", handoff.ErrUnknown) })
	m := w.queue.takeChunks()[0]
	if r, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil || r.Applied != 2 || r.Replayed != 0 {
		w.Fatalf("%+v, %v: a receipt that is read back under our own token is success", r, err)
	}
	w.effects("a", "1 2 < 2")
	w.at(2, "c1")

	w.source.end("c1", "c2", ev(3, "a"))
	w.source.end("c2", "c2")
	w.tick(handoff.ActOpened)
	w.die("after", "apply/settle")
	w.apply()
	w.is("3", handoff.Applied)
	w.at(2, "c1") // applied, and the cursor still waits
	w.restart()
	w.settleAll()
	w.at(3, "c2")
	w.effects("a", "1 2 3 < 3")
	w.clean()
}

// Two polls ask with one token before either commits, and get different answers. One page opens.
func twoPolls(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"))
	w.source.end("c1", "c1")
	w.source.onAsk = func() {
		w.source.page("c0", "c9", ev(1, "a"), ev(5, "a"))
		if r, err := w.poll(w.other, handoff.PollMessage{}); err != nil || r.Did != handoff.ActOpened {
			w.Errorf("the fast poll did %v, %v", r, err)
		}
	}
	w.tick(handoff.ActStale)
	w.source.end("c9", "c9")
	w.settleAll()
	w.at(3-1, "c9")
	w.effects("a", "1 5 < 5")
	if _, ok := w.receipt("2"); ok {
		w.Fatal("an event of the page that lost has a receipt")
	}
	w.clean()
}

// The last chunk is done, and the process dies before the promote: the next poll promotes.
func deathBeforePromote(t *testing.T, open func(*testing.T) Backend) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			w := stage(t, open)
			w.source.page("c0", "c1", ev(1, "a"))
			w.source.end("c1", "c1")
			w.tick(handoff.ActOpened)
			w.die(when, "promote")
			w.apply()
			if when == "before" {
				w.at(1, "c0")
				w.restart()
				w.tick(handoff.ActPromoted)
			} else {
				w.restart()
			}
			w.at(2, "c1")
			w.settleAll()
			w.at(2, "c1")
			w.effects("a", "1 < 1")
			w.clean()
		})
	}
}

// A poll that names another version exits.
func oldPoll(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1")
	w.source.end("c1", "c1")
	w.tick(handoff.ActTurned)
	asked := len(w.source.asked)
	r, err := w.poll(w.engine, handoff.PollMessage{Version: 1})
	w.must(err)
	if r.Did != handoff.ActStale || len(w.source.asked) != asked {
		w.Fatalf("a continuation of version 1 did %q and asked the source %d times", r.Did, len(w.source.asked)-asked)
	}
}

// Near its deadline a delivery stops and hands the rest on; nothing is lost, and nothing counts against the chunk.
func deadline(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", evs("a", 1, 2, 3)...)
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	w.tap.hook("after", "apply/settle", func() error { w.clock.advance(25 * time.Second); return nil })
	d := handoff.Delivery{ChunkMessage: m, Receives: 1, Deadline: w.clock.Now().Add(30 * time.Second)}
	r, err := w.engine.Apply(w.ctx, w.b, d)
	w.must(err)
	if r.Applied != 1 {
		w.Fatalf("%d events were applied before the deadline, want 1", r.Applied)
	}
	if len(w.queue.chunks) != 1 {
		w.Fatalf("%d messages wait, want the rest of the chunk", len(w.queue.chunks))
	}
	w.apply()
	w.at(2, "c1")
	w.effects("a", "1 2 3 < 3")
	w.clean()
}

// Streams of one store never touch each other: same event ids, same tokens, one halted.
func isolated(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	other := w.b
	other.Stream = w.b.Stream + "/eu"
	other.Policy = policy{"1": {Verdict: handoff.VerdictHold, Rule: "no"}}
	if _, err := w.engine.Poll(w.ctx, other, handoff.PollMessage{Stream: other.Stream}); err != nil {
		w.Fatal(err)
	}
	for _, m := range w.queue.takeChunks() {
		if _, err := w.engine.Apply(w.ctx, other, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
			w.Fatal(err)
		}
	}
	w.settleAll()
	w.at(2, "c1")
	cp, err := w.inner.State.Checkpoint(w.ctx, other.Stream)
	w.must(err)
	if cp.Version != 1 || cp.ResumeCursor != "c0" {
		w.Fatalf("the other stream moved to version %d", cp.Version)
	}
	if _, err := w.inner.State.Doc(w.ctx, other.Stream, "a"); !errors.Is(err, handoff.ErrNotFound) {
		w.Fatalf("the held stream has a document: %v", err)
	}
	w.effects("a", "1 < 1")
}
