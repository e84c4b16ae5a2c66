package walkthrough

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// poisonStories are about deliveries that die.
func poisonStories() []story {
	return []story{
		{"TwoDeathsAreNoLoop", twoDeaths}, {"YoungStartsAreNotDead", youngStarts}, {"CountTakenBackWithoutTime", countTakenBack},
		{"HeadsOfAPoisonedChunk", poisonedHeads},
	}
}

// twoDeaths: one death less than makes a loop: the next delivery works as usual.
func twoDeaths(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	m := w.message()
	for range 2 {
		w.dies(m, "poison/count")
		w.clock.advance(time.Minute)
	}
	_, err := w.deliver(m, 2)
	w.must(err)
	w.is("1", handoff.Applied)
	w.clean()
}

// youngStarts: a start is dead only a margin after the longest life of a function.
func youngStarts(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	m := w.message()
	for range 5 {
		w.dies(m, "poison/count")
	}
	w.clock.advance(32 * time.Second)
	_, err := w.deliver(m, 2)
	w.must(err)
	w.is("1", handoff.Applied)
	w.clean()
}

// countTakenBack: a delivery whose own time is over takes its count back all the same.
func countTakenBack(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	m := w.message()
	ctx, cancel := context.WithCancel(w.ctx)
	w.tap.hook("after", "apply/settle", func() error { cancel(); return nil })
	_, _ = w.engine.Apply(ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2})
	probe := handoff.Start{Token: "probe", At: w.clock.Now()}
	if all, err := w.inner.State.AddStart(w.ctx, w.b.Stream, 1, 0, probe); err != nil || len(all) != 1 {
		w.Fatalf("starts %v %v, want the probe alone", all, err)
	}
}

// poisonedHeads: a poisoned chunk holds the first open event of each lane that is not at a hold, a wait or a claim; nothing else, and
// nothing is forgotten.
func poisonedHeads(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.holds("5")
	w.source.page("c0", "c1", ev(5, "e"))
	w.turn()
	w.reset("r") // 5 will be superseded
	w.source.page("r", "r2", ev(1, "a"), ev(2, "a"), ev(3, "a"), ev(5, "e"), ev(6, "f"), ev(7, "g"), ev(8, "h"))
	w.tick(handoff.ActOpened)
	m := w.message()
	w.stand(ev(1, "a"), func(r *handoff.Receipt) { r.Outcome = handoff.Applied })
	w.stand(ev(6, "f"), func(r *handoff.Receipt) { r.Outcome, r.NextAt = handoff.Retrying, epoch.Add(24*time.Hour) })
	w.stand(ev(7, "g"), func(r *handoff.Receipt) {
		r.Outcome, r.Answered = handoff.Released, []handoff.AnsweredHold{{Reason: handoff.HoldPolicy, Detail: "ask"}}
	})
	w.stand(ev(8, "h"), func(r *handoff.Receipt) { r.Outcome, r.Reason, r.HeldAt = handoff.Held, handoff.HoldPolicy, epoch })
	for range 3 {
		w.dies(m, "poison/count")
	}
	w.clock.advance(time.Minute)
	_, err := w.deliver(m, 2)
	w.must(err)
	w.is("2", handoff.Held, handoff.HoldCrashLoop)
	w.none("3")
	w.is("5", handoff.Held, handoff.HoldCrashLoop)
	w.is("6", handoff.Retrying)
	if r := w.is("7", handoff.Held, handoff.HoldCrashLoop); len(r.Answered) != 1 {
		w.Errorf("the released event forgot what was answered: %v", r.Answered)
	}
	w.is("8", handoff.Held, handoff.HoldPolicy)
}

// stand puts a receipt of a record on the open page, as if an earlier delivery had.
func (w *world) stand(r record, edit func(*handoff.Receipt)) {
	w.Helper()
	raw, err := json.Marshal(r)
	w.must(err)
	put := handoff.Receipt{
		ReceiptKey: handoff.ReceiptKey{EventID: jsonID(r.ID)}, Stream: w.b.Stream, Digest: handoff.DigestOf(raw), Identity: "i1", By: "apply",
		Entity: r.Entity, PageVersion: w.checkpoint().Version, Rev: 1, Token: "stood-" + r.ID, WrittenAt: epoch, Effect: "e1", Policy: "p1",
	}
	put.Position, err = handoff.NumberPosition(r.Pos)
	w.must(err)
	edit(&put)
	w.must(w.inner.State.Commit(w.ctx, handoff.Tx{Token: put.Token, Stream: w.b.Stream, Receipt: &handoff.ReceiptWrite{If: handoff.Guard{Absent: true}, Put: put}}))
}
