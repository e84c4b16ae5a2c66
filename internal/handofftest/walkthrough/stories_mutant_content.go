package walkthrough

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// contentStories are about two contents of one id, and holds that move to a later page.
func contentStories() []story {
	return []story{
		{"ConflictThroughResets", conflictThroughResets}, {"TakenOverWhole", takenOverWhole}, {"OtherContentForgets", otherContentForgets},
	}
}

// conflictThroughResets: a held second content is superseded by a reset, held again when it turns up, taken over with its place, left
// alone by a page that was passed, and decided once.
func conflictThroughResets(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", second(1, "a"))
	w.turn()
	w.turn()
	if r := w.conflicts("1"); r.Outcome != handoff.Held || r.PageVersion != 2 {
		w.Fatalf("the second content is %s on version %d", r.Outcome, r.PageVersion)
	}
	w.reset("c1")
	w.tick(handoff.ActOpened) // closes version 2
	if r := w.conflicts("1"); r.Outcome != handoff.Superseded || r.PageVersion != 2 || r.Reason != handoff.HoldIdentityConflict {
		w.Fatalf("the second content is %s on version %d (%s)", r.Outcome, r.PageVersion, r.Reason)
	}
	m := w.message()
	w.tap.hook("before", "apply/settle", func() error { // the page is passed while the delivery sleeps
		w.reset("c1")
		_, err := w.poll(w.other, handoff.PollMessage{})
		return err
	})
	_, err := w.deliver(m, 1)
	w.must(err)
	if r := w.conflicts("1"); r.Outcome != handoff.Superseded || r.PageVersion != 3 {
		w.Fatalf("a page that was passed left the second content %s on version %d", r.Outcome, r.PageVersion)
	}
	m = w.message()
	w.tap.hook("before", "apply/settle", func() error { // and once more, with the next page already passed as well
		for range 2 {
			w.reset("c1")
			if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
				return err
			}
			if w.checkpoint().Version == 5 {
				w.byOther()
			}
		}
		return nil
	})
	_, err = w.deliver(m, 1)
	w.must(err)
	if r := w.conflicts("1"); r.Outcome != handoff.Superseded || r.PageVersion != 5 {
		w.Fatalf("the second content is %s on version %d, want superseded on 5", r.Outcome, r.PageVersion)
	}
	w.apply()
	r := w.conflicts("1")
	if r.Outcome != handoff.Held || r.PageVersion != 6 {
		w.Fatalf("the second content is %s on version %d, want held on 6", r.Outcome, r.PageVersion)
	}
	w.must(w.decideOn(handoff.DecideIgnore, r))
	w.driveNow()
	w.at(7, "c2")
	w.effects("a", "1 < 1")
	w.clean()
}

// takenOverWhole: a hold that is taken over by a later page moves with its chunk and index, so that its event is read back from there;
// a hold of a lost page too, and a second content likewise.
func takenOverWhole(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.ChunkSize, s.Contract.Overlap = 1, true })
	w.holds("2")
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", second(1, "a"), ev(2, "b"))
	w.source.page("c2", "c3", ev(3, "z"), ev(2, "b"), second(1, "a"))
	w.turn()
	w.turn()
	w.lose(2)
	w.b.Contract.Ordered, w.b.Contract.Arrival = false, true
	w.turn()
	for _, r := range []handoff.Receipt{w.is("2", handoff.Held, handoff.HoldPolicy), w.conflicts("1")} {
		if r.PageVersion != 3 || r.Outcome != handoff.Held {
			w.Fatalf("%s is %s on version %d", r.EventID, r.Outcome, r.PageVersion)
		}
		e, err := w.other.EventOf(w.ctx, r)
		if err != nil || e.Index != r.Index || r.Chunk == 0 {
			w.Fatalf("%s is said to be number %d of chunk %d: %v", r.EventID, r.Index, r.Chunk, err)
		}
	}
}

// otherContentForgets: what a reset superseded is taken over with another content; the attempts of the first are not counted against it.
func otherContentForgets(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.MaxAttempts = 3 })
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry}}
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("r", "r2", second(1, "a"))
	w.turn()
	w.clock.advance(time.Hour)
	w.apply()
	w.reset("r")
	w.turn()
	if r := w.is("1", handoff.Retrying); r.Attempts != 1 || r.PageVersion != 2 {
		w.Fatalf("%d attempts on version %d, want the first of the new content", r.Attempts, r.PageVersion)
	}
	w.clean()
}
