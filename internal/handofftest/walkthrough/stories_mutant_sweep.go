package walkthrough

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// sweepStories are about promotes, continuations and driving again.
func sweepStories() []story {
	return []story{
		{"BudgetOfATick", budget}, {"NoContinuationOfAPause", noContinuationOfPause}, {"OneWinnerGoesOn", oneWinner},
		{"PromoteRacingAResetToTheSameCursor", promoteRacingSameCursor}, {"ClosingRacingAReset", closingRacingReset},
		{"DriveLease", driveLease}, {"DrivesRace", drivesRace}, {"DriveNotSent", driveNotSent}, {"OpenNotSent", openNotSent},
		{"DrivesOnlyWhatIsOpen", drivesOpen}, {"ChunksOfAPage", chunksOfPage},
	}
}

// budget: the messages that a tick's page sends turn as many pages as the budget says, and not one more; each tick begins anew.
func budget(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Pages = 3 })
	for i, c := range []handoff.Cursor{"c0", "c1", "c2", "c3", "c4", "c5", "c6"} {
		next := handoff.Cursor("c" + string(rune('1'+i)))
		if w.source.page(c, next); i%2 == 1 {
			w.source.page(c, next, ev(i, "a"))
		}
	}
	for _, want := range []handoff.Version{4, 7} {
		if _, err := w.poll(w.engine, handoff.PollMessage{}); err != nil {
			w.Fatal(err)
		}
		for range 20 {
			w.apply()
			for _, m := range w.queue.takePolls() {
				if _, err := w.poll(w.engine, m); err != nil {
					w.Fatal(err)
				}
			}
		}
		if v := w.checkpoint().Version; v != want {
			w.Fatalf("version %d after a tick of three pages, want %d", v, want)
		}
	}
	w.clean()
}

// noContinuationOfPause: a page that drains under a pause sends no continuation.
func noContinuationOfPause(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause, Quiet: true}))
	w.apply()
	w.at(2, "c1")
	if ms := w.queue.takePolls(); len(ms) != 0 {
		w.Fatalf("a paused stream sent %v", ms)
	}
	w.clean()
}

// oneWinner: two deliveries promote one page: the winner alone sends the continuation.
func oneWinner(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.tap.hook("before", "promote", func() error {
		_, err := w.poll(w.other, handoff.PollMessage{})
		w.at(2, "c1")
		return err
	})
	w.apply()
	if ms := w.queue.takePolls(); len(ms) != 1 {
		w.Fatalf("%d continuations of one page: %v", len(ms), ms)
	}
	w.clean()
}

// promoteRacingSameCursor: a promote sleeps, and a reset goes to the very cursor that its page was fetched with: the reset's word stands.
func promoteRacingSameCursor(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.tap.hook("before", "promote", func() error { w.reset("c0"); return nil })
	w.apply()
	w.at(2, "c0")
	w.clean()
}

// closingRacingReset: a poll ends the closing of one page, and meanwhile another reset is closing the next: it opens nothing.
func closingRacingReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("r", "r2", ev(2, "a"))
	w.source.page("s", "s2", ev(3, "a"))
	w.tick(handoff.ActOpened)
	w.reset("r")
	w.tap.hook("before", "close", func() error {
		if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
			return err
		}
		w.reset("s")
		return nil
	})
	w.tick(handoff.ActClosing)
	if cp := w.at(3, "s"); cp.Closing != 2 {
		w.Fatalf("closing %d, want 2", cp.Closing)
	}
	w.tick(handoff.ActOpened)
	w.clean()
}

// driveLease: the lease begins when the messages are sent and doubles with each drive; one that lies in the future counts as over. A
// delivery after a drive knows that it is not the first.
func driveLease(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.clock.advance(200 * time.Second)
	w.tick(handoff.ActDriven)
	w.tick(handoff.ActBlocked)
	if n := w.page(1).Drives; n != 2 {
		w.Fatalf("%d drives, want 2", n)
	}
	w.clock.advance(300 * time.Second)
	w.tick(handoff.ActBlocked)
	w.clock.advance(100 * time.Second)
	w.tick(handoff.ActDriven)
	w.clock.advance(-24 * time.Hour)
	w.tick(handoff.ActDriven)
	w.clean()
}

// drivesRace: of two polls that drive at once one does, and the other is content; a drive whose end is overtaken is done.
func drivesRace(t *testing.T, open func(*testing.T) Backend) {
	for _, where := range []struct{ when, site string }{{"before", "drive"}, {"after", "send"}} {
		t.Run(where.when+" "+where.site, func(t *testing.T) {
			w := stage(t, open)
			w.source.page("c0", "c1", ev(1, "a"))
			w.tick(handoff.ActOpened)
			w.clock.advance(time.Hour)
			w.tap.hook(where.when, where.site, func() error {
				_, err := w.poll(w.other, handoff.PollMessage{Drive: true})
				return err
			})
			w.tick(handoff.ActDriven)
			w.apply()
			w.at(2, "c1")
			w.clean()
		})
	}
}

// driveNotSent: a page counts as driven only when every message was accepted; the next poll drives at once.
func driveNotSent(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tick(handoff.ActOpened)
	w.queue.takeChunks()
	w.clock.advance(time.Hour)
	w.tap.hook("before", "send", func() error { return errBroken })
	if _, err := w.poll(w.engine, handoff.PollMessage{}); err == nil {
		w.Fatal("messages that were not accepted were reported sent")
	}
	w.tick(handoff.ActDriven)
	w.apply()
	w.at(2, "c1")
	w.clean()
}

// openNotSent: the same of the messages of a page that just opened.
func openNotSent(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.tap.hook("before", "send", func() error { return errBroken })
	if _, err := w.poll(w.engine, handoff.PollMessage{}); err == nil {
		w.Fatal("messages that were not accepted were reported sent")
	}
	w.tick(handoff.ActDriven)
	w.apply()
	w.at(2, "c1")
	w.clean()
}

// drivesOpen: chunks that are done are not sent again, and a message that comes again for one does nothing, unless the page waits for
// its promote.
func drivesOpen(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.ChunkSize = 1 })
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.tick(handoff.ActOpened)
	ms := w.queue.takeChunks()
	for _, m := range ms {
		_, err := w.deliver(m, 1)
		w.must(err)
	}
	if r, err := w.deliver(ms[1], 2); err != nil || r != (handoff.ApplyReport{}) {
		w.Fatalf("a chunk that was done was worked on again: %+v %v", r, err)
	}
	_, err := w.poll(w.engine, handoff.PollMessage{Drive: true})
	w.must(err)
	if ms := w.queue.takeChunks(); len(ms) != 1 || ms[0].Chunk != 0 {
		w.Fatalf("driven were %v, want chunk 0 alone", ms)
	}
	w.must(w.decide(handoff.DecideIgnore, "1"))
	w.die("before", "promote")
	_, _ = w.deliver(ms[0], 2)
	w.restart()
	w.at(1, "c0")
	if r, err := w.deliver(ms[0], 3); err != nil || !r.Promoted {
		w.Fatalf("whoever comes after the death does not promote: %+v %v", r, err)
	}
	w.at(2, "c1")

	// A message may name anything.
	w.source.page("c1", "c2", ev(3, "a"))
	w.tick(handoff.ActOpened)
	for _, m := range []handoff.ChunkMessage{{Version: 2, Chunk: -1}, {Version: 2, Chunk: 1}, {Version: 2, Chunk: 1000}, {Version: 99}} {
		m.Stream = w.b.Stream
		if r, err := w.deliver(m, 1); err != nil || r != (handoff.ApplyReport{}) {
			w.Errorf("%+v: %+v %v", m, r, err)
		}
	}
	w.none("3")
	w.clean()
}

// unevenLanes are 51 lanes of one event and as many of two, by turns: two events to a chunk would make 102 chunks.
func unevenLanes() (all []record) {
	for i := range 51 {
		single, double := rec(fmt.Sprint("s", i), fmt.Sprint(3*i+1)), fmt.Sprint("double ", i)
		all = append(all, single,
			record{ID: fmt.Sprint("d", i), Pos: fmt.Sprint(3*i + 2), Entity: double}, record{ID: fmt.Sprint("e", i), Pos: fmt.Sprint(3*i + 3), Entity: double})
	}
	return all
}

// chunksOfPage: a lane is never split, no chunk is empty, chunks have about the size asked for, and a page has at most 100 of them.
func chunksOfPage(t *testing.T, open func(*testing.T) Backend) {
	for name, c := range map[string]struct {
		size   int
		page   []record
		chunks int
	}{
		"a long lane first":     {1, evs("a", 1, 2, 3), 1},
		"one each":              {1, []record{rec("1", "1"), rec("2", "2"), rec("3", "3")}, 3},
		"two and one":           {2, []record{rec("1", "1"), rec("2", "2"), rec("3", "3")}, 2},
		"too many for one":      {1, manyRecords(), many / 2},
		"lanes that do not fit": {1, unevenLanes(), 51},
		"25 if not said":        {0, manyRecords(), (many + 24) / 25},
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open, func(s *handoff.Settings) { s.ChunkSize = c.size })
			w.source.page("c0", "c1", c.page...)
			w.tick(handoff.ActOpened)
			if n := w.page(1).Chunks; n != c.chunks || len(w.queue.chunks) != n {
				w.Fatalf("%d chunks and %d messages, want %d", n, len(w.queue.chunks), c.chunks)
			}
		})
	}
	t.Run("each event its own lane", func(t *testing.T) {
		w := stage(t, open, func(s *handoff.Settings) { s.Lanes = handoff.LaneEvent })
		w.holds("1")
		w.source.page("c0", "c1", evs("a", 1, 2)...)
		w.turn()
		w.is("2", handoff.Applied)
	})
	t.Run("a second content in the lane of the first", func(t *testing.T) {
		w := stage(t, open)
		w.source.page("c0", "c1", ev(1, "a"), second(1, "b"), ev(2, "a"))
		w.turn()
		w.none("2") // it waits behind the conflict
	})
}
