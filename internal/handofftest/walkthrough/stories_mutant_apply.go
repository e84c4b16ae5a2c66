package walkthrough

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// applyStories are about one delivery: what is judged, written, and left to the next one.
func applyStories() []story {
	return []story{
		{"EffectThatCannotBe", effectCannotBe}, {"TooLargeForATransaction", tooLarge}, {"PolicyThatFails", policyFails},
		{"PolicyIgnores", policyIgnores}, {"AnotherRuleHolds", anotherRule}, {"NewEffectFirstDelivery", newEffectFirst},
		{"NewEffectAfterADrive", newEffectDriven}, {"UnreadOutcomeFails", unreadOutcome}, {"UnknownIsNotCalledAgain", unknownNotCalledAgain},
		{"FailedAtTheDeadline", failedAtDeadline}, {"EarliestWait", earliestWait}, {"WaitsGrow", waitsGrow}, {"RebuiltByApply", rebuiltByApply},
		{"EventReadBack", eventReadBack},
	}
}

// unfit is an effect whose plan fails, or can never be carried out.
type unfit struct {
	*sink
	err error
}

func (u unfit) Plan(e handoff.Event) ([]handoff.DocChange, error) {
	if u.err != nil {
		return nil, u.err
	}
	return []handoff.DocChange{{Entity: e.Entity, Set: map[string]json.RawMessage{"x": json.RawMessage(`"text"`)}, Add: map[string]string{"x": "1"}}}, nil
}

// effectCannotBe: a projection that cannot be planned, or that the document cannot take, holds its event.
func effectCannotBe(t *testing.T, open func(*testing.T) Backend) {
	for name, err := range map[string]error{"no plan": errors.New("no such field"), "no such sum": nil} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.b.Effect = unfit{w.sink, err}
			w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"))
			w.turn()
			w.is("1", handoff.Held, handoff.HoldEffectRefused)
			w.none("2")
			w.b.Effect = w.sink
			w.must(w.decide(handoff.DecideRelease, "1"))
			w.driveNow()
			w.effects("a", "1 2 < 2")
			w.clean()
		})
	}
}

// tooLarge: an event that alone exceeds a transaction is held, when it is seen first and after a release.
func tooLarge(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	large := func() error { return fmt.Errorf("1 MB: %w", handoff.ErrTooLarge) }
	w.source.page("c0", "c1", ev(1, "a"))
	w.tap.hook("before", "apply/settle", large)
	w.turn()
	w.is("1", handoff.Held, handoff.HoldEffectRefused)
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.tap.hook("before", "apply/settle", large)
	w.driveNow()
	if r := w.is("1", handoff.Held, handoff.HoldEffectRefused); len(r.Answered) != 1 {
		w.Fatalf("answered holds are %v, want the one that was released", r.Answered)
	}
	w.clean()
}

type failing struct{}

func (failing) Judge(handoff.Event) (handoff.Ruling, error) {
	return handoff.Ruling{}, errors.New("no such field")
}

// policyFails: an event that policy cannot judge is held.
func policyFails(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.b.Policy = failing{}
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.is("1", handoff.Held, handoff.HoldPolicy)
	w.effects("a", "")
	w.clean()
}

// policyIgnores: what policy ignores or quarantines is settled without an effect.
func policyIgnores(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictIgnore, Rule: "test data"}
	w.policy["2"] = handoff.Ruling{Verdict: handoff.VerdictQuarantine, Rule: "odd"}
	w.source.page("c0", "c1", evs("a", 1, 2, 3)...)
	w.turn()
	if r := w.is("1", handoff.Ignored); r.Detail != "test data" {
		w.Errorf("ignored by %q", r.Detail)
	}
	w.is("2", handoff.Quarantined)
	w.effects("a", "3 < 3")
	w.at(2, "c1")
	w.clean()
}

// anotherRule: a release answers the rule that held the event; another rule, deployed meanwhile, holds it again.
func anotherRule(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "another"}
	w.driveNow()
	if r := w.is("1", handoff.Held, handoff.HoldPolicy); r.Detail != "another" {
		w.Fatalf("held by %q", r.Detail)
	}
	w.clean()
}

// newEffectFirst: an effect that was changed after the page opened changes nothing for a first delivery, for an event that already has a
// receipt, or for a projection.
func newEffectFirst(t *testing.T, open func(*testing.T) Backend) {
	t.Run("first delivery", func(t *testing.T) {
		w := stage(t, open)
		w.sink.kind = handoff.Idempotent
		w.source.page("c0", "c1", ev(1, "a"))
		w.tick(handoff.ActOpened)
		w.b.Settings.Effect = "e2"
		w.apply()
		w.is("1", handoff.Applied)
	})
	t.Run("with a receipt", func(t *testing.T) {
		w := stage(t, open)
		w.sink.kind = handoff.Idempotent
		w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry}}
		w.source.page("c0", "c1", ev(1, "a"))
		w.turn()
		w.sink.answers, w.b.Settings.Effect = nil, "e2"
		w.clock.advance(time.Hour)
		_, err := w.deliver(w.message(), 2)
		w.must(err)
		w.is("1", handoff.Applied)
	})
	t.Run("a projection", func(t *testing.T) {
		w := stage(t, open)
		w.source.page("c0", "c1", ev(1, "a"))
		w.tick(handoff.ActOpened)
		w.b.Settings.Effect = "e2"
		_, err := w.deliver(w.message(), 2)
		w.must(err)
		w.is("1", handoff.Applied)
	})
}

// newEffectDriven: a delivery after a drive is not the first, although its message is.
func newEffectDriven(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.die("before", "apply/settle")
	w.apply()
	w.restart()
	w.b.Settings.Effect = "e2"
	w.clock.advance(time.Hour)
	w.tick(handoff.ActDriven)
	w.apply()
	w.is("1", handoff.Held, handoff.HoldEffectChanged)
	w.clean()
}

// unreadOutcome: a write whose answer is lost and that cannot be read back fails the delivery and stops its lane; the message comes
// again.
func unreadOutcome(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	m := w.message()
	w.tap.hook("before", "apply/settle", func() error {
		w.tap.hook("before", "read/receipts", func() error { return handoff.ErrUnknown })
		return handoff.ErrUnknown
	})
	if _, err := w.deliver(m, 1); !errors.Is(err, handoff.ErrUnknown) {
		w.Fatalf("got %v, want unknown", err)
	}
	w.none("1")
	w.none("2")
	w.settleAll()
	w.effects("a", "1 2 < 2")
	w.clean()
}

// unknownNotCalledAgain: an outcome that is unknown is written again as it is: the sink is not called for it once more.
func unknownNotCalledAgain(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.tap.hook("before", "apply/settle", func() error { return handoff.ErrUnknown })
	w.apply()
	w.is("1", handoff.Applied)
	if n := len(w.sink.calls); n != 1 {
		w.Fatalf("%d calls", n)
	}
	w.clean()
}

// failedAtDeadline: a delivery that both failed and ran out of time comes again by itself; it sends nothing on top.
func failedAtDeadline(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	m := w.message()
	w.tap.hook("before", "apply/settle", func() error {
		w.clock.advance(25 * time.Second)
		w.tap.hook("before", "read/receipts", func() error { return handoff.ErrUnknown })
		return handoff.ErrUnknown
	})
	_, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1, Deadline: w.clock.Now().Add(30 * time.Second)})
	if err == nil || len(w.queue.chunks) != 0 {
		w.Fatalf("got %v, and %d messages", err, len(w.queue.chunks))
	}
	w.settleAll()
	w.at(2, "c1")
	w.clean()
}

// earliestWait: of several waits the earliest is the message's, and never more than a queue can wait.
func earliestWait(t *testing.T, open func(*testing.T) Backend) {
	later := func(d time.Duration) handoff.CallResult {
		return handoff.CallResult{Kind: handoff.CallRetry, Detail: "503", After: d}
	}
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": later(100 * time.Second), "2": later(10 * time.Second)}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.turn()
	if len(w.queue.delays) != 1 || w.queue.delays[0] < 10*time.Second || w.queue.delays[0] > 15*time.Second {
		w.Fatalf("delays are %v, want the earliest alone", w.queue.delays)
	}
	w.sink.answers = map[string]handoff.CallResult{"1": later(2 * time.Hour), "2": later(2 * time.Hour)}
	w.clock.advance(2 * time.Minute)
	w.apply()
	if len(w.queue.delays) != 1 || w.queue.delays[0] != 15*time.Minute {
		w.Fatalf("delays are %v, want the queue's longest", w.queue.delays)
	}
	w.clean()
}

// waitsGrow: a sink that only says "later" is asked at growing distances.
func waitsGrow(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry}}
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	last := time.Duration(0)
	for range 5 {
		w.apply()
		wait := w.is("1", handoff.Retrying).NextAt.Sub(w.clock.Now())
		if wait <= last {
			w.Fatalf("a wait of %s after one of %s", wait, last)
		}
		last = wait
		w.clock.advance(time.Hour)
	}
	w.clean()
}

// rebuiltByApply: the events object is gone before the first delivery: the delivery lays it out again.
func rebuiltByApply(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.tap.archive = &forgetful{Archive: w.inner.Archive, gone: map[string]bool{mustDirectory(w, 1).Object.Key: true}}
	w.apply()
	w.at(2, "c1")
	w.clean()
}

// eventReadBack: an event's bytes come back as they came, also those that are no text; a receipt that names a chunk which its page does not have gives no event, and no panic.
func eventReadBack(t *testing.T, open func(*testing.T) Backend) {
	const odd = "{\"name\": \"\xff\"}"
	w := stage(t, open)
	w.reads(func(_ handoff.Answer, r *handoff.Reading) { r.Events[0].Raw = []byte(odd) })
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	r := w.is("1", handoff.Applied)
	if e, err := w.other.EventOf(w.ctx, r); err != nil || string(e.Raw) != odd {
		w.Errorf("%q %v, want %q", e.Raw, err, odd)
	}
	for _, chunk := range []int{-1, 1} {
		r.Chunk = chunk
		if _, err := w.other.EventOf(context.Background(), r); !errors.Is(err, handoff.ErrNotFound) {
			w.Errorf("chunk %d: %v", chunk, err)
		}
	}
}
