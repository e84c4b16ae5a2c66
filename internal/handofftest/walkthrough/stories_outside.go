package walkthrough

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func claims(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.sink.answers = map[string]handoff.CallResult{
		"2": {Kind: handoff.CallUnknown, Detail: "time-out"},
		"3": {Kind: handoff.CallRefused, Detail: "422"},
	}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"), ev(3, "c"), ev(4, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.sink.onCall = func() { // while the first call is under way, the claim is durable
		if r := w.is("1", handoff.Claimed); r.Attempt == nil {
			w.Error("a claim without an attempt")
		}
	}
	w.apply()
	w.is("1", handoff.Applied)
	w.is("2", handoff.Held, handoff.HoldAmbiguous)
	if r := w.is("3", handoff.Held, handoff.HoldEffectRefused); r.Attempt != nil {
		w.Error("a refused call is known: its attempt ends")
	}
	if _, ok := w.receipt("4"); ok {
		w.Fatal("4 overtook 2")
	}
	w.refused(w.decide(handoff.DecideRelease, "2"))
	w.clock.advance(time.Minute)
	w.sink.answers = nil
	w.must(w.decide(handoff.DecideRelease, "2")) // an operator's word: attempt it again
	w.must(w.decide(handoff.DecideIgnore, "3"))
	w.settleAll()
	w.is("2", handoff.Applied)
	if got := fmt.Sprint(w.sink.calls); got != "[1 2 3 2 4]" {
		w.Fatalf("calls %s", got)
	}
	w.at(2, "c1")
	w.clean()
}

func sleptClaim(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	// It claims, calls, and freezes in the call. Others find the claim: first alive, then expired.
	w.sink.onCall = func() {
		again := func() {
			if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2}); err != nil {
				w.Error(err)
			}
		}
		again()
		w.is("1", handoff.Claimed)
		w.clock.advance(time.Minute)
		again()
		w.is("1", handoff.Held, handoff.HoldAmbiguous)
	}
	_, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1})
	w.must(err)
	w.is("1", handoff.Applied) // its own attempt: it knows what came of it
	if len(w.sink.calls) != 1 {
		w.Fatalf("calls %v", w.sink.calls)
	}

	// Slept between claim and call: no call is made under a claim that may have expired.
	w.source.end("c1", "c2", ev(2, "a"))
	w.source.end("c2", "c2")
	w.settleOpenPage()
	w.tick(handoff.ActOpened)
	w.tap.hook("after", "apply/claim", func() error { w.clock.advance(2 * time.Minute); return nil })
	w.apply()
	if r := w.is("2", handoff.Retrying); r.Attempt != nil || len(w.sink.calls) != 1 {
		w.Fatalf("attempt %v, calls %v: a sleeper called under an expired claim", r.Attempt, w.sink.calls)
	}
	w.settleAll()
	w.is("2", handoff.Applied)
	w.clean()
}

func (w *world) settleOpenPage() {
	w.Helper()
	v := w.checkpoint().Version
	for range 10 {
		if w.checkpoint().Version != v {
			return
		}
		if _, err := w.inner.State.Page(w.ctx, w.b.Stream, v); errors.Is(err, handoff.ErrNotFound) {
			return
		}
		if _, err := w.poll(w.other, handoff.PollMessage{Drive: true}); err != nil {
			w.Fatal(err)
		}
		w.apply()
	}
}

func idempotentWindow(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind, w.sink.window = handoff.Idempotent, 5*time.Minute
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallUnknown, Detail: "time-out"}, "2": {Kind: handoff.CallUnknown, Detail: "time-out"}}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	first := w.is("1", handoff.Retrying)
	if first.Attempt == nil {
		w.Fatal("the window is not remembered")
	}
	w.sink.answers = map[string]handoff.CallResult{"2": {Kind: handoff.CallUnknown, Detail: "time-out"}}
	w.clock.advance(time.Minute)
	w.apply() // the chunk that was sent again
	w.is("1", handoff.Applied)
	if r := w.is("2", handoff.Retrying); !r.Attempt.At.Equal(first.Attempt.At) {
		w.Fatalf("the second try moved the window from %v to %v", first.Attempt.At, r.Attempt.At)
	}
	w.clock.advance(5 * time.Minute)
	w.apply()
	w.is("2", handoff.Held, handoff.HoldAmbiguous)
	if got := fmt.Sprint(w.sink.calls); got != "[1 2 1 2]" {
		w.Fatalf("calls %s", got)
	}
	w.clean()
}

func retries(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.MaxAttempts = 3 })
	w.sink.kind = handoff.Idempotent
	down := handoff.CallResult{Kind: handoff.CallRetry, Detail: "503", After: 10 * time.Second}
	w.sink.answers = map[string]handoff.CallResult{"1": down}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("1", handoff.Retrying)
	w.is("2", handoff.Applied)
	if len(w.queue.chunks) != 1 || w.queue.delays[0] < 10*time.Second {
		w.Fatalf("messages %v with delays %v, want one with the sink's wait", w.queue.chunks, w.queue.delays)
	}
	m := w.queue.takeChunks()[0]
	for range 5 { // early copies leave the lane
		if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2}); err != nil {
			w.Fatal(err)
		}
	}
	if len(w.queue.chunks) != 0 || len(w.sink.calls) != 2 {
		w.Fatalf("early copies sent %d messages and made %d calls", len(w.queue.chunks), len(w.sink.calls)-2)
	}
	w.must(w.decide(handoff.DecideRetryNow, "1"))
	if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2}); err != nil {
		w.Fatal(err)
	}
	if r := w.is("1", handoff.Retrying); r.Attempts != 2 {
		w.Fatalf("%d attempts after retry_now, want 2", r.Attempts)
	}
	w.clock.advance(time.Hour)
	w.apply()
	w.is("1", handoff.Held, handoff.HoldEffectRefused) // the third was the last
	w.sink.answers = nil
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.settleAll()
	w.is("1", handoff.Applied)
	w.at(2, "c1")
	w.clean()
}

func effectChanged(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	w.die("before", "apply/settle") // the call was made, its receipt never written
	_, _ = w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1})
	w.restart()
	w.b.Settings.Effect = "e2"
	if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2}); err != nil {
		w.Fatal(err)
	}
	w.is("1", handoff.Held, handoff.HoldEffectChanged)
	if len(w.sink.calls) != 1 {
		w.Fatalf("calls %v, want no call under the new effect", w.sink.calls)
	}
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.settleAll()
	w.is("1", handoff.Applied)
	w.clean()
}
