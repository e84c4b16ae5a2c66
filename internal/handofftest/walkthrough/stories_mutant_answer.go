package walkthrough

import (
	"bytes"
	"errors"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// answerStories are about answers that were archived, spooled, adopted or accepted, and about who asks the source.
func answerStories() []story {
	return []story{
		{"SpoolThatDoesNotCount", spoolDoesNotCount}, {"SpoolOfAnEmptyPage", spoolEmpty}, {"SingleUseKeptBeforeJudged", onceKept},
		{"SingleUseWithoutToken", onceWithoutToken}, {"RefusedCursorAdopts", refusedAdopts}, {"AdoptionThatDoesNotCount", adoptionDoesNotCount},
		{"AcceptedAnswerDamaged", acceptedDamaged}, {"AcceptedAnswerUnreadable", acceptedUnreadable}, {"AcceptsEnd", acceptsEnd},
		{"UnreadableIsKept", unreadableKept}, {"HaltRacingAPause", haltRacingPause}, {"PageNotReadIsNotNone", pageNotRead},
		{"StartsAndDoesNot", starts}, {"KeepFails", keepFails}, {"KeepRacingAPromote", keepRacing},
	}
}

// spoolDoesNotCount: an entry of a walk, of another fetch definition, whose answer is gone or damaged, that is no page, or that would
// halt: the source is asked.
func spoolDoesNotCount(t *testing.T, open func(*testing.T) Backend) {
	for name, c := range map[string]struct {
		entry  handoff.SpoolEntry
		change func(*world)
	}{
		"of a walk":                    {entry: handoff.SpoolEntry{Walk: 1}},
		"not the first":                {entry: handoff.SpoolEntry{N: 1}},
		"gone":                         {change: func(w *world) { w.tap.archive = broken{w.inner.Archive, ".json", handoff.ErrNotFound} }},
		"damaged":                      {change: func(w *world) { w.tap.archive = broken{w.inner.Archive, ".body", nil} }},
		"of another definition":        {change: func(w *world) { w.b.FetchHash = "f2" }},
		"no page any more":             {change: func(w *world) { w.kindOf("v1", handoff.ReadUnavailable) }},
		"of an order that would halt":  {change: func(w *world) { w.swapped() }},
		"of a source with nothing new": {change: func(w *world) { w.emptied() }},
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.holds("1")
			w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
			w.turn()
			w.reset("c0")
			c.entry.Stream, c.entry.Version, c.entry.RequestCursor, c.entry.Epoch = w.b.Stream, 2, "c0", 1
			c.entry.Raw, c.entry.FetchedAt = mustDirectory(w, 1).Raw, w.clock.Now()
			w.must(w.inner.State.PutSpool(w.ctx, c.entry))
			fresh := ev(3, "c")
			fresh.Body = "v3"
			w.source.page("c0", "c9", fresh)
			if c.change != nil {
				c.change(w)
			}
			w.tick(handoff.ActOpened)
			w.tap.archive = w.inner.Archive
			w.apply()
			w.at(3, "c9")
			w.is("3", handoff.Applied)
		})
	}
}

// kindOf makes answers whose body holds a text another kind.
func (w *world) kindOf(text string, kind handoff.ReadKind) {
	w.rereads(text, func(r *handoff.Reading) { *r = handoff.Reading{Kind: kind, Detail: "a new definition"} })
}

func (w *world) swapped() {
	w.rereads("v1", func(r *handoff.Reading) { r.Events[0], r.Events[1] = r.Events[1], r.Events[0] })
}

func (w *world) emptied() {
	w.rereads("v1", func(r *handoff.Reading) { r.Events, r.Next, r.End = nil, "c0", true })
}

func (w *world) rereads(text string, edit func(*handoff.Reading)) {
	w.reads(func(a handoff.Answer, r *handoff.Reading) {
		if bytes.Contains(a.Body, []byte(text)) {
			edit(r)
		}
	})
}

// spoolEmpty: a cached page that is empty and moves the cursor is turned without a fetch.
func spoolEmpty(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1")
	w.tick(handoff.ActTurned)
	w.reset("c0")
	asked := len(w.source.asked)
	w.must(w.inner.State.PutSpool(w.ctx, handoff.SpoolEntry{
		Stream: w.b.Stream, Version: 3, RequestCursor: "c0", Epoch: 1, Raw: mustDirectory(w, 1).Raw, FetchedAt: w.clock.Now(),
	}))
	w.tick(handoff.ActTurned)
	w.at(4, "c1")
	if len(w.source.asked) != asked {
		w.Fatal("the source was asked although the answer was at hand")
	}
	w.clean()
}

// onceKept: the answer to a single-use token is archived before anything is judged by it, also when its token comes back.
func onceKept(t *testing.T, open func(*testing.T) Backend) {
	for name, next := range map[string]handoff.Cursor{"a new token": "c1", "the same token": "c0"} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open, func(s *handoff.Settings) { s.Contract.OnceToken, s.Contract.Overlap = true, true })
			w.source.page("c0", next, ev(1, "a"))
			w.die("before", "read/replays")
			if _, err := w.poll(w.engine, handoff.PollMessage{}); err == nil {
				w.Fatal("the dead poll reported success")
			}
			w.restart()
			w.refuses("c0")
			w.turn()
			w.effects("a", "1 < 1")
			w.at(2, next)
			w.clean()
		})
	}
}

// onceWithoutToken: an answer that carries no token and no event did not spend the token: it leaves no trace; nor does one that says
// only "later".
func onceWithoutToken(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.OnceToken = true })
	w.source.end("c0", "")
	w.tick(handoff.ActCaughtUp)
	w.source.replies["c0"] = func() reply { return reply{Kind: handoff.ReadUnavailable, Next: "c1"} }
	w.tick(handoff.ActWaiting)
	if n := w.archived(); n != 0 {
		w.Fatalf("%d objects are archived", n)
	}
	w.clean()
}

// dead leaves an archived answer to c0 behind, whose poll died before it could open.
func (w *world) dead() {
	w.Helper()
	w.source.page("c0", "c1", ev(1, "a"))
	w.die("before", "open")
	if _, err := w.poll(w.engine, handoff.PollMessage{}); err == nil {
		w.Fatal("the dead poll reported success")
	}
	w.restart()
	w.refuses("c0")
}

// refusedAdopts: before a cursor counts as rejected, an archived answer to it is used, also of a token that was thought durable.
func refusedAdopts(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.dead()
	w.turn()
	w.at(2, "c1")
	w.effects("a", "1 < 1")
	w.clean()
}

// adoptionDoesNotCount: half of an answer, a damaged one, or one under another fetch definition is none.
func adoptionDoesNotCount(t *testing.T, open func(*testing.T) Backend) {
	for name, change := range map[string]func(*world){
		"half":                  func(w *world) { w.tap.archive = broken{w.inner.Archive, ".body", handoff.ErrNotFound} },
		"damaged":               func(w *world) { w.tap.archive = broken{w.inner.Archive, ".body", nil} },
		"of another definition": func(w *world) { w.b.FetchHash = "f2" },
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.dead()
			change(w)
			w.tick(handoff.ActWaiting)
			w.at(1, "c0")
			w.none("1")
		})
	}
}

// acceptedDamaged: an accepted answer whose bytes are not what they were is not judged: the source is asked.
func acceptedDamaged(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"))
	w.tick(handoff.ActHalted)
	w.accept(handoff.HaltOrderRegression)
	w.tap.archive = broken{w.inner.Archive, ".body", nil}
	w.tick(handoff.ActWaiting)
	if n := len(w.checkpoint().Accepts); n != 0 {
		w.Fatalf("%d accepts of an answer that is gone", n)
	}
}

// acceptedUnreadable: the definition was changed, and the accepted answer is unreadable now: that halts at once, for nothing else would
// be asked.
func acceptedUnreadable(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"))
	w.tick(handoff.ActHalted)
	w.accept(handoff.HaltOrderRegression)
	w.kindOf("v1", handoff.ReadUnreadable)
	w.tick(handoff.ActHalted)
	w.haltedBy(handoff.HaltPageUnreadable)
	var invalid *handoff.InvalidError
	h := w.checkpoint().Halt
	if err := w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: h.Answer.Digest}); !errors.As(err, &invalid) {
		w.Fatalf("an unreadable answer was accepted: %v", err)
	}
	w.clean()
}

// acceptsEnd: a resume and a reset drop accepts: the source is asked again.
func acceptsEnd(t *testing.T, open func(*testing.T) Backend) {
	for name, word := range map[string]handoff.Decision{"resume": {Kind: handoff.DecideResume}, "reset": {Kind: handoff.DecideReset, Cursor: "c0"}} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"), record{ID: "x", Pos: "1", Entity: "b"})
			w.tick(handoff.ActHalted)
			w.accept(handoff.HaltOrderRegression)
			w.tick(handoff.ActHalted)
			w.haltedBy(handoff.HaltPositionConflict)
			w.must(w.command(word))
			w.source.page("c0", "c2", ev(3, "a"))
			w.turn()
			w.effects("a", "3 < 3")
			w.clean()
		})
	}
	t.Run("reset of an accept", func(t *testing.T) {
		w := stage(t, open)
		w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"))
		w.tick(handoff.ActHalted)
		w.accept(handoff.HaltOrderRegression)
		w.reset("r")
		w.source.page("r", "r2", ev(3, "a"))
		w.turn()
		w.effects("a", "3 < 3")
		w.clean()
	})
}

// unreadableKept: already the first unreadable answer is kept for a person.
func unreadableKept(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.replies["c0"] = func() reply { return reply{Kind: handoff.ReadUnreadable} }
	w.tick(handoff.ActWaiting)
	if n := w.archived(); n != 2 {
		w.Fatalf("%d objects, want the body and its description", n)
	}
	w.clean()
}

// haltRacingPause: a pause lands between a bad answer and its halt: the stream is not halted beneath it.
func haltRacingPause(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"))
	w.tap.hook("before", "halt", func() error { return w.command(handoff.Decision{Kind: handoff.DecidePause}) })
	w.tick(handoff.ActStale)
	if cp := w.checkpoint(); cp.Halt != nil || !cp.Paused {
		w.Fatalf("paused %v, halt %+v", cp.Paused, cp.Halt)
	}
	w.clean()
}

// pageNotRead: a page that could not be read is not taken for none: the source is not asked behind an open page.
func pageNotRead(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	asked := len(w.source.asked)
	w.tap.hook("before", "read/page", func() error { return handoff.ErrUnknown })
	if _, err := w.poll(w.engine, handoff.PollMessage{}); err == nil || len(w.source.asked) != asked {
		w.Fatalf("got %v, and the source was asked %d times", err, len(w.source.asked)-asked)
	}
	w.clean()
}

// starts: a definition without a start waits; a retired stream is not started anew, whoever else is retired; who loses the start goes on.
func starts(t *testing.T, open func(*testing.T) Backend) {
	entry := func(w *world, s handoff.Stream) {
		w.must(w.inner.State.Commit(w.ctx, handoff.Tx{Token: w.ids.New(), Stream: s, Entry: &handoff.StreamEntry{Stream: s, StartedAt: epoch, RetiredAt: epoch}}))
	}
	t.Run("nowhere", func(t *testing.T) {
		w := stage(t, open)
		w.b.Start = ""
		w.tick(handoff.ActNotStarted)
	})
	t.Run("retired", func(t *testing.T) {
		w := stage(t, open)
		entry(w, w.b.Stream)
		w.tick(handoff.ActNotStarted)
	})
	t.Run("another is retired", func(t *testing.T) {
		w := stage(t, open)
		entry(w, w.b.Stream+"/other")
		w.source.page("c0", "c1", ev(1, "a"))
		w.turn()
	})
	t.Run("raced", func(t *testing.T) {
		w := stage(t, open)
		w.source.page("c0", "c1", ev(1, "a"))
		w.tap.hook("before", "start", func() error { _, err := w.poll(w.other, handoff.PollMessage{}); return err })
		if _, err := w.poll(w.engine, handoff.PollMessage{}); err != nil {
			w.Fatal(err)
		}
		w.apply()
		w.at(2, "c1")
		w.clean()
	})
}

// keepFails: an archive that cannot be kept alive now does not stop the page.
func keepFails(t *testing.T, open func(*testing.T) Backend) {
	w, _ := shortLived(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.clock.advance(archiveLife / 2)
	w.tap.hook("before", "archive/keep", func() error { return errBroken })
	w.tick(handoff.ActDriven)
	w.clean()
}

// keepRacing: a page is promoted while a poll that names its version keeps the archive alive: the poll exits, so that messages do not
// multiply.
func keepRacing(t *testing.T, open func(*testing.T) Backend) {
	w, _ := shortLived(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", ev(2, "a"))
	w.tick(handoff.ActOpened)
	w.clock.advance(archiveLife / 2)
	w.tap.hook("before", "note", func() error { w.byOther(); return nil })
	r, err := w.poll(w.engine, handoff.PollMessage{Version: 1})
	w.must(err)
	if r.Did != handoff.ActStale {
		w.Fatalf("the poll of version 1 did %q", r.Did)
	}
	w.at(2, "c1")
	w.clean()
}
