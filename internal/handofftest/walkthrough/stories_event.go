package walkthrough

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The same id comes back with another content: held on a receipt of its own, decided once, and quiet ever after.

func sameIDOtherContent(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.source.page("c0", "c1", ev(1, "a"))
	other := ev(1, "a")
	other.Body = "v2"
	w.source.end("c1", "c2", other, ev(2, "a"))
	w.source.end("c2", "c2", other, ev(2, "a"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("1", handoff.Applied)
	second := w.conflicts("1")
	if second.Outcome != handoff.Held || second.Reason != handoff.HoldIdentityConflict {
		w.Fatalf("the second content is %s (%s)", second.Outcome, second.Reason)
	}
	if _, ok := w.receipt("2"); ok {
		w.Fatal("2 is of the same entity and must wait")
	}
	w.at(2, "c1")
	w.refused(w.decideOn(handoff.DecideRelease, second)) // never applied
	w.must(w.decideOn(handoff.DecideIgnore, second))
	w.settleAll()
	w.at(3, "c2")
	w.tick(handoff.ActCaughtUp) // the settled conflict does not come back on every poll
	w.effects("a", "1 2 < 2")
	w.clean()
}

// conflicts finds the receipt of the second content of an id.

func (w *world) conflicts(id string) handoff.Receipt {
	w.Helper()
	rs, _, err := w.inner.State.ListReceipts(w.ctx, w.b.Stream, "", 100)
	w.must(err)
	for _, r := range rs {
		if r.EventID == jsonID(id) && r.Conflict != "" {
			return r
		}
	}
	w.Fatalf("no second content of %s", id)
	return handoff.Receipt{}
}

// Both contents come on one page: the first one counts, equal ones fold into one event.

func sameIDInOnePage(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	other := ev(1, "b") // its entity differs too: still the first one's lane
	other.Body = "v2"
	w.source.page("c0", "c1", ev(1, "a"), ev(1, "a"), other, ev(2, "a"))
	w.source.end("c1", "c1")
	if r := w.tick(handoff.ActOpened); r.Events != 3 {
		w.Fatalf("%d events opened, want 3: equal ones are one", r.Events)
	}
	w.apply()
	w.is("1", handoff.Applied)
	w.must(w.decideOn(handoff.DecideQuarantine, w.conflicts("1")))
	w.settleAll()
	w.at(2, "c1")
	w.effects("a", "1 2 < 2")
	w.effects("b", "")
	w.clean()
}

// A record without its id is an event all the same: held, shown, settled like any other.

func invalidRecord(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	bad := record{ID: "bad", Pos: "2", Entity: "a", Invalid: "no id"}
	w.source.page("c0", "c1", ev(1, "a"), bad, ev(3, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("3", handoff.Applied) // a lane of its own holds nobody but its page
	r := w.is("bad", handoff.Held, handoff.HoldInvalidEvent)
	w.at(1, "c0")
	st, err := w.other.Status(w.ctx, w.b.Stream)
	w.must(err)
	if st.Blocked == nil || st.Blocked.By != "hold: invalid_event" || st.Blocked.Event.EventID != r.EventID || !st.Blocked.Since.Equal(epoch) {
		w.Fatalf("status says %+v", st.Blocked)
	}
	event, err := w.other.EventOf(w.ctx, r)
	w.must(err)
	if !strings.Contains(string(event.Raw), `"id":"bad"`) {
		w.Fatalf("the archive gives back %q", event.Raw)
	}
	w.must(w.decide(handoff.DecideQuarantine, "bad"))
	w.settleAll()
	w.at(2, "c1")
	w.clean()
}

// Unsafe sinks: a claim before the call; an unknown answer is held with its attempt, and decided only when nobody can be at work.

// A claimant dies after its claim, another finds it expired; one that slept through its lease does not call; one that still matches may

// settle its own ambiguous hold.

// settleOpenPage brings the open page to its promote without asking for more.

// A sink that forgets its keys: within the window a repeated call is harmless, beyond it nobody knows.

// A wait is a receipt: the writer alone sends the chunk again, copies do not multiply, and an operator can cut it short.

// The effect changes while a page is open: what an earlier delivery may have called is not called blindly under the new one.

// A chunk whose deliveries keep dying holds the event they die on; slow queues and sinks that are down condemn nobody.

func crashLoop(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	m := w.queue.takeChunks()[0]
	deliver := func(n int) {
		w.Helper()
		if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: n}); err != nil && !errors.Is(err, fault.ErrDead) {
			w.Fatal(err)
		}
	}
	for n := 1; n <= 4; n++ {
		w.die("before", "apply/settle")
		deliver(n)
		w.restart()
		w.clock.advance(time.Minute)
	}
	if _, ok := w.receipt("1"); ok {
		w.Fatal("held before enough deliveries died: the first one does not count")
	}
	deliver(5)
	w.is("1", handoff.Held, handoff.HoldCrashLoop)
	w.is("2", handoff.Held, handoff.HoldCrashLoop)
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.must(w.decide(handoff.DecideIgnore, "2"))
	deliver(6)
	w.is("1", handoff.Applied)
	w.at(2, "c1")

	// Orderly ends take their count back: many redeliveries that end in a hold are no crash loop.
	w.policy["3"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.end("c1", "c2", ev(3, "a"), ev(4, "a"))
	w.source.end("c2", "c2")
	w.tick(handoff.ActOpened)
	m = w.queue.takeChunks()[0]
	for n := 1; n < 10; n++ {
		deliver(n)
		w.clock.advance(time.Hour)
	}
	w.is("3", handoff.Held, handoff.HoldPolicy)
	w.must(w.decide(handoff.DecideRelease, "3"))
	deliver(10)
	w.effects("a", "1 3 4 < 4")

	// Several die at once: none of them is known to be dead yet, so nothing is held.
	w.source.end("c2", "c3", ev(5, "a"))
	w.source.end("c3", "c4", record{ID: "2b", Pos: "2.5", Entity: "a"}, ev(6, "a"))
	w.source.end("c4", "c4")
	w.tick(handoff.ActOpened)
	m = w.queue.takeChunks()[0]
	for n := 1; n <= 5; n++ {
		w.die("before", "apply/settle")
		deliver(n)
		w.restart()
	}
	deliver(6)
	w.is("5", handoff.Applied)

	// A crash loop that is released answers for the crash loop alone: the event is late as well.
	w.tick(handoff.ActOpened)
	m = w.queue.takeChunks()[0]
	for n := 1; n <= 4; n++ {
		w.die("before", "apply/settle")
		deliver(n)
		w.restart()
		w.clock.advance(time.Minute)
	}
	deliver(5)
	w.is("2b", handoff.Held, handoff.HoldCrashLoop)
	w.must(w.decide(handoff.DecideRelease, "2b"))
	deliver(6)
	w.is("2b", handoff.Held, handoff.HoldLate)
	w.clean()
}

// The events object is gone: it is laid out again from the raw answer, byte for byte.

func rebuilt(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.source.page("c0", "c1", evs("a", 1, 5)...)
	w.source.end("c1", "c2", append(evs("a", 3, 5, 6), ev(7, "b"))...)
	w.source.end("c2", "c2")
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("3", handoff.Held, handoff.HoldLate)
	dir, err := w.inner.State.Directory(w.ctx, w.b.Stream, 2)
	w.must(err)
	w.tap.archive = &forgetful{Archive: w.inner.Archive, gone: map[string]bool{dir.Object.Key: true}}
	w.must(w.decide(handoff.DecideRelease, "3"))
	w.settleAll()
	w.at(3, "c2")
	w.effects("a", "1 3 5 6 < 6")
	w.clean()
}

// Both are gone: the operator says so, the page is turned without them, and its holds stay listed.

func lostPage(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("c1", "c1", ev(3, "c"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.refused(w.command(handoff.Decision{Kind: handoff.DecideLost, Version: 1})) // it is all there
	dir, err := w.inner.State.Directory(w.ctx, w.b.Stream, 1)
	w.must(err)
	raw := dir.Raw.Key
	lost := &forgetful{Archive: w.inner.Archive, gone: map[string]bool{dir.Object.Key: true, raw: true}}
	w.tap.archive = lost
	w.clock.advance(time.Hour)
	if _, err := w.poll(w.engine, handoff.PollMessage{}); err == nil {
		for _, m := range w.queue.takeChunks() {
			if _, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err == nil {
				w.Fatal("a chunk whose bytes are gone was settled")
			}
		}
	}
	w.queue.takeChunks()
	_, err = w.engine.Decide(w.ctx, handoff.Decision{
		ID: "lost", Stream: w.b.Stream, Kind: handoff.DecideLost, Version: 1, Actor: "ada", Reason: "bucket emptied", Rev: w.checkpoint().Rev,
	})
	w.must(err)
	w.at(2, "c1")
	w.is("1", handoff.Held, handoff.HoldPolicy)
	w.settleAll()
	w.is("3", handoff.Applied)
	w.must(w.decide(handoff.DecideIgnore, "1"))
	w.clean()
}

// forgetful is an archive that lost objects; what is put again is there.

type forgetful struct {
	handoff.Archive
	gone map[string]bool
}

func (f *forgetful) Get(ctx context.Context, key string) ([]byte, error) {
	if f.gone[key] {
		return nil, fmt.Errorf("get %s: %w", key, handoff.ErrNotFound)
	}
	return f.Archive.Get(ctx, key)
}

func (f *forgetful) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if f.gone[key] {
		return nil, fmt.Errorf("get %s: %w", key, handoff.ErrNotFound)
	}
	return f.Archive.GetRange(ctx, key, off, n)
}

func (f *forgetful) Put(ctx context.Context, key string, body []byte) error {
	delete(f.gone, key)
	return f.Archive.Put(ctx, key, body)
}

// A decision is repeated under its id: the answer is the first one's, and nothing happens twice. Another request under that id is refused.

func decisionRepeated(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	r := w.is("1", handoff.Held)
	d := handoff.Decision{ID: "once", Stream: w.b.Stream, Kind: handoff.DecideIgnore, Actor: "ada", Reason: "known", Event: r.ReceiptKey, Rev: r.Rev}
	w.die("after", "decide") // the answer never arrives
	if _, err := w.engine.Decide(w.ctx, d); !errors.Is(err, handoff.ErrUnknown) {
		w.Fatalf("a lost answer was reported as %v, want unknown", err)
	}
	w.restart()
	first, err := w.engine.Decide(w.ctx, d)
	w.must(err)
	second, err := w.engine.Decide(w.ctx, d)
	w.must(err)
	if first != second || first.Outcome != handoff.Ignored {
		w.Fatalf("answers differ: %+v, %+v", first, second)
	}
	d.Kind = handoff.DecideQuarantine
	_, err = w.engine.Decide(w.ctx, d)
	w.refused(err)
	audits, _, err := w.inner.State.Audits(w.ctx, w.b.Stream, "", 100)
	w.must(err)
	n := 0
	for _, a := range audits {
		if a.Event.EventID == r.EventID {
			n++
			if a.Actor != "ada" || a.Reason != "known" || !strings.Contains(a.Before, "held (policy)") || !strings.Contains(a.After, "ignored") {
				w.Errorf("audit says %+v", a)
			}
		}
	}
	if n != 1 {
		w.Fatalf("%d audit lines for one decision", n)
	}
	bad := d
	bad.ID, bad.Reason = "x", " "
	var invalid *handoff.InvalidError
	if _, err = w.engine.Decide(w.ctx, bad); !errors.As(err, &invalid) {
		w.Fatalf("a decision without a reason: %v", err)
	}
	w.settleAll()
	w.clean()
}

// A release answers one hold. Another rule, or another check, still holds the event.

func releaseSuppresses(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["15"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "first"}
	w.source.page("c0", "c1", ev(10, "a"), ev(20, "a"))
	w.source.end("c1", "c2", ev(15, "a"), ev(30, "b"))
	w.source.end("c2", "c2")
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActOpened)
	w.apply()
	w.is("15", handoff.Held, handoff.HoldLate)
	w.must(w.decide(handoff.DecideRelease, "15"))
	w.settleOpenPage()
	w.is("15", handoff.Held, handoff.HoldPolicy) // late was answered, the rule was not
	w.must(w.decide(handoff.DecideRelease, "15"))
	w.settleAll()
	w.is("15", handoff.Applied) // both were answered: neither comes back
	w.at(3, "c2")
	w.clean()
}
