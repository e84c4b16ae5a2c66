package walkthrough

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// A poll fetches, sleeps, and wakes after a reset: its page does not open.
func frozenBeforeOpen(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("r", "r", ev(9, "a"))
	w.tap.hook("before", "open", func() error {
		w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
		return nil
	})
	w.tick(handoff.ActStale)
	w.at(2, "r")
	if _, ok := w.receipt("1"); ok {
		w.Fatal("an event of a page that never opened has a receipt")
	}
	w.settleAll()
	w.at(3, "r")
	w.effects("a", "9 < 9")
	w.clean()
}

// The page opens between the reset's read and its write: the reset closes the version whether or not it saw a page.
func resetRacingOpen(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(0, "z"))
	w.source.page("c1", "c2", ev(1, "a"), ev(2, "a"), ev(3, "b"))
	w.source.end("r", "r", ev(2, "a"))
	w.tick(handoff.ActOpened)
	w.apply()
	// The resetting process reads the checkpoint, then a poll opens version 2, then the reset is written.
	w.tap.hook("before", "decide", func() error {
		if r, err := w.poll(w.other, handoff.PollMessage{}); err != nil || r.Did != handoff.ActOpened {
			w.Errorf("the poll in between did %v, %v", r, err)
		}
		w.apply()
		return nil
	})
	_, err := w.engine.Decide(w.ctx, handoff.Decision{
		ID: "reset", Stream: w.b.Stream, Kind: handoff.DecideReset, Actor: "ada", Reason: "wrong start", Rev: w.checkpoint().Rev, Cursor: "r",
	})
	w.must(err)
	if cp := w.at(3, "r"); cp.Closing != 2 {
		w.Fatalf("closing is %d, want the version that the reset passed", cp.Closing)
	}
	w.refused(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "elsewhere"})) // one at a time
	w.settleAll()
	w.is("1", handoff.Superseded)
	w.is("3", handoff.Applied)
	w.effects("a", "2 < 2") // 2 came again on the page after the reset, and was applied once
	w.refused(w.decide(handoff.DecideRelease, "1"))
	w.must(w.decide(handoff.DecideIgnore, "1"))
	w.is("1", handoff.Ignored)
	page, err := w.inner.State.Page(w.ctx, w.b.Stream, 2)
	w.must(err)
	if !page.Abandoned {
		w.Fatal("the page that the reset passed is not marked abandoned")
	}
	w.clean()
}

// Pause and resume come while a reset is closing its page: closing goes on, nothing opens under a pause, the pause is kept.
func pauseWhileClosing(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("r", "r", ev(9, "a"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	if cp := w.checkpoint(); cp.Closing != 1 || !cp.Paused {
		w.Fatalf("closing %d paused %v, want both", cp.Closing, cp.Paused)
	}
	w.tick(handoff.ActPaused) // closes, and opens nothing
	if cp := w.checkpoint(); cp.Closing != 0 || !cp.Paused {
		w.Fatalf("closing %d paused %v, want closed and still paused", cp.Closing, cp.Paused)
	}
	w.is("1", handoff.Superseded)
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.settleAll()
	w.at(3, "r")
	w.effects("a", "9 < 9")

	// A pause that was read before the close must not bring `closing` back.
	w.source.end("r", "s", ev(10, "a"))
	w.source.end("s", "s")
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
	w.tap.hook("before", "decide", func() error {
		_, err := w.poll(w.other, handoff.PollMessage{})
		return err
	})
	_, err := w.engine.Decide(w.ctx, handoff.Decision{ID: "p", Stream: w.b.Stream, Kind: handoff.DecidePause, Actor: "ada", Reason: "lunch"})
	w.must(err)
	if cp := w.checkpoint(); cp.Closing != 0 || !cp.Paused {
		w.Fatalf("closing %d paused %v after a pause that raced the close", cp.Closing, cp.Paused)
	}
	w.clean()
}

// A poll that closes version 1 falls asleep and wakes when version 3 is open: it touches nothing of it.
func closingWakesLate(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.page("r", "r2", ev(7, "c"))
	w.source.page("r2", "r3", ev(1, "a"), ev(8, "d"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
	w.tap.hook("before", "close/settle", func() error {
		for range 2 { // another poll closes, turns version 2 and opens version 3, where event 1 is held again
			if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
				w.Error(err)
			}
			for _, m := range w.queue.takeChunks() {
				if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
					w.Error(err)
				}
			}
		}
		return nil
	})
	_, err := w.poll(w.engine, handoff.PollMessage{})
	w.must(err)
	r := w.is("1", handoff.Held, handoff.HoldPolicy)
	if r.PageVersion != 3 {
		w.Fatalf("event 1 is stamped with version %d, want the open page 3", r.PageVersion)
	}
	if cp := w.checkpoint(); cp.Version != 3 || cp.Closing != 0 {
		w.Fatalf("version %d closing %d", cp.Version, cp.Closing)
	}
	page, err := w.inner.State.Page(w.ctx, w.b.Stream, 3)
	w.must(err)
	if page.Abandoned {
		w.Fatal("the sleeper abandoned an open page")
	}
	delete(w.policy, "1")
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.source.end("r3", "r3")
	w.settleAll()
	w.effects("a", "1 < 1")
	w.clean()
}

// A call whose outcome is unknown lives through a reset: it stays held, blocks the page it turns up on again, and is decided once.
func ambiguousThroughReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallUnknown, Detail: "time-out"}}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.page("r", "r2", ev(1, "a"), ev(3, "c"))
	w.source.end("r2", "r2")
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("1", handoff.Held, handoff.HoldAmbiguous)
	w.refused(w.decide(handoff.DecideApplied, "1")) // the call may still be under way
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
	w.tick(handoff.ActOpened) // closes version 1, then opens version 2
	old := w.is("1", handoff.Held, handoff.HoldAmbiguous)
	if old.Attempt == nil {
		w.Fatal("closing cleared the attempt of an unknown call")
	}
	w.apply()
	if r := w.is("1", handoff.Held, handoff.HoldAmbiguous); r.PageVersion != 2 || r.Attempt == nil {
		w.Fatalf("the hold is on version %d with attempt %v, want taken over by version 2 whole", r.PageVersion, r.Attempt)
	}
	w.at(2, "r")
	w.clock.advance(time.Minute)
	w.must(w.decide(handoff.DecideApplied, "1"))
	w.settleAll()
	w.at(3, "r2")
	if got := w.sink.calls; len(got) != 3 || got[0] != "1" || got[1] != "2" || got[2] != "3" {
		w.Fatalf("calls %v, want each event once", got)
	}
	w.clean()
}

// Pause over a halt keeps the halt; resume acts on what it saw; pause lets an open page drain.
func pauseKeepsHalt(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", ev(3, "a"), ev(2, "a"))
	w.tick(handoff.ActOpened)
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	w.tick(handoff.ActBlocked)
	w.apply()
	w.at(2, "c1") // drained under the pause
	w.tick(handoff.ActPaused)
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.tick(handoff.ActHalted)
	stale := w.checkpoint().Rev
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	w.refused(w.command(handoff.Decision{Kind: handoff.DecideResume, Rev: stale})) // it saw a halt, now there is a pause over it
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.haltedBy(handoff.HaltOrderRegression)
	w.tick(handoff.ActHalted)
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.source.page("c1", "c2", ev(2, "a"), ev(3, "a"))
	w.source.end("c2", "c2")
	w.settleAll()
	w.effects("a", "1 2 3 < 3")
	w.refused(w.command(handoff.Decision{Kind: handoff.DecideResume})) // nothing to resume
	w.clean()
}
