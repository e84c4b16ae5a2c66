package walkthrough

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func (w *world) haltedBy(want handoff.HaltReason) handoff.Halt {
	w.Helper()
	h := w.checkpoint().Halt
	if h == nil || h.Reason != want {
		w.Fatalf("halt is %+v, want %s", h, want)
	}
	return *h
}

// A token that no longer exists at its own page: an entry in the spool that a read-ahead left must not answer for the source.

func selfTokenWithSpool(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.end("c0", "c0", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.apply()
	w.at(2, "c0")
	// What the cursor answered then is in the spool for version 2; the source has moved on since.
	dir, err := w.inner.State.Directory(w.ctx, w.b.Stream, 1)
	w.must(err)
	w.must(w.inner.State.PutSpool(w.ctx, handoff.SpoolEntry{
		Stream: w.b.Stream, Version: 2, RequestCursor: "c0", Raw: dir.Raw, FetchedAt: w.clock.Now(),
	}))
	asked := len(w.source.asked)
	w.source.end("c0", "c0", ev(1, "a"), ev(2, "a"))
	w.tick(handoff.ActOpened)
	if len(w.source.asked) != asked+1 {
		w.Fatal("a cached answer that says nothing new kept the source from being asked")
	}
	w.settleAll()
	w.effects("a", "1 2 < 2")

	w.clean()
}

// Many sources hand out a fresh token each time they are idle: it is stored once a day, not ten thousand times.

func idleAnswers(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	n := 0
	fresh := func() reply {
		n++
		return reply{Kind: handoff.ReadPage, Next: handoff.Cursor(fmt.Sprintf("idle-%d", n)), End: true}
	}
	w.source.replies["c0"] = fresh
	w.tick(handoff.ActTurned) // the first answer to a bootstrap always moves the cursor
	first := w.at(2, "idle-1")
	w.source.replies["idle-1"] = fresh
	for range 10_000 {
		w.tick(handoff.ActCaughtUp)
		w.clock.advance(8 * time.Second) // 22 hours in all
	}
	if cp := w.checkpoint(); cp.Rev != first.Rev {
		w.Fatalf("ten thousand idle answers wrote the checkpoint: %+v", cp)
	}
	w.clock.advance(3 * time.Hour)
	w.tick(handoff.ActTurned) // a day has passed: the old token may not live much longer
	w.at(3, handoff.Cursor(fmt.Sprintf("idle-%d", n)))
	w.clean()
}

// A halt is accepted while the feed moves on behind it: the archived answer alone is judged, nothing is fetched.

func acceptedHalt(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Gapless = true })
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"))
	w.source.page("c1", "c2", ev(4, "a"), ev(3, "a"), ev(7, "a")) // a regression, and gaps
	w.source.end("c2", "c2")
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActHalted)
	h := w.haltedBy(handoff.HaltOrderRegression)
	w.refused(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: handoff.HaltGap, Answer: h.Answer.Digest}))
	w.refused(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: "another"}))
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	w.must(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: h.Answer.Digest}))
	if cp := w.checkpoint(); !cp.Paused || cp.Halt != nil {
		w.Fatalf("accept clears the halt and not a pause, got paused=%v halt=%v", cp.Paused, cp.Halt)
	}
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))

	w.source.page("c1", "c9", ev(3, "a"), ev(4, "a")) // the feed looks well now, but that is not what was accepted
	asked := len(w.source.asked)
	w.tick(handoff.ActHalted)
	again := w.haltedBy(handoff.HaltGap) // another check, over the same answer
	if again.Answer != h.Answer {
		w.Fatalf("the second halt names %v, want the accepted answer %v", again.Answer, h.Answer)
	}
	w.must(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: handoff.HaltGap, Answer: h.Answer.Digest}))
	if n := len(w.checkpoint().Accepts); n != 2 {
		w.Fatalf("%d accepts are kept, want both", n)
	}
	w.tick(handoff.ActOpened)
	if len(w.source.asked) != asked {
		w.Fatal("the source was asked while accepts named an answer")
	}
	if n := len(w.checkpoint().Accepts); n != 0 {
		w.Fatalf("the open left %d accepts", n)
	}
	w.settleAll()
	w.at(3, "c2")
	w.effects("a", "1 2 3 4 7 < 7")
	w.clean()
}

// T0 gives T1, T1 gives T0, nothing new: found inside the drain.

// An event turns up below the applied position. It is held, or applied if the contract says so; never dropped in silence.

func lateEvent(t *testing.T, open func(*testing.T) Backend) {
	for _, applies := range []bool{false, true} {
		t.Run(fmt.Sprintf("apply=%v", applies), func(t *testing.T) {
			w := stage(t, open, func(s *handoff.Settings) { s.Contract.ApplyLate = applies })
			w.source.page("c0", "c1", evs("a", 10, 20)...)
			w.source.end("c1", "c2", evs("a", 15, 20, 30)...)
			w.source.end("c2", "c2")
			w.tick(handoff.ActOpened)
			w.apply()
			w.tick(handoff.ActOpened)
			w.apply()
			if applies {
				w.is("15", handoff.Applied)
				w.at(3, "c2")
				w.applied("30")
			} else {
				w.is("15", handoff.Held, handoff.HoldLate)
				w.at(2, "c1") // one entity: 30 waits behind it
				w.must(w.decide(handoff.DecideRelease, "15"))
				w.settleAll()
				w.is("15", handoff.Applied)
			}
			w.settleAll()
			w.effects("a", "10 15 20 30 < 30")
			w.clean()
		})
	}
}

// A backward reset asks for a backfill: what lies below the floor is applied without a question, what is known is a replay.

func backfill(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.end("c0", "c1", evs("a", 500, 510)...)
	w.source.end("c1", "c1")
	w.settleAll()
	w.applied("510")
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "old"}))
	w.source.page("old", "c0", evs("a", 100, 200)...)
	w.settleAll()
	w.applied("510")
	w.is("100", handoff.Applied)
	w.effects("a", "100 200 500 510 < 200")
	w.clean()
}

// Gapless: a hole inside a page or across the border halts; after a reset the border is forgotten.

func gapAcrossBorder(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Gapless = true })
	w.source.page("c0", "c1", evs("a", 1, 2)...)
	w.source.page("c1", "c2", evs("a", 4, 5)...)
	w.source.end("c2", "c2")
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActHalted)
	w.haltedBy(handoff.HaltGap)
	w.at(2, "c1")
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c1"}))
	w.settleAll()
	w.effects("a", "1 2 4 5 < 5")
	w.clean()
}

// Positions are declared unique: another event at the border's position is a conflict, the border event itself is a replay.

func positionConflict(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", evs("a", 1, 2)...)
	w.source.page("c1", "c2", ev(2, "a"), ev(3, "a"))
	w.source.page("c2", "c3", record{ID: "x", Pos: "3", Entity: "a"}, ev(4, "a"))
	for range 2 {
		w.tick(handoff.ActOpened)
		w.apply()
	}
	w.tick(handoff.ActHalted)
	w.haltedBy(handoff.HaltPositionConflict)
	w.at(3, "c2")
	w.effects("a", "1 2 3 < 3")
	w.source.page("c2", "c3", ev(4, "a"), record{ID: "y", Pos: "4", Entity: "a"})
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.tick(handoff.ActHalted) // inside one page
	w.haltedBy(handoff.HaltPositionConflict)
	w.clean()
}

// Events younger than the hold-back are cut off the tail; the rest opens, and the cursor stays until all of the page is old enough.

func holdBackStory(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.HoldBack = 10 * time.Minute })
	at := func(minutes int) record {
		r := ev(minutes, "a")
		r.Pos = ""
		return r
	}
	w.b.Source = timed{w.source}
	w.source.end("c0", "c1", at(-20), at(-15), at(-3))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	cp := w.at(2, "c0")
	if want := epoch.Add(7 * time.Minute); !cp.NextPollAt.Equal(want) {
		w.Fatalf("next poll at %v, want when the young one is old enough: %v", cp.NextPollAt, want)
	}
	w.tick(handoff.ActNotDue)
	w.clock.advance(7 * time.Minute)
	w.tick(handoff.ActOpened)
	w.apply()
	w.at(3, "c1")
	w.effects("a", "-15 -20 -3 < -3")
	w.clean()
}

// timed places events by time: a record's id is its minute.

type timed struct{ *source }

func (s timed) Read(a handoff.Answer) handoff.Reading {
	r := s.source.Read(a)
	for i := range r.Events {
		var m int
		if _, err := fmt.Sscanf(r.Events[i].ID, "%q", new(string)); err == nil {
			_, _ = fmt.Sscanf(r.Events[i].ID, "\"%d\"", &m)
		}
		r.Events[i].Position, _ = handoff.TimePosition(epoch.Add(time.Duration(m) * time.Minute).Format(time.RFC3339))
	}
	return r
}

// The source refuses the cursor: a second chance one lease later, then a person.

// A token that can be used once: the poll that used it dies, and its archived answer is adopted.

// A refused page token goes back to its bookmark with an empty page; a second time without a new event is the bookmark's fault.

// Garbage with status 200: kept, the cursor stays, tried again with growing waits, then a halt that a person can look at.

func unreadable(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	garbage := func() reply { return reply{Kind: handoff.ReadUnreadable, Detail: "an HTML page"} }
	w.source.replies["c0"] = garbage
	for range 2 {
		w.tick(handoff.ActWaiting)
		w.tick(handoff.ActNotDue)
		w.clock.advance(time.Hour)
	}
	w.tick(handoff.ActHalted)
	h := w.haltedBy(handoff.HaltPageUnreadable)
	w.at(1, "c0")
	if _, err := w.inner.Archive.Get(w.ctx, h.Answer.Key); err != nil {
		w.Fatalf("the unreadable answer was not kept: %v", err)
	}
	w.source.replies["c0"] = func() reply { return reply{Kind: handoff.ReadTooLarge, Detail: "60 MB"} }
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.tick(handoff.ActHalted)
	w.haltedBy(handoff.HaltPageTooLarge)

	// Not an end, and no token: a contradiction, never a restart from the beginning.
	w.source.replies["c0"] = func() reply { return reply{Kind: handoff.ReadPage, Records: evs("a", 1)} }
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.tick(handoff.ActWaiting)
	w.source.end("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.clock.advance(time.Hour)
	w.settleAll()
	w.at(2, "c1")
	w.effects("a", "1 < 1")
	w.clean()
}

// The source is down: one request a tick, the wait is durable, a cold start keeps it, and nothing moves.

func sourceDown(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.end("c1", "c1", ev(1, "a"))
	var waits []time.Duration
	for range 6 {
		w.tick(handoff.ActWaiting) // no route
		waits = append(waits, w.checkpoint().NextPollAt.Sub(w.clock.Now()))
		w.restart()
		w.tick(handoff.ActNotDue)
		w.clock.advance(time.Hour)
	}
	if !slices.IsSorted(waits) || waits[0] <= 0 || waits[5] < 8*waits[0] {
		w.Fatalf("waits do not grow: %v", waits)
	}
	if n := len(w.source.asked); n != 6 {
		w.Fatalf("the source was asked %d times in 6 ticks", n)
	}
	w.at(1, "c0")
	st, err := w.other.Status(w.ctx, w.b.Stream)
	w.must(err)
	if st.Blocked == nil || st.Blocked.By != "failing: unreachable" || !st.Blocked.Since.Equal(epoch) {
		w.Fatalf("status says %+v", st.Blocked)
	}
	w.source.end("c0", "c1")
	w.settleAll()
	w.effects("a", "1 < 1")
	if cp := w.checkpoint(); cp.Failures != 0 {
		w.Fatalf("%d failures are still counted", cp.Failures)
	}
	w.clean()
}
