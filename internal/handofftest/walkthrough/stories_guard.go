package walkthrough

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// A page of several chunks: one that is done does not promote while another is held.

func barrier(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.ChunkSize = 1 })
	w.policy["2"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"), ev(3, "c"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("3", handoff.Applied)
	w.at(1, "c0")
	w.tick(handoff.ActBlocked)
	w.at(1, "c0")
	w.must(w.decide(handoff.DecideIgnore, "2"))
	w.settleAll()
	w.at(2, "c1")
	w.clean()
}

// A reset lands between a promote's read and its write, of a full page and of an empty one: the reset's word stands.

func resetRacingPromote(t *testing.T, open func(*testing.T) Backend) {
	for _, op := range []string{"promote", "turn"} {
		t.Run(op, func(t *testing.T) {
			w := stage(t, open)
			if op == "promote" {
				w.source.page("c0", "c1", ev(1, "a"))
			} else {
				w.source.page("c0", "c1")
			}
			w.source.end("r", "r")
			w.tap.hook("before", op, func() error {
				w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
				return nil
			})
			if _, err := w.poll(w.engine, handoff.PollMessage{}); err != nil {
				w.Fatal(err)
			}
			w.apply()
			if hook := w.tap.Armed(); hook != "" {
				w.Fatalf("the hook %s never ran", hook)
			}
			w.at(2, "r")
			w.settleAll()
			w.clean()
		})
	}
}

// A pause, or a reset to the very same cursor, lands between a fetch and its open: nothing opens.

func pauseRacingOpen(t *testing.T, open func(*testing.T) Backend) {
	for name, d := range map[string]handoff.Decision{
		"pause": {Kind: handoff.DecidePause}, "reset to the same cursor": {Kind: handoff.DecideReset, Cursor: "c0"},
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.source.page("c0", "c1", ev(1, "a"))
			w.tap.hook("before", "open", func() error { return w.command(d) })
			w.tick(handoff.ActStale)
			for v := range handoff.Version(3) {
				if _, err := w.inner.State.Page(w.ctx, w.b.Stream, v); !errors.Is(err, handoff.ErrNotFound) {
					w.Fatalf("version %d opened: %v", v, err)
				}
			}
			w.clean()
		})
	}
}

// An apply of a page that a reset passed sleeps before its write, and wakes when the event is superseded, or belongs to a later page.

func applyWakesAfterReset(t *testing.T, open func(*testing.T) Backend) {
	t.Run("superseded", func(t *testing.T) {
		w := stage(t, open)
		w.source.page("c0", "c1", ev(1, "a"))
		w.source.end("r", "r")
		w.tick(handoff.ActOpened)
		w.tap.hook("before", "apply/settle", func() error {
			w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
			_, err := w.poll(w.other, handoff.PollMessage{})
			return err
		})
		w.apply()
		w.is("1", handoff.Superseded)
		w.effects("a", "")
		w.clean()
	})
	t.Run("superseded twice", func(t *testing.T) { // the second page never wrote a receipt of its own before it was passed
		w := stage(t, open)
		w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
		w.source.page("c0", "c1", ev(1, "a"))
		w.source.page("r", "r2", ev(1, "a"))
		w.source.end("s", "s")
		w.tick(handoff.ActOpened)
		w.apply()
		w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
		w.tick(handoff.ActOpened)
		delete(w.policy, "1")
		w.tap.hook("before", "apply/settle", func() error {
			w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "s"}))
			_, err := w.poll(w.other, handoff.PollMessage{})
			return err
		})
		w.apply()
		if r := w.is("1", handoff.Superseded); r.PageVersion != 2 {
			w.Fatalf("stamped with version %d, want the page that was closed last", r.PageVersion)
		}
		w.effects("a", "")
		w.clean()
	})
	t.Run("a later page's", func(t *testing.T) {
		w := stage(t, open)
		w.source.page("c0", "c1", ev(1, "a"))
		w.source.end("r", "r", ev(1, "a"))
		w.tick(handoff.ActOpened)
		w.tap.hook("before", "apply/settle", func() error {
			w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
			w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
			if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
				return err
			}
			for _, m := range w.queue.takeChunks() {
				if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
					return err
				}
			}
			w.must(w.decideBy(w.other, handoff.DecideRelease, "1"))
			delete(w.policy, "1")
			return nil
		})
		w.apply()
		if r := w.is("1", handoff.Released); r.PageVersion != 2 {
			w.Fatalf("stamped with version %d", r.PageVersion)
		}
		w.settleAll()
		w.effects("a", "1 < 1")
		w.clean()
	})
}

// Two polls close one page; the slow one wakes when a second reset is closing the next: it must not end that one.

func closingWakesIntoAnother(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.policy["2"] = w.policy["1"]
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("r", "r2", ev(2, "a"))
	w.source.end("s", "s")
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
	w.tap.hook("before", "close", func() error {
		if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
			return err
		}
		for _, m := range w.queue.takeChunks() {
			if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
				return err
			}
		}
		return w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "s"})
	})
	r, err := w.poll(w.engine, handoff.PollMessage{})
	w.must(err)
	if cp := w.checkpoint(); cp.Closing != 2 || cp.Version != 3 {
		w.Fatalf("version %d closing %d after the sleeper did %q, want 3 and 2", cp.Version, cp.Closing, r.Did)
	}
	w.is("2", handoff.Held)
	w.settleAll()
	w.is("2", handoff.Superseded)
	w.clean()
}

// A process dies inside a call, and a reset passes the page: the attempt is not superseded, it is ambiguous. What is on no open page

// cannot be released. The claimant, if it lives after all, may still settle its own, without lowering the stamp.

func claimThroughReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("r", "r2", ev(2, "b"))
	w.source.end("r2", "r2", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.sink.onCall = func() { // while the call hangs
		w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
		if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
			w.Error(err)
		}
		r := w.is("1", handoff.Held, handoff.HoldAmbiguous)
		if r.Attempt == nil {
			w.Error("closing cleared an attempt that is under way")
		}
		w.clock.advance(time.Minute)
		w.refused(w.decideBy(w.other, handoff.DecideRelease, "1")) // its page is closed
		for range 2 {
			for _, m := range w.queue.takeChunks() {
				if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
					w.Error(err)
				}
			}
			if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
				w.Error(err)
			}
		}
		for _, m := range w.queue.takeChunks() {
			if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
				w.Error(err)
			}
		}
		if r := w.is("1", handoff.Held, handoff.HoldAmbiguous); r.PageVersion != 3 {
			w.Errorf("taken over by version %d, want 3", r.PageVersion)
		}
	}
	w.apply()
	if r := w.is("1", handoff.Applied); r.PageVersion != 3 || r.Attempt != nil {
		w.Fatalf("settled with stamp %d and attempt %v, want 3 and none", r.PageVersion, r.Attempt)
	}
	w.settleAll()
	w.at(4, "r2")
	if got := len(w.sink.calls); got != 2 {
		w.Fatalf("calls %v, want each event once", w.sink.calls)
	}
	w.clean()
}

// An ambiguous hold keeps its slot: another content of its id, on a later page, waits until it is decided, and is then a conflict.

func secondContentWaits(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallUnknown}}
	other := ev(1, "a")
	other.Body = "v2"
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("r", "r", other)
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
	w.tick(handoff.ActOpened)
	w.apply()
	if r := w.is("1", handoff.Held, handoff.HoldAmbiguous); r.PageVersion != 1 {
		w.Fatalf("the first content's hold moved to version %d for the sake of another content", r.PageVersion)
	}
	w.clock.advance(time.Hour)
	w.must(w.decide(handoff.DecideApplied, "1"))
	w.tick(handoff.ActDriven)
	w.apply()
	second := w.conflicts("1")
	if second.Reason != handoff.HoldIdentityConflict {
		w.Fatalf("the second content is %s (%s)", second.Outcome, second.Reason)
	}
	w.must(w.decideOn(handoff.DecideIgnore, second))
	w.settleAll()
	w.refused(w.decide(handoff.DecideIgnore, "1")) // applied is for ever
	if len(w.sink.calls) != 1 {
		w.Fatalf("calls %v", w.sink.calls)
	}
	w.clean()
}

// A poll judged a bad answer, and before it can halt another poll opened a page from a good one: there is nothing to halt.

func haltRacingOpen(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", ev(9, "a"), ev(8, "a"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.tap.hook("before", "halt", func() error {
		w.source.page("c1", "c2", ev(2, "a"))
		r, err := w.poll(w.other, handoff.PollMessage{})
		if r.Did != handoff.ActOpened {
			w.Errorf("the other poll did %q", r.Did)
		}
		return err
	})
	w.tick(handoff.ActStale)
	if h := w.checkpoint().Halt; h != nil {
		w.Fatalf("halted by %s over an open page", h.Reason)
	}
	w.source.end("c2", "c2")
	w.settleAll()
	w.at(3, "c2")
	w.effects("a", "1 2 < 2")
	w.clean()
}

// The sweep computed a prefix, slept, and woke when the page was turned: the applied position never decreases.

func prefixWakesLate(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["2"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"), ev(3, "c"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.clock.advance(time.Hour)
	w.tap.hook("before", "note", func() error {
		w.must(w.decideBy(w.other, handoff.DecideIgnore, "2"))
		for _, m := range w.queue.takeChunks() {
			if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
				return err
			}
		}
		w.at(2, "c1")
		return nil
	})
	w.tick(handoff.ActDriven)
	if hook := w.tap.Armed(); hook != "" {
		w.Fatalf("the hook %s never ran", hook)
	}
	w.applied("3")
	w.clean()
}

// The archive gives back other bytes than were put: nothing of them is applied.

func damagedChunk(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.tap.archive = damaged{w.inner.Archive}
	m := w.queue.takeChunks()[0]
	_, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1})
	if !errors.Is(err, handoff.ErrDigest) {
		w.Fatalf("got %v, want a digest error", err)
	}
	if _, ok := w.receipt("1"); ok {
		w.Fatal("damaged bytes were settled")
	}
	w.tap.archive = w.inner.Archive
	w.settleAll()
	w.effects("a", "1 < 1")
	w.clean()
}

// damaged swaps one byte of every range it reads, in a place that gzip does not check.

type damaged struct{ handoff.Archive }

func (d damaged) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	b, err := d.Archive.GetRange(ctx, key, off, n)
	if err == nil {
		b = append([]byte{}, b...)
		b[4] ^= 1 // the modification time in the gzip header
	}
	return b, err
}

// An accepted cycle is turned on, once.

// An entry of the spool for another cursor or another epoch is nobody's answer.

// A cached answer that was made for this very version brings its events without a fetch, and is dropped once used.

// The answer that an operator accepted is gone from the archive: the leave ends with it, and the source is asked again.

// An idle source of single-use tokens gives its token back: nothing is archived, tick after tick.
