package walkthrough

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// closeStories are about what a reset leaves behind, and about pages that are lost.
func closeStories() []story {
	return []story{
		{"ClosingNeedsItsEvents", closingNeedsEvents}, {"ClosingRebuilds", closingRebuilds}, {"ClosingManyEvents", closingMany},
		{"ClosingRacingADecision", closingRacingDecision}, {"ClosingKeepsWhy", closingKeepsWhy}, {"ClosingTwoContents", closingTwoContents},
		{"ClosingSettledContents", closingSettledContents}, {"ClosingOthersHold", closingOthersHold}, {"ClosingAmbiguous", closingAmbiguous},
		{"LostWhileClosing", lostWhileClosing}, {"LostKeepsPosition", lostKeepsPosition}, {"LostOrNot", lostOrNot},
		{"AttemptsOfALostPage", attemptsOfLost},
	}
}

// closed ends the closing of a reset to an idle cursor.
func (w *world) closed() {
	w.Helper()
	w.source.end("r", "r")
	w.reset("r")
	w.tick(handoff.ActCaughtUp)
}

// closingNeedsEvents: a page whose events cannot be read is not closed over them.
func closingNeedsEvents(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.clock.advance(time.Minute)
	w.reset("r")
	if st, err := w.other.Status(w.ctx, w.b.Stream); err != nil || st.Blocked == nil || st.Blocked.By != "closing" || !st.Blocked.Since.Equal(w.clock.Now()) {
		w.Fatalf("status says %+v %v, want closing since the reset", st.Blocked, err)
	}
	w.tap.archive = broken{w.inner.Archive, "", errBroken}
	if _, err := w.poll(w.engine, handoff.PollMessage{}); err == nil {
		w.Fatal("the page was closed unread")
	}
	if cp := w.checkpoint(); cp.Closing != 1 {
		w.Fatalf("closing %d", cp.Closing)
	}
	w.tap.archive = w.inner.Archive
	w.source.end("r", "r")
	w.tick(handoff.ActCaughtUp)
	w.is("1", handoff.Superseded)
	w.clean()
}

// closingRebuilds: an events object that is gone is laid out again to be closed.
func closingRebuilds(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.tap.archive = &forgetful{Archive: w.inner.Archive, gone: map[string]bool{mustDirectory(w, 1).Object.Key: true}}
	w.closed()
	w.is("1", handoff.Superseded)
	w.clean()
}

// closingMany: every event of a chunk is superseded, however many.
func closingMany(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Lanes = handoff.LanePage })
	w.holds("1")
	w.source.page("c0", "c1", manyRecords()...)
	w.turn()
	w.closed()
	w.is("1", handoff.Superseded)
	w.is("120", handoff.Superseded)
	w.clean()
}

// closingRacingDecision: a supersession that lost against a decision is judged again.
func closingRacingDecision(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry}}
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.tap.hook("before", "close/settle", func() error { return w.decideBy(w.other, handoff.DecideRetryNow, "1") })
	w.closed()
	w.is("1", handoff.Superseded)
	w.clean()
}

// closingKeepsWhy: what is superseded still says why, and since when, it was held.
func closingKeepsWhy(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.clock.advance(time.Hour)
	w.closed()
	if r := w.is("1", handoff.Superseded, handoff.HoldPolicy); r.Detail != "ask" || !r.HeldAt.Equal(epoch) {
		w.Fatalf("held by %q since %v", r.Detail, r.HeldAt)
	}
	w.clean()
}

// closingTwoContents: of two contents of one id that nobody has settled, each is superseded on its own receipt; shown again, the first
// is applied and the second held for what it is.
func closingTwoContents(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"), second(1, "a"))
	w.turn()
	w.closed()
	w.is("1", handoff.Superseded)
	if r := w.conflicts("1"); r.Outcome != handoff.Superseded {
		w.Fatalf("the second content is %s", r.Outcome)
	}
	delete(w.policy, "1")
	w.reset("c0")
	w.turn()
	w.is("1", handoff.Applied)
	if r := w.conflicts("1"); r.Outcome != handoff.Held || r.Reason != handoff.HoldIdentityConflict {
		w.Fatalf("the second content is %s (%s)", r.Outcome, r.Reason)
	}
	w.clean()
}

// closingSettledContents: what is settled stays and gets no second receipt, and a second content of it is superseded on its own.
func closingSettledContents(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.holds("2")
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", second(1, "a"), ev(2, "b"), ev(3, "c"))
	w.turn()
	w.turn()
	w.closed()
	w.is("1", handoff.Applied)
	w.is("3", handoff.Applied)
	if n := len(w.receipts("3")); n != 1 {
		w.Fatalf("the settled event has %d receipts", n)
	}
	if r := w.conflicts("1"); r.Outcome != handoff.Superseded {
		w.Fatalf("the second content is %s", r.Outcome)
	}
	w.clean()
}

// closingOthersHold: the hold of another content, from a page that was lost, is not this page's to supersede; nor is a conflict made up.
func closingOthersHold(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", second(1, "a"))
	w.turn()
	w.lose(1)
	before := w.is("1", handoff.Held, handoff.HoldPolicy)
	w.b.Contract.Unique = false
	w.turn()
	w.closed()
	if r := w.is("1", handoff.Held, handoff.HoldPolicy); r.Digest != before.Digest || r.PageVersion != 1 {
		w.Fatalf("the hold is on version %d with another content", r.PageVersion)
	}
	if n := len(w.receipts("1")); n != 1 {
		w.Fatalf("%d receipts of one content", n)
	}
}

// closingAmbiguous: a hold as ambiguous stays exactly as it is.
func closingAmbiguous(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallUnknown, Detail: "time-out"}}
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	before := w.is("1", handoff.Held, handoff.HoldAmbiguous)
	w.closed()
	if r := w.is("1", handoff.Held, handoff.HoldAmbiguous); r.Rev != before.Rev || r.Detail != "time-out" {
		w.Fatalf("rev %d became %d: %s", before.Rev, r.Rev, r.Detail)
	}
	w.clean()
}

// lostWhileClosing: a page that a reset passed and whose objects are gone is given up by the operator's word: closing is over, the
// page is marked both ways, and the stream goes on.
func lostWhileClosing(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("r", "r2", ev(2, "b"))
	w.turn()
	w.reset("r")
	w.lose(1)
	if cp := w.at(2, "r"); cp.Closing != 0 {
		w.Fatalf("closing %d", cp.Closing)
	}
	if p := w.page(1); !p.Lost || !p.Abandoned {
		w.Fatalf("lost %v, abandoned %v", p.Lost, p.Abandoned)
	}
	w.turn()
	w.is("2", handoff.Applied)
	w.is("1", handoff.Held, handoff.HoldPolicy)
	w.clean()
}

// lostKeepsPosition: what a lost page did not settle is not applied: the position stays. Only the open or the closing page can be lost.
func lostKeepsPosition(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("5")
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", ev(5, "b"))
	w.turn()
	w.turn()
	w.refused(w.tryLose(1, broken{w.inner.Archive, "", handoff.ErrNotFound})) // turned long ago
	w.lose(2)
	w.at(3, "c2")
	w.applied("1")
	if p := w.page(2); !p.Lost {
		w.Fatal("the page is not marked as lost")
	}
	w.clean()
}

// lostOrNot: an archive that is out of reach proves no loss; damaged bytes do.
func lostOrNot(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.refused(w.tryLose(1, broken{w.inner.Archive, "", errBroken}))
	w.at(1, "c0")
	w.must(w.tryLose(1, damaged{w.inner.Archive}))
	w.at(2, "c1")
}

// attemptsOfLost: what was to be attempted on a page that was lost is attempted where it turns up again; if another content turns up in its
// place, a person is asked about the first.
func attemptsOfLost(t *testing.T, open func(*testing.T) Backend) {
	for name, c := range map[string]struct {
		shown record
		want  handoff.Outcome
	}{"the same content": {ev(1, "a"), handoff.Applied}, "another content": {second(1, "a"), handoff.Held}} {
		for _, outcome := range []handoff.Outcome{handoff.Released, handoff.Retrying} {
			t.Run(name+" "+string(outcome), func(t *testing.T) {
				w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
				w.sink.kind = handoff.Idempotent
				w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry}}
				if outcome == handoff.Released {
					w.holds("1")
				}
				w.source.page("c0", "c1", ev(1, "a"))
				w.source.page("c1", "c2", c.shown, ev(2, "b"))
				w.turn()
				if outcome == handoff.Released {
					w.must(w.decide(handoff.DecideRelease, "1"))
				}
				w.lose(1)
				w.is("1", outcome)
				w.sink.answers, w.b.Contract.Unique = nil, false
				w.clock.advance(time.Hour)
				w.turn()
				w.is("1", c.want)
				w.is("2", handoff.Applied)
			})
		}
	}
}
