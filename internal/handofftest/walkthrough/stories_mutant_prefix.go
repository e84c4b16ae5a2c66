package walkthrough

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// prefixStories are about the applied position and about replays.
func prefixStories() []story {
	return []story{
		{"PrefixTable", prefixTable}, {"PrefixByArrival", prefixByArrival}, {"PrefixOverUndelivered", prefixOverUndelivered},
		{"PrefixNeverDecreases", prefixNeverDecreases}, {"PositionsInTheFuture", futurePositions}, {"ManyEvents", manyEvents},
		{"ReplaysAreDropped", replaysDropped}, {"IdentityRevised", identityRevised}, {"DocumentPosition", documentPosition},
		{"BehindAndNot", behindAndNot},
	}
}

// prefixTable: how far the sweep moves the applied position on a page that is held.
func prefixTable(t *testing.T, open func(*testing.T) Backend) {
	for name, c := range map[string]struct {
		page []record
		want string
	}{
		"a late event does not hold it back":             {[]record{rec("15", "15"), rec("30", "30"), rec("held", "40")}, "30"},
		"a second content does not hold it back":         {[]record{{ID: "20", Pos: "20", Entity: "of 20", Body: "v2"}, rec("30", "30"), rec("held", "40")}, "30"},
		"an invalid record has no place":                 {[]record{rec("30", "30"), bad("x", "35"), rec("held", "40")}, "30"},
		"an event without a position is in nobody's way": {[]record{rec("30", "30"), rec("n", ""), rec("held", "40")}, "30"},
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
			w.holds("held")
			w.source.page("c0", "c1", rec("10", "10"), rec("20", "20"))
			w.source.page("c1", "c2", c.page...)
			w.turn()
			w.turn()
			if r, ok := w.receipt("x"); ok {
				w.must(w.decideOn(handoff.DecideIgnore, r))
			}
			w.driveNow()
			w.applied(c.want)
			w.clean()
		})
	}
	t.Run("turned", func(t *testing.T) { // no place of an invalid record, nor of a second content, becomes the applied position
		w := stage(t, open)
		w.source.page("c0", "c1", rec("1", "1"), bad("x", "99"), rec("2", "2"), record{ID: "2", Pos: "98", Entity: "of 2", Body: "v2"})
		w.turn()
		w.must(w.decide(handoff.DecideIgnore, "x"))
		w.must(w.decideOn(handoff.DecideIgnore, w.conflicts("2")))
		w.driveNow()
		w.at(2, "c1")
		w.applied("2")
		w.clean()
	})
}

// prefixByArrival: without positions of the source, the order of arrival is the position, while a page is held and when it is turned.
func prefixByArrival(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Arrival = true })
	w.holds("1")
	w.source.page("c0", "c1", rec("3", "3"), rec("1", "1"))
	w.turn()
	w.driveNow()
	w.applied("arrival 1.0")
	w.must(w.decide(handoff.DecideIgnore, "1"))
	w.driveNow()
	w.at(2, "c1")
	w.applied("arrival 1.1")
	w.source.page("c1", "c2", rec("7", "7"), rec("6", "6"), rec("5", "5"))
	w.turn() // and no sweep between
	w.applied("arrival 2.2")
	w.clean()
}

// prefixOverUndelivered: an event that nobody has worked on ends the prefix like a hold.
func prefixOverUndelivered(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.ChunkSize = 1 })
	w.source.page("c0", "c1", rec("1", "1"), rec("2", "2"), rec("3", "3"))
	w.tick(handoff.ActOpened)
	for _, m := range w.queue.takeChunks() {
		if m.Chunk != 1 {
			_, err := w.deliver(m, 1)
			w.must(err)
		}
	}
	_, err := w.poll(w.engine, handoff.PollMessage{Drive: true})
	w.must(err)
	w.applied("1")
	if ms := w.queue.takeChunks(); len(ms) != 1 || ms[0].Chunk != 1 {
		w.Fatalf("the sweep sent %v, want the chunk that is not done", ms)
	}
	w.clean()
}

// prefixNeverDecreases: a sweep that read 1 sleeps, another one moves the position to 2, and the first one wakes.
func prefixNeverDecreases(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("2", "3")
	w.source.page("c0", "c1", rec("1", "1"), rec("2", "2"), rec("3", "3"))
	w.turn()
	w.tap.hook("before", "note", func() error {
		w.must(w.decideBy(w.other, handoff.DecideIgnore, "2"))
		_, err := w.poll(w.other, handoff.PollMessage{Drive: true})
		w.applied("2")
		return err
	})
	_, err := w.poll(w.engine, handoff.PollMessage{Drive: true})
	w.must(err)
	w.applied("2")
	w.clean()
}

// futurePositions: clocks differ. A position beyond the time of the fetch is not applied with its page, nor by a sweep before its time;
// what a sweep has moved stays when the page is turned.
func futurePositions(t *testing.T, open func(*testing.T) Backend) {
	at := func(minutes int) string { return epoch.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339) }
	w := stage(t, open)
	w.reads(nil)
	w.holds("c", "d")
	w.source.page("c0", "c1", rec("a", "at -1"), rec("b", "at 2"), rec("c", "at 3"))
	w.turn() // without a hold-back nothing is cut, however young
	w.driveNow()
	w.applied(at(-1))
	w.clock.advance(time.Hour)
	w.driveNow()
	w.applied(at(2))
	w.must(w.decide(handoff.DecideIgnore, "c"))
	w.driveNow()
	w.at(2, "c1")
	w.applied(at(3)) // the page itself says -1
	w.source.page("c1", "c2", rec("e", "at 30"), rec("f", "at 90"))
	w.turn()
	w.at(3, "c2")
	w.applied(at(30))
	w.clean()
}

// many is more events than one read of receipts takes.
const many = 120

func manyRecords() (all []record) {
	for i := 1; i <= many; i++ {
		all = append(all, rec(fmt.Sprint(i), fmt.Sprint(i)))
	}
	return all
}

// manyEvents: a hold among the first ends the prefix for all behind it, and all are known when they are shown again.
func manyEvents(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.ChunkSize, s.Lanes = 200, handoff.LaneEvent })
	w.holds("5")
	w.source.page("c0", "c1", manyRecords()...)
	w.turn()
	if p := w.page(1); p.Chunks != 1 {
		w.Fatalf("%d chunks, want one of the size asked for", p.Chunks)
	}
	w.driveNow()
	w.applied("4")
	w.must(w.decide(handoff.DecideIgnore, "5"))
	w.driveNow()
	w.at(2, "c1")
	w.source.end("again", "again2", manyRecords()...)
	w.reset("again")
	if r := w.tick(handoff.ActTurned); r.Replays != many {
		w.Fatalf("%d of %d replays were dropped", r.Replays, many)
	}
	w.clean()
}

// replaysDropped: what is proven settled does not open again: above the applied position where the source overlaps, and also a record
// without a place.
func replaysDropped(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.holds("1")
	w.source.page("c0", "c1", rec("1", "1"), rec("2", "2"))
	w.turn()
	w.reset("c0")
	if r := w.turn(); r.Events != 1 || r.Replays != 1 {
		w.Fatalf("%d events, %d replays; want the held one and one replay", r.Events, r.Replays)
	}
	w.must(w.decide(handoff.DecideIgnore, "1"))
	w.driveNow()
	w.b.Contract.Overlap = false
	w.source.page("c1", "c2", bad("x", "50"), rec("3", "3"))
	w.source.page("c2", "c3", bad("x", "50"), rec("4", "4"))
	w.turn()
	w.must(w.decide(handoff.DecideQuarantine, "x"))
	w.driveNow()
	if r := w.turn(); r.Events != 1 || r.Replays != 1 {
		w.Fatalf("%d events, %d replays; want 4 new and x a replay", r.Events, r.Replays)
	}
	w.clean()
}

// identityRevised: a digest made under another identity revision cannot be compared: the event is a replay, not a conflict.
func identityRevised(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", second(1, "a"), ev(2, "a"))
	w.turn()
	w.b.Identity = "i2"
	if r := w.turn(); r.Events != 1 || r.Replays != 1 {
		w.Fatalf("%d events, %d replays; want 2 new and 1 a replay", r.Events, r.Replays)
	}
	w.effects("a", "1 2 < 2")
	w.at(3, "c2")
	w.clean()
}

// documentPosition: a document keeps the position of the last event of its own entity, and of no other.
func documentPosition(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"), ev(3, "b"))
	w.turn()
	for entity, want := range map[string]string{"a": "2", "b": "3", "all": ""} {
		d, err := w.inner.State.Doc(w.ctx, w.b.Stream, entity)
		w.must(err)
		if got := d.Position.String(); got != want {
			w.Errorf("document %s stands at %q, want %q", entity, got, want)
		}
	}
}

// behindAndNot: a page that is not the end has read as far as its newest event; an empty page changes nothing about that; an end is not
// behind.
func behindAndNot(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.reads(nil)
	behind := func(want time.Time) {
		w.Helper()
		if got := w.checkpoint().Behind; !got.Equal(want) {
			w.Fatalf("behind since %v, want %v", got, want)
		}
	}
	w.source.page("c0", "c1", rec("a", "at -90"), rec("b", "at -60"))
	w.source.page("c1", "c2")
	w.source.end("c2", "c2")
	w.turn()
	behind(epoch.Add(-time.Hour))
	w.tick(handoff.ActTurned)
	behind(epoch.Add(-time.Hour))
	w.tick(handoff.ActCaughtUp)
	behind(time.Time{})
	w.source.page("c2", "c3", rec("c", "at -30"))
	w.source.end("c3", "c3")
	w.turn()
	behind(epoch.Add(-30 * time.Minute))
	w.tick(handoff.ActCaughtUp)
	behind(time.Time{})
}
