package walkthrough

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// What a poll reads says how old the oldest waiting event may be: the oldest of the open page; else, while more is known to come, the last
// one read. Finding the end clears that with one write, and the next time with none.
func gauges(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.b.Source = timed{w.source}
	at := func(minutes int) record {
		r := ev(minutes, "a")
		r.Pos = ""
		return r
	}
	minute := func(m int) time.Time { return epoch.Add(time.Duration(m) * time.Minute) }
	w.source.page("c0", "c1", at(-20), at(-15))
	w.source.page("c1", "c2")
	w.source.end("c2", "c2")
	r := w.tick(handoff.ActOpened)
	if s := r.Stands; s == nil || s.Page == nil || !s.Page.OldestAt.Equal(minute(-20)) || s.Page.Version != 1 {
		w.Fatalf("an opened page is reported as %+v", s)
	}
	r = w.tick(handoff.ActBlocked)
	if s := r.Stands; s == nil || s.Page == nil || !s.Page.OldestAt.Equal(minute(-20)) || s.Blocked(nil) != nil {
		w.Fatalf("an open page is reported as %+v", s)
	}
	w.apply()
	if cp := w.at(2, "c1"); !cp.Behind.Equal(minute(-15)) {
		w.Fatalf("behind since %v, want the last event read", cp.Behind)
	}
	r = w.tick(handoff.ActTurned)
	if s := r.Stands; s == nil || s.Page != nil || !s.Checkpoint.Behind.Equal(minute(-15)) || s.Checkpoint.Version != 3 {
		w.Fatalf("an empty page is reported as %+v", s)
	}
	before := w.at(3, "c2").Rev
	w.tick(handoff.ActCaughtUp)
	if cp := w.checkpoint(); !cp.Behind.IsZero() || cp.Rev != before+1 {
		w.Fatalf("at the end: behind since %v, %d writes", cp.Behind, cp.Rev-before)
	}
	w.clock.advance(time.Minute)
	r = w.tick(handoff.ActCaughtUp)
	if cp := w.checkpoint(); cp.Rev != before+1 || r.Stands == nil || r.Stands.Page != nil {
		w.Fatalf("at the end again: %d writes, %+v", cp.Rev-before, r.Stands)
	}
	w.clean()
}

// A page whose events say no time leaves the time of the fetch, and a page that is the end leaves nothing behind it.
func gaugesWithoutTimes(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", evs("a", 1, 2)...)
	w.source.end("c1", "c2", evs("a", 3)...)
	if s := w.tick(handoff.ActOpened).Stands; !s.Page.OldestAt.IsZero() {
		w.Fatalf("the oldest event is of %v", s.Page.OldestAt)
	}
	w.apply()
	if cp := w.at(2, "c1"); !cp.Behind.Equal(epoch) {
		w.Fatalf("behind since %v, want the fetch", cp.Behind)
	}
	w.tick(handoff.ActOpened)
	w.apply()
	if cp := w.at(3, "c2"); !cp.Behind.IsZero() {
		w.Fatalf("behind since %v at the end", cp.Behind)
	}
	w.clean()
}
