package walkthrough

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// windowed gives a sink that forgets its keys after five minutes, and one event for it.
func windowed(t *testing.T, open func(*testing.T) Backend) *world {
	t.Helper()
	w := stage(t, open)
	w.sink.kind, w.sink.window = handoff.Idempotent, 5*time.Minute
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	return w
}

func (w *world) answers(kind handoff.CallKind) {
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: kind, Detail: string(kind)}}
}

// The first call had its effect and its answer was lost; the second is refused. The refusal speaks of the second alone: what a person
// sees is that the first may have been done, and no release may call again behind the window's back.
func refusedAfterUnknown(t *testing.T, open func(*testing.T) Backend) {
	w := windowed(t, open)
	w.answers(handoff.CallUnknown)
	w.apply()
	w.is("1", handoff.Retrying)
	w.answers(handoff.CallRefused)
	w.clock.advance(time.Minute)
	w.apply()
	r := w.is("1", handoff.Held, handoff.HoldAmbiguous)
	if r.Attempt == nil {
		t.Fatal("the attempt of the first call is forgotten")
	}
	w.answers(handoff.CallDone)
	w.clock.advance(20 * time.Minute)
	w.must(w.decide(handoff.DecideApplied, "1"))
	w.settleAll()
	w.at(2, "c1")
	if got := fmt.Sprint(w.sink.calls); got != "[1 1]" {
		t.Errorf("calls %s", got)
	}
	w.clean()
}

// A first call that is refused surely did nothing: effect_refused, no attempt, and a release begins another window.
func refusedAtFirst(t *testing.T, open func(*testing.T) Backend) {
	w := windowed(t, open)
	w.answers(handoff.CallRefused)
	w.apply()
	if r := w.is("1", handoff.Held, handoff.HoldEffectRefused); r.Attempt != nil {
		t.Error("an attempt stays of a call that did nothing")
	}
	w.answers(handoff.CallDone)
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.settleAll()
	w.is("1", handoff.Applied)
	w.clean()
}

// A sink that is down for longer than its window condemns nobody: each call surely did nothing, so the next begins a window of its own.
func downBeyondWindow(t *testing.T, open func(*testing.T) Backend) {
	w := windowed(t, open)
	w.answers(handoff.CallRetry)
	for range 4 {
		w.apply()
		if r := w.is("1", handoff.Retrying); r.Attempt != nil {
			t.Fatal("a window runs although nothing was done in it")
		}
		w.clock.advance(10 * time.Minute)
	}
	w.answers(handoff.CallDone)
	w.apply()
	w.is("1", handoff.Applied)
	w.clean()
}

// After a call whose outcome is unknown, "surely not done" speaks of the later call alone: the window of the first stays.
func retryAfterUnknown(t *testing.T, open func(*testing.T) Backend) {
	w := windowed(t, open)
	w.answers(handoff.CallUnknown)
	w.apply()
	first := w.is("1", handoff.Retrying)
	w.answers(handoff.CallRetry)
	w.clock.advance(time.Minute)
	w.apply()
	if r := w.is("1", handoff.Retrying); r.Attempt == nil || !r.Attempt.At.Equal(first.Attempt.At) {
		t.Fatalf("the window of the first call became %+v", r.Attempt)
	}
	w.clock.advance(10 * time.Minute)
	w.apply()
	w.is("1", handoff.Held, handoff.HoldAmbiguous)
	w.clean()
}

// A delivery sleeps over the refusal of its call. Meanwhile another calls under the same attempt, and dies with an answer nobody hears. The
// sleeper's refusal must not end the attempt.
func refusalSleeps(t *testing.T, open func(*testing.T) Backend) {
	for _, kind := range []handoff.CallKind{handoff.CallRefused, handoff.CallRetry} {
		t.Run(string(kind), func(t *testing.T) {
			w := windowed(t, open)
			m := w.queue.takeChunks()[0]
			again := func() error {
				_, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2})
				return err
			}
			w.answers(kind)
			w.tap.hook("before", "apply/settle", func() error {
				w.answers(handoff.CallUnknown)
				return again()
			})
			if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
				t.Fatal(err)
			}
			r, _ := w.receipt("1")
			if r.Attempt == nil {
				t.Fatalf("%s, and the attempt of the second call is forgotten", r.Outcome)
			}
			w.clock.advance(20 * time.Minute)
			w.must(again())
			w.is("1", handoff.Held, handoff.HoldAmbiguous)
			if got := fmt.Sprint(w.sink.calls); got != "[1 1]" {
				t.Errorf("calls %s", got)
			}
			w.clean()
		})
	}
}

// The second call dies before it writes anything but its claim: the claim alone tells the sleeper.
func claimTellsSleeper(t *testing.T, open func(*testing.T) Backend) {
	w := windowed(t, open)
	m := w.queue.takeChunks()[0]
	w.answers(handoff.CallRefused)
	sleeper := w.engine
	w.tap.hook("before", "apply/settle", func() error {
		w.answers(handoff.CallUnknown)
		w.restart() // another process, which dies with the answer
		w.die("before", "apply/settle")
		_, _ = w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2})
		return nil
	})
	if _, err := sleeper.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
		t.Fatal(err)
	}
	r, _ := w.receipt("1")
	if r.Attempt == nil {
		t.Fatalf("%s (%s), and the attempt of the second call is forgotten", r.Outcome, r.Reason)
	}
}

// A released event whose page is lost before it could be attempted, and then its id with another content: the first is listed again, a
// person decides it, and only then is the second a conflict. Nothing waits unseen.
func lostThenOtherContent(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	second := ev(1, "a")
	second.Body = "v2"
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1", second, ev(2, "b"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.decide(handoff.DecideRelease, "1"))
	dir := mustDirectory(w, 1)
	w.tap.archive = &forgetful{Archive: w.inner.Archive, gone: map[string]bool{dir.Object.Key: true, dir.Raw.Key: true}}
	_, err := w.engine.Decide(w.ctx, handoff.Decision{
		ID: "lost", Stream: w.b.Stream, Kind: handoff.DecideLost, Version: 1, Actor: "ada", Reason: "bucket emptied", Rev: w.checkpoint().Rev,
	})
	w.must(err)
	w.settleAll()
	w.is("1", handoff.Held, handoff.HoldIdentityConflict)
	held, _, err := w.inner.State.HeldReceipts(w.ctx, w.b.Stream, "", 10)
	w.must(err)
	if len(held) != 1 {
		t.Fatalf("%d receipts are listed, want the first content", len(held))
	}
	w.refused(w.decide(handoff.DecideRelease, "1")) // its page is no more
	w.must(w.decide(handoff.DecideIgnore, "1"))
	w.settleAll()
	c := w.conflicts("1")
	if c.Outcome != handoff.Held {
		t.Fatalf("the second content is %s", c.Outcome)
	}
	w.must(w.decideOn(handoff.DecideQuarantine, c))
	w.settleAll()
	w.at(3, "c1")
	w.effects("a", "")
	w.clean()
}

// A claimant wakes after its claim was held as ambiguous and looks at the stream; a reset and its closing pass; then it writes that surely
// nothing was done. Its write must not put the event on the abandoned page, unlisted.
func claimantAndReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.answers(handoff.CallRetry)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("r", "r")
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	w.tap.hook("before", "apply/settle", func() error { // asleep with its answer, for longer than its lease
		w.clock.advance(time.Hour)
		_, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2})
		w.is("1", handoff.Held, handoff.HoldAmbiguous)
		w.tap.hook("after", "read/checkpoint", func() error {
			w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
			_, err := w.poll(w.other, handoff.PollMessage{})
			return err
		})
		return err
	})
	if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
		t.Fatal(err)
	}
	if r, _ := w.receipt("1"); !r.Listed() {
		t.Fatalf("the event is %s on an abandoned page, and on no list", r.Outcome)
	}
	w.clean()
}
