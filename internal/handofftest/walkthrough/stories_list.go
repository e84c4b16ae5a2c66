package walkthrough

import (
	"slices"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func (w *world) roll(defined ...handoff.Stream) handoff.Roll {
	w.Helper()
	r, err := w.engine.Enlist(w.ctx, defined)
	w.must(err)
	return r
}

// orphan gives this story's stream among the orphans: a shared store has others' too.
func (w *world) orphan(r handoff.Roll) (handoff.StreamEntry, bool) {
	i := slices.IndexFunc(r.Orphans, func(e handoff.StreamEntry) bool { return e.Stream == w.b.Stream })
	if i < 0 {
		return handoff.StreamEntry{}, false
	}
	return r.Orphans[i], true
}

// A stream whose definition is gone is shown as orphaned since then, keeps its state, and goes on when the definition is back.
func orphaned(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", evs("a", 1)...)
	w.source.end("c1", "c1")
	w.settleAll()
	if r := w.roll(w.b.Stream); !slices.Equal(r.Poll, []handoff.Stream{w.b.Stream}) {
		t.Errorf("a tick polls %v", r.Poll)
	}
	since := w.clock.Now()
	r := w.roll()
	if e, ok := w.orphan(r); !ok || !e.OrphanedAt.Equal(since) || slices.Contains(r.Poll, w.b.Stream) {
		t.Errorf("%+v, want an orphan since %s", r, since)
	}
	w.clock.advance(archiveLife)
	if e, ok := w.orphan(w.roll()); !ok || !e.OrphanedAt.Equal(since) {
		t.Errorf("an orphan since %s, want %s", e.OrphanedAt, since)
	}
	if r := w.roll(w.b.Stream); len(r.Poll) != 1 {
		t.Errorf("a tick polls %v", r.Poll)
	} else if _, still := w.orphan(r); still {
		t.Error("its definition is back, and it still is an orphan")
	}
	entries, err := w.inner.State.Streams(w.ctx)
	w.must(err)
	for _, e := range entries {
		if e.Stream == w.b.Stream && !e.OrphanedAt.IsZero() {
			t.Error("the list still says so")
		}
	}
	w.at(2, "c1")
}

// A retirement that comes while a tick marks the stream as orphaned stands.
func orphanedRacingRetire(t *testing.T, open func(*testing.T) Backend) {
	for _, when := range []string{"before", "after"} {
		w := stage(t, open)
		w.b.Stream += handoff.Stream("-" + when)
		w.b.Definition = string(w.b.Stream)
		w.source.end("c0", "c0")
		w.settleAll()
		w.tap.hook(when, "read/checkpoint", func() error { return w.command(handoff.Decision{Kind: handoff.DecideRetire, Rev: 1}) })
		w.roll()
		r := w.roll()
		if _, ok := w.orphan(r); ok {
			t.Errorf("%s: retired on purpose, and orphaned", when)
		}
		entries, err := w.inner.State.Streams(w.ctx)
		w.must(err)
		for _, e := range entries {
			if e.Stream == w.b.Stream && e.RetiredAt.IsZero() {
				t.Errorf("%s: the retirement was undone", when)
			}
		}
	}
}

// Retired on purpose: off every tick, state kept; a definition with a start does not start it anew; resume brings it back where it was.
func retired(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", evs("a", 1)...)
	w.source.end("c1", "c1")
	w.settleAll()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideRetire}))
	if r := w.roll(w.b.Stream); slices.Contains(r.Poll, w.b.Stream) {
		t.Error("a tick polls a retired stream")
	}
	w.tick(handoff.ActPaused)
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	if r := w.roll(w.b.Stream); !slices.Contains(r.Poll, w.b.Stream) {
		t.Error("no tick polls a stream that was brought back")
	}
	w.source.end("c1", "c2", evs("a", 2)...)
	w.source.end("c2", "c2")
	w.settleAll()
	w.at(3, "c2")
	w.effects("a", "1 2 < 2")
}

// A tick leaves a stream alone only while it sleeps in good health: nothing open, its next fetch not due. Whatever is in trouble, halted,
// paused, closing or not started is looked at.
func due(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	is := func(want bool, when string) {
		t.Helper()
		if got, err := w.engine.Due(w.ctx, w.b.Stream); err != nil || got != want {
			t.Errorf("%s: due is %t (%v)", when, got, err)
		}
	}
	is(true, "not started")
	w.b.Settings.Interval = time.Hour
	w.source.page("c0", "c1", evs("a", 1)...)
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	is(true, "a page is open")
	w.apply()
	is(true, "more to fetch")
	w.tick(handoff.ActCaughtUp)
	is(false, "caught up, asked once an hour")
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	is(true, "paused")
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	is(false, "resumed")
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePollNow}))
	is(true, "asked to poll")
	w.tick(handoff.ActCaughtUp)
	w.clock.advance(time.Hour)
	is(true, "an hour later")
	delete(w.source.replies, "c1")
	w.tick(handoff.ActWaiting)
	is(true, "in trouble")
	w.source.end("c1", "c2", evs("a", 2)...)
	w.source.end("c2", "c2")
	w.clock.advance(time.Hour)
	w.tick(handoff.ActOpened)
	w.apply()
	is(false, "turned, and the end was reached")
	w.source.end("r", "r")
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "r"}))
	is(true, "closing")
}
