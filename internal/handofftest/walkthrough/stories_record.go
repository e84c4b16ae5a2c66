package walkthrough

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

const recordLife = 90 * 24 * time.Hour

// expires requires when the record of a page may go; never is the zero time.
func (w *world) expires(v handoff.Version, want time.Time) {
	w.Helper()
	p, err := w.inner.State.Page(w.ctx, w.b.Stream, v)
	w.must(err)
	if got := p.ExpiresAt; want.IsZero() != got.IsZero() || got.Before(want) || got.Sub(want) > time.Second {
		w.Fatalf("page %d expires at %s, want %s", v, got, want)
	}
}

// The record of a page may go some time after it was turned, or abandoned, and never while it is open or closing, however long that takes;
// decisions and audit lines from when they are written.
func recordsExpire(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.engine.Timing.RecordLife, w.other.Timing.RecordLife = recordLife, recordLife
	w.policy["2"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	w.policy["9"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	w.source.page("c0", "c1", evs("a", 1, 2)...)
	w.source.page("c1", "c2")
	w.source.page("c2", "c3", evs("a", 9)...)
	w.source.end("r", "r")
	w.settleAll()
	w.expires(1, time.Time{})
	w.clock.advance(2 * recordLife)
	w.tick(handoff.ActDriven)
	w.apply()
	w.expires(1, time.Time{})

	decided := w.clock.Now()
	w.must(w.decide(handoff.DecideRelease, "2"))
	audits, _, err := w.inner.State.Audits(w.ctx, w.b.Stream, "", 10)
	w.must(err)
	d, err := w.inner.State.Decision(w.ctx, w.b.Stream, audits[0].ID)
	w.must(err)
	for _, at := range []time.Time{audits[0].ExpiresAt, d.ExpiresAt} {
		if !at.Equal(decided.Add(recordLife)) {
			t.Errorf("a decision of %s expires at %s", decided, at)
		}
	}
	w.driveNow()
	w.expires(1, decided.Add(recordLife)) // promoted just now
	w.tick(handoff.ActTurned)
	w.expires(2, decided.Add(recordLife))
	w.tick(handoff.ActOpened)
	w.apply()

	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
	w.expires(3, time.Time{})
	w.clock.advance(time.Hour)
	closed := w.clock.Now()
	w.settleAll()
	w.expires(3, closed.Add(recordLife))
}

// Without a life for records nothing ever goes.
func recordsStay(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", evs("a", 1)...)
	w.source.page("c1", "c2")
	w.source.end("c2", "c2")
	w.settleAll()
	w.at(3, "c2")
	w.expires(1, time.Time{})
	w.expires(2, time.Time{})
}

// Whoever dies between the promote and the note that the record may go leaves a record that stays: the page is turned all the same.
func recordOutlivesDeath(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.engine.Timing.RecordLife = recordLife
	w.source.page("c0", "c1", evs("a", 1)...)
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.die("after", "promote")
	w.apply()
	w.restart()
	w.settleAll()
	w.at(2, "c1")
	w.expires(1, time.Time{})
	w.clean()
}
