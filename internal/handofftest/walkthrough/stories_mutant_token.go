package walkthrough

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// tokenStories are about tokens, ends, waits and stalls.
func tokenStories() []story {
	return []story{
		{"EndWithoutToken", endWithoutToken}, {"EndWaitsAnInterval", endWaits}, {"FreshTokenByLife", freshTokenByLife},
		{"TokenAgeFromItsChange", tokenAge}, {"HeldBackWhole", heldBackWhole}, {"HeldBackBorder", heldBackBorder},
		{"HeldBackInvalid", heldBackInvalid}, {"RefusedThenGood", refusedThenGood}, {"RefusedBeforeItsLease", refusedEarly},
		{"RefusedPageTokens", refusedPageTokens}, {"StallsEnd", stallsEnd}, {"AcceptedAndNothingNew", acceptedNothingNew},
		{"AnchorsAreCleared", anchorsCleared}, {"SourceSaysLater", sourceSaysLater}, {"SourceCannotBeAsked", sourceConfig},
		{"WaitsAreBoundedAndSpread", waitsBounded},
	}
}

// endWithoutToken: an end that carries no token leaves the stored one.
func endWithoutToken(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.end("c0", "", ev(1, "a"))
	w.turn()
	w.at(2, "c0")
	w.clean()
}

// endWaits: at an end the next fetch is an interval away, after a page and after an idle answer; no continuation is sent.
func endWaits(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Interval = 10 * time.Minute })
	due := func() {
		w.Helper()
		if got := w.checkpoint().NextPollAt; !got.Equal(w.clock.Now().Add(10 * time.Minute)) {
			w.Fatalf("next poll at %v, and it is %v", got, w.clock.Now())
		}
	}
	w.source.end("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.turn()
	if ms := w.queue.takePolls(); len(ms) != 0 {
		w.Fatalf("an end sent a continuation: %v", ms)
	}
	due()
	w.tick(handoff.ActNotDue)
	w.clock.advance(10 * time.Minute)
	w.tick(handoff.ActCaughtUp)
	due()
	w.tick(handoff.ActNotDue)
	w.clean()
}

// life gives each answer's token a declared life.
func (w *world) life(d time.Duration) {
	w.reads(func(_ handoff.Answer, r *handoff.Reading) { r.TokenLife = d })
}

// freshTokenByLife: an idle end's fresh token is stored when a tenth of the old one's life has passed, and not before. What changes
// nothing leaves no trace.
func freshTokenByLife(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.life(10 * time.Hour)
	w.source.end("c0", "c1")
	w.source.end("c1", "c2")
	w.tick(handoff.ActTurned) // the first answer always moves the cursor
	n := w.archived()
	w.clock.advance(59 * time.Minute)
	w.tick(handoff.ActCaughtUp)
	if got := w.archived(); got != n {
		w.Fatalf("an answer that changed nothing left %d objects", got-n)
	}
	w.clock.advance(time.Minute)
	w.tick(handoff.ActTurned)
	w.at(3, "c2")
	w.reset("c1")
	w.tick(handoff.ActTurned) // and so does the first after a reset
	w.clean()
}

// tokenAge: a token is as old as its last change: a page that leaves it does not make it younger, one that moves it does.
func tokenAge(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.life(10 * time.Hour)
	w.source.end("c0", "c1")
	w.tick(handoff.ActTurned)
	w.clock.advance(50 * time.Minute)
	w.source.end("c1", "c1", ev(1, "a"))
	w.turn()
	w.clock.advance(15 * time.Minute)
	w.source.end("c1", "c2")
	w.tick(handoff.ActTurned)
	w.clock.advance(2 * time.Hour)
	w.source.end("c2", "c3", ev(2, "a"))
	w.turn()
	w.clock.advance(5 * time.Minute)
	w.source.end("c3", "c4")
	w.tick(handoff.ActCaughtUp)
	w.clean()
}

// heldBackWhole: a page that is all too young is being caught up; it is neither a stall nor an open page.
func heldBackWhole(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.HoldBack = 10 * time.Minute })
	w.reads(nil)
	w.source.page("c0", "c1", rec("a", "at -5"))
	w.tick(handoff.ActCaughtUp)
	if got := w.checkpoint().NextPollAt; !got.Equal(epoch.Add(5 * time.Minute)) {
		w.Fatalf("next poll at %v, want when the event is old enough", got)
	}
	w.clean()
}

// heldBackBorder: a page that is held back is shown again: it leaves no border, and what the source put in the place of an event
// meanwhile is late, not a conflict.
func heldBackBorder(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.HoldBack = 10 * time.Minute })
	w.reads(nil)
	w.source.page("c0", "c1", rec("a", "at -20"), rec("c", "at -3"))
	w.turn()
	if cp := w.at(2, "c0"); !cp.Behind.IsZero() {
		w.Fatalf("behind since %v, and all that is old enough was read", cp.Behind)
	}
	w.source.page("c0", "c1", rec("b", "at -20"), rec("c", "at -3"))
	w.clock.advance(7 * time.Minute)
	w.turn()
	w.is("b", handoff.Held, handoff.HoldLate)
	w.clean()
}

// heldBackInvalid: the time of an invalid record cuts nothing off.
func heldBackInvalid(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.HoldBack = 10 * time.Minute })
	w.reads(nil)
	w.source.page("c0", "c1", rec("a", "at -20"), bad("x", "at -1"), rec("b", "at -15"))
	if r := w.turn(); r.Events != 3 {
		w.Fatalf("%d events, want all three", r.Events)
	}
	w.clean()
}

func (w *world) refuses(at handoff.Cursor) {
	w.source.replies[at] = func() reply { return reply{Kind: handoff.ReadCursorRefused, Detail: "410"} }
}

// refusedThenGood: a refusal long ago, with a good answer since, is forgotten: the next one gets its second chance again.
func refusedThenGood(t *testing.T, open func(*testing.T) Backend) {
	for name, good := range map[string]func(*world){
		"a page":  func(w *world) { w.source.page("c0", "c0", ev(1, "a")); w.turn() },
		"an end":  func(w *world) { w.source.end("c0", "c0"); w.tick(handoff.ActCaughtUp) },
		"a stall": func(w *world) { w.source.page("c0", "c0"); w.tick(handoff.ActStalled) },
		"a reset": func(w *world) { w.reset("c0") },
		"a resume": func(w *world) {
			w.tick(handoff.ActHalted)
			w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
		},
		"an answer that is not readable": func(w *world) {
			w.source.end("c0", "c0")
			w.tick(handoff.ActCaughtUp)
			w.source.replies["c0"] = func() reply { return reply{Kind: handoff.ReadUnreadable} }
			w.tick(handoff.ActWaiting)
			w.clock.advance(time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.refuses("c0")
			w.tick(handoff.ActWaiting)
			w.clock.advance(time.Hour)
			good(w)
			w.refuses("c0")
			w.clock.advance(time.Hour)
			w.tick(handoff.ActWaiting)
			w.clean()
		})
	}
}

// refusedEarly: asked again before the lease is over, a refusal is no second one; the lease counts from the first.
func refusedEarly(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.refuses("c0")
	w.tick(handoff.ActWaiting)
	w.clock.advance(time.Minute)
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePollNow}))
	w.tick(handoff.ActWaiting)
	w.clock.advance(140 * time.Second)
	w.tick(handoff.ActHalted)
	w.haltedBy(handoff.HaltCursorRejected)
	w.clean()
}

// refusedPageTokens: without a bookmark, or when the bookmark itself is refused, there is nothing to go back to. Resume and reset count
// from nothing.
func refusedPageTokens(t *testing.T, open func(*testing.T) Backend) {
	refuse := func(w *world, at, bookmark handoff.Cursor) {
		w.source.replies[at] = func() reply { return reply{Kind: handoff.ReadTokenRefused, Bookmark: bookmark} }
	}
	for name, bookmark := range map[string]handoff.Cursor{"no bookmark": "", "the bookmark itself": "c0"} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			refuse(w, "c0", bookmark)
			w.tick(handoff.ActHalted)
			w.haltedBy(handoff.HaltCursorRejected)
			w.at(1, "c0")
			w.clean()
		})
	}
	for name, word := range map[string]handoff.Decision{"resume": {Kind: handoff.DecideResume}, "reset": {Kind: handoff.DecideReset, Cursor: "b+p"}} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			refuse(w, "c0", "b")
			w.source.page("b", "b+p")
			refuse(w, "b+p", "b")
			w.tick(handoff.ActTurned)
			w.tick(handoff.ActTurned)
			w.tick(handoff.ActHalted)
			w.must(w.command(word))
			w.tick(handoff.ActTurned)
			w.clean()
		})
	}
}

// stallsEnd: a page that moves, a resume and a reset each begin the count of a stall anew.
func stallsEnd(t *testing.T, open func(*testing.T) Backend) {
	stalled := func(w *world, n int) {
		w.Helper()
		w.source.page("c0", "c0")
		for range n {
			w.tick(handoff.ActStalled)
			w.clock.advance(time.Minute)
		}
	}
	t.Run("a page", func(t *testing.T) {
		w := stage(t, open)
		stalled(w, 2)
		w.source.page("c0", "c1", ev(1, "a"))
		w.turn()
		if cp := w.checkpoint(); cp.Stalls != 0 || !cp.StalledSince.IsZero() {
			w.Fatalf("%d ticks still count, since %v", cp.Stalls, cp.StalledSince)
		}
	})
	t.Run("a resume", func(t *testing.T) {
		w := stage(t, open)
		stalled(w, 2)
		w.tick(handoff.ActHalted)
		w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
		stalled(w, 2)
	})
	t.Run("a reset", func(t *testing.T) {
		w := stage(t, open)
		stalled(w, 2)
		w.reset("c0")
		stalled(w, 2)
	})
}

// acceptedNothingNew: an accepted answer that brings nothing new is done with, at an end and at a token that does not move; the source
// is asked again.
func acceptedNothingNew(t *testing.T, open func(*testing.T) Backend) {
	for name, end := range map[string]bool{"an end": true, "a stall": false} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
			w.source.end("c0", "c1", rec("1", "1"), rec("2", "2"))
			w.turn()
			did := handoff.ActStalled
			if w.source.page("c1", "c1", rec("2", "2"), rec("1", "1")); end {
				w.source.end("c1", "c1", rec("2", "2"), rec("1", "1"))
				did = handoff.ActCaughtUp
			}
			w.tick(handoff.ActHalted)
			w.accept(handoff.HaltOrderRegression)
			w.tick(did)
			if n := len(w.checkpoint().Accepts); n != 0 {
				w.Fatalf("%d accepts are left", n)
			}
			w.source.end("c1", "c2", rec("3", "3"))
			w.turn()
			w.is("3", handoff.Applied)
			w.clean()
		})
	}
}

// anchorsCleared: an end, a resume and a reset each begin the search for a cycle anew.
func anchorsCleared(t *testing.T, open func(*testing.T) Backend) {
	begin := func(w *world) {
		w.source.page("c0", "t0")
		w.source.page("t0", "t1")
		w.tick(handoff.ActTurned)
		w.tick(handoff.ActTurned)
	}
	t.Run("an end", func(t *testing.T) {
		w := stage(t, open)
		begin(w)
		w.source.end("t1", "t1")
		w.tick(handoff.ActCaughtUp)
		if a := w.checkpoint().Anchor; a != (handoff.Anchor{}) {
			w.Fatalf("the anchor is still %+v", a)
		}
	})
	t.Run("a reset", func(t *testing.T) {
		w := stage(t, open)
		begin(w)
		w.reset("r")
		w.source.page("r", "t1") // where the anchor was
		w.tick(handoff.ActTurned)
		w.at(5, "t1")
	})
	t.Run("a resume", func(t *testing.T) {
		w := stage(t, open)
		begin(w)
		w.source.page("t1", "t2")
		w.source.page("t2", "t1")
		w.tick(handoff.ActTurned)
		w.tick(handoff.ActHalted)
		w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
		w.tick(handoff.ActTurned)
		w.clean()
	})
}

// sourceSaysLater: a source that is throttled or down is waited for, as long as it asked; a reset asks it at once.
func sourceSaysLater(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.reads(func(_ handoff.Answer, r *handoff.Reading) { r.RetryAfter = time.Hour })
	w.source.replies["c0"] = func() reply { return reply{Kind: handoff.ReadUnavailable, Detail: "429"} }
	w.tick(handoff.ActWaiting)
	if got := w.checkpoint().NextPollAt; !got.Equal(epoch.Add(time.Hour)) {
		w.Fatalf("next poll at %v, want after the hour that was asked for", got)
	}
	w.source.page("r", "r2", ev(1, "a"))
	w.reset("r")
	w.turn()
	w.clean()
}

// unaskable is a source whose definition cannot work.
type unaskable struct{ *source }

func (unaskable) Ask(context.Context, handoff.Cursor, time.Time) (handoff.Answer, error) {
	return handoff.Answer{}, fmt.Errorf("no secret: %w", handoff.ErrConfig)
}

// sourceConfig: a source that can never be asked halts; there is no answer, and none is archived. No operator can accept that.
func sourceConfig(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.b.Source = unaskable{w.source}
	w.tick(handoff.ActHalted)
	if h := w.haltedBy(handoff.HaltConfig); h.Answer.Key != "" || w.archived() != 0 {
		w.Fatalf("an answer that never came lies at %q; %d objects", h.Answer.Key, w.archived())
	}
	w.clean()
}

// waitsBounded: after many failures the wait stays bounded, and streams that fail together are not asked together.
func waitsBounded(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	for range 12 {
		w.tick(handoff.ActWaiting)
		w.clock.advance(time.Hour)
	}
	w.tick(handoff.ActWaiting)
	if wait := w.checkpoint().NextPollAt.Sub(w.clock.Now()); wait > 20*time.Minute {
		w.Fatalf("the wait has grown to %s", wait)
	}
	waits := map[time.Duration]bool{}
	for i := range 8 {
		b := w.b
		b.Stream += handoff.Stream(fmt.Sprintf("/%d", i))
		_, err := w.engine.Poll(w.ctx, b, handoff.PollMessage{Stream: b.Stream})
		w.must(err)
		cp, err := w.inner.State.Checkpoint(w.ctx, b.Stream)
		w.must(err)
		waits[cp.NextPollAt.Sub(w.clock.Now())] = true
	}
	if len(waits) < 2 {
		w.Fatalf("eight streams all wait %v", waits)
	}
}
