package walkthrough

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// writeStories are about answers of the store that are lost, what is laid out again, kept alive, and listed.
func writeStories() []story {
	return []story{
		{"OpenAnswersLost", openAnswersLost}, {"TurnAnswerLost", turnAnswerLost}, {"PromoteAnswerLost", promoteAnswerLost},
		{"PromoteNotReadBack", promoteNotReadBack},
		{"StoreOutOfReach", storeOutOfReach}, {"HaltRacingAnotherOpen", openRacingHalt},
		{"PageReadInOrder", pageReadInOrder}, {"SecondContentReadBack", secondReadBack}, {"RebuiltFoldedAndCut", rebuiltFolded},
		{"RebuiltWithConflict", rebuiltConflict}, {"RebuiltKnown", rebuiltKnown}, {"RebuiltByAnotherDefinition", rebuiltOther},
		{"KeepOverALoss", keepOverLoss}, {"KeepIsTriedAgain", keepTriedAgain}, {"KeepWhileClosing", keepWhileClosing},
		{"KeepSpooledAnswer", keepSpooled}, {"EnlistedPartitions", enlistedPartitions}, {"EnlistRaces", enlistRaces},
	}
}

func lost() error { return handoff.ErrUnknown }

// openAnswersLost: an open that was not made is made again; one that was made and whose answer is lost is ours by its token.
func openAnswersLost(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", ev(2, "a"))
	w.tap.hook("before", "open", lost)
	w.turn()
	w.tap.hook("after", "open", lost)
	w.turn()
	w.at(3, "c2")
	w.clean()
}

// turnAnswerLost: the same of a page that is turned at once.
func turnAnswerLost(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1")
	w.tap.hook("after", "turn", lost)
	w.tick(handoff.ActTurned)
	w.at(2, "c1")
	w.clean()
}

// promoteAnswerLost: whoever reads its own promote back is the winner, and goes on.
func promoteAnswerLost(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.tap.hook("after", "promote", lost)
	w.apply()
	w.at(2, "c1")
	if ms := w.queue.takePolls(); len(ms) != 1 || ms[0].Version != 2 {
		w.Fatalf("continuations %v, want one", ms)
	}
	w.clean()
}

// promoteNotReadBack: a refusal that may be the echo of our own write, and cannot be read back, is unknown: the delivery fails.
func promoteNotReadBack(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.tap.hook("after", "promote", func() error {
		w.tap.hook("before", "read/checkpoint", lost)
		return handoff.ErrRefused
	})
	if _, err := w.deliver(w.message(), 1); !errors.Is(err, handoff.ErrUnknown) || errors.Is(err, handoff.ErrRefused) {
		w.Fatalf("got %v, want unknown and not refused", err)
	}
	w.clean()
}

// storeOutOfReach: what fails at every try is unknown, whatever the store calls it.
func storeOutOfReach(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	tries := 0
	var fail func() error
	fail = func() error {
		if tries++; tries < 4 {
			w.tap.hook("before", "decide", fail)
		}
		return errBroken
	}
	w.tap.hook("before", "decide", fail)
	if err := w.decide(handoff.DecideIgnore, "1"); !errors.Is(err, handoff.ErrUnknown) {
		w.Fatalf("got %v, want unknown", err)
	}
	w.is("1", handoff.Held)
	w.clean()
}

// openRacingHalt: a poll got a good answer, and before it opens another one halts over a bad one: nothing opens under a halt.
func openRacingHalt(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tap.hook("before", "open", func() error {
		w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"))
		_, err := w.poll(w.other, handoff.PollMessage{})
		return err
	})
	w.tick(handoff.ActStale)
	w.haltedBy(handoff.HaltOrderRegression)
	w.none("1")
	w.clean()
}

// pageReadInOrder: lanes lie one after the other in the archive; the prefix is read in source order all the same.
func pageReadInOrder(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("2")
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"), ev(3, "a"))
	w.turn()
	w.driveNow()
	w.applied("1")
	w.clean()
}

// secondReadBack: each receipt gives its own content back, and two events whose declared fields are alike are two.
func secondReadBack(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"), second(1, "a"))
	w.turn()
	for want, r := range map[string]handoff.Receipt{"v1": w.is("1", handoff.Applied), "v2": w.conflicts("1")} {
		e, err := w.other.EventOf(w.ctx, r)
		if err != nil || !strings.Contains(string(e.Raw), want) {
			w.Errorf("%q %v, want %s", e.Raw, err, want)
		}
	}
	w.reads(func(_ handoff.Answer, r *handoff.Reading) {
		for i := range r.Events {
			r.Events[i].Digest = "the same"
		}
	})
	w.reset("r")
	w.source.page("r", "r2", rec("5", "5"), rec("6", "6"))
	w.turn()
	for _, id := range []string{"5", "6"} {
		if e, err := w.other.EventOf(w.ctx, w.is(id, handoff.Applied)); err != nil || e.ID != jsonID(id) {
			w.Errorf("the receipt of %s gives %s back: %v", id, e.ID, err)
		}
	}
}

// gone loses the events object of a page.
func (w *world) gone(v handoff.Version) {
	w.Helper()
	w.tap.archive = &forgetful{Archive: w.inner.Archive, gone: map[string]bool{mustDirectory(w, v).Object.Key: true}}
}

// rebuiltFolded: a page is laid out again as it was: folded, and cut where its own hold-back cut it, however late it is.
func rebuiltFolded(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.HoldBack = 10 * time.Minute })
	w.reads(nil)
	w.source.page("c0", "c1", rec("a", "at -30"), rec("a", "at -30"), rec("b", "at -20"), rec("c", "at -3"))
	w.tick(handoff.ActOpened)
	w.gone(1)
	w.clock.advance(time.Hour)
	w.apply()
	w.at(2, "c0")
	w.is("b", handoff.Applied)
	w.none("c")
	w.clean()
}

// rebuiltConflict: a second content of a settled id was no replay when the page opened, and is none now.
func rebuiltConflict(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", second(1, "a"), ev(2, "b"))
	w.turn()
	w.tick(handoff.ActOpened)
	w.gone(2)
	w.apply()
	w.is("2", handoff.Applied)
	w.conflicts("1")
	w.clean()
}

// rebuiltKnown: an event that was known when the page opened was not late, and is not now.
func rebuiltKnown(t *testing.T, open func(*testing.T) Backend) {
	w := heldOnLostPage(t, open)
	w.tick(handoff.ActOpened)
	w.gone(4)
	w.apply()
	w.is("40", handoff.Applied)
}

// rebuiltOther: a definition that reads the answer differently lays nothing out, and leaves the place free for one that reads it alike.
func rebuiltOther(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	m := w.message()
	w.inner.Archive = &forgetful{Archive: w.inner.Archive, gone: map[string]bool{mustDirectory(w, 1).Object.Key: true}}
	w.tap.archive = w.inner.Archive
	w.reads(func(_ handoff.Answer, r *handoff.Reading) { r.Events[0].Entity = "another" })
	if _, err := w.deliver(m, 1); !errors.Is(err, handoff.ErrDigest) {
		w.Fatalf("got %v, want a digest error", err)
	}
	if _, err := w.inner.Archive.Get(w.ctx, mustDirectory(w, 1).Object.Key); !errors.Is(err, handoff.ErrNotFound) {
		w.Fatalf("something was laid out: %v", err)
	}
	w.reads(nil)
	_, err := w.deliver(m, 2)
	w.must(err)
	w.effects("a", "1 < 1")
	w.clean()
}

// keepOverLoss: an object that is gone already does not stop the others from being kept alive.
func keepOverLoss(t *testing.T, open func(*testing.T) Backend) {
	w, a := shortLived(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	dir := mustDirectory(w, 1)
	a.mu.Lock()
	a.born[dir.Object.Key] = epoch.Add(-2 * archiveLife)
	a.mu.Unlock()
	w.source.end("c1", "c1")
	for range 12 {
		w.clock.advance(archiveLife / 6)
		w.must(w.engine.Keep(w.ctx, w.b.Stream))
	}
	if a.gone(dir.Raw.Key) {
		t.Fatal("the raw answer of an open page is gone too")
	}
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.driveNow()
	w.is("1", handoff.Applied)
}

// keepTriedAgain: what could not be kept alive now is tried at the next poll, not a third of a life later.
func keepTriedAgain(t *testing.T, open func(*testing.T) Backend) {
	w, a := shortLived(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	dir := mustDirectory(w, 1)
	w.clock.advance(archiveLife * 45 / 100)
	w.tap.hook("before", "archive/keep", func() error { return errBroken })
	w.driveNow()
	w.clock.advance(archiveLife / 10)
	w.driveNow()
	w.clock.advance(archiveLife / 2)
	if a.gone(dir.Object.Key) || a.gone(dir.Raw.Key) {
		t.Fatal("it was not tried again in time")
	}
}

// keepWhileClosing: what a closing page needs lives on while nobody can close it.
func keepWhileClosing(t *testing.T, open func(*testing.T) Backend) {
	w, a := shortLived(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("r", "r")
	w.turn()
	w.reset("r")
	for range 12 {
		w.clock.advance(archiveLife / 6)
		w.must(w.engine.Keep(w.ctx, w.b.Stream))
	}
	if a.gone(mustDirectory(w, 1).Object.Key) {
		t.Fatal("the events object is gone")
	}
	w.tick(handoff.ActCaughtUp)
	w.is("1", handoff.Superseded)
}

// keepSpooled: a page that opened from a cached answer keeps it alive where it lies, under the version that fetched it.
func keepSpooled(t *testing.T, open func(*testing.T) Backend) {
	w, a := shortLived(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.reset("c0")
	w.must(w.inner.State.PutSpool(w.ctx, handoff.SpoolEntry{
		Stream: w.b.Stream, Version: 2, RequestCursor: "c0", Epoch: 1, Raw: mustDirectory(w, 1).Raw, FetchedAt: w.clock.Now(),
	}))
	w.turn()
	w.months()
	if dir := mustDirectory(w, 2); a.gone(dir.Raw.Key) || a.gone(dir.Object.Key) {
		t.Fatalf("the answer at %s or the events at %s are gone", dir.Raw.Key, dir.Object.Key)
	}
}

// enlistedPartitions: a tick polls the streams of a definition, its partitions with them, each once; one that is retired takes no other
// with it.
func enlistedPartitions(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	name := w.b.Stream
	w.source.end("c0", "c0")
	for _, s := range []handoff.Stream{name, name + "/eu", name + "/us"} {
		w.b.Stream = s
		w.tick(handoff.ActCaughtUp)
	}
	polls := func(want ...handoff.Stream) {
		w.Helper()
		got := slices.Sorted(slices.Values(w.roll(name, name+"-2").Poll))
		if slices.Sort(want); !slices.Equal(got, want) {
			w.Fatalf("a tick polls %v, want %v", got, want)
		}
	}
	polls(name, name+"-2", name+"/eu", name+"/us")
	w.b.Stream = name + "/eu"
	w.must(w.command(handoff.Decision{Kind: handoff.DecideRetire}))
	polls(name, name+"-2", name+"/us")
}

// enlistRaces: a retirement that lands anywhere in a tick's note stands, and is no orphan; a note that cannot be made now stops nothing.
func enlistRaces(t *testing.T, open func(*testing.T) Backend) {
	for _, c := range []struct{ when, site string }{{"before", "read/checkpoint"}, {"after", "read/checkpoint"}, {"before", "enlist"}} {
		t.Run(c.when+" "+c.site, func(t *testing.T) {
			w := stage(t, open)
			w.source.end("c0", "c0")
			w.settleAll()
			w.tap.hook(c.when, c.site, func() error { return w.command(handoff.Decision{Kind: handoff.DecideRetire, Rev: 1}) })
			if _, ok := w.orphan(w.roll()); ok && c.site != "enlist" {
				t.Error("retired on purpose, and orphaned")
			}
			entries, err := w.inner.State.Streams(w.ctx)
			w.must(err)
			for _, e := range entries {
				if e.Stream == w.b.Stream && (e.RetiredAt.IsZero() || !e.OrphanedAt.IsZero()) {
					t.Errorf("retired at %v, orphaned at %v", e.RetiredAt, e.OrphanedAt)
				}
			}
		})
	}
	t.Run("not written", func(t *testing.T) {
		w := stage(t, open)
		w.source.end("c0", "c0")
		w.settleAll()
		w.tap.hook("before", "enlist", lost)
		if _, ok := w.orphan(w.roll()); !ok {
			t.Error("the orphan is not shown")
		}
	})
}
