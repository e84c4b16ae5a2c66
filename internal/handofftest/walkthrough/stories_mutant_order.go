package walkthrough

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// orderStories are about order, gaps, borders and the floor: what one answer, or a few after each other, amount to.
func orderStories() []story {
	return []story{
		{"OrderTable", orderTable}, {"AcceptedChecks", acceptedChecks}, {"BorderNeedsContinuation", borderNeedsContinuation},
		{"FloorOfTheFirstPage", floorOfFirstPage}, {"FloorWithoutPositions", floorWithoutPositions}, {"FloorStays", floorStays},
		{"FloorAfterReset", floorAfterReset}, {"LateTable", lateTable}, {"LateOrInvalid", lateOrInvalid}, {"Watermark", watermark},
		{"UnprovenEvents", unproven}, {"KnownIsNotLate", knownIsNotLate},
	}
}

// orderTable: pages that follow each other; the last one is opened, or halts.
func orderTable(t *testing.T, open func(*testing.T) Backend) {
	gapless := func(s *handoff.Settings) { s.Contract.Gapless = true }
	gaplessOverlap := func(s *handoff.Settings) { s.Contract.Gapless, s.Contract.Overlap = true, true }
	shared := func(s *handoff.Settings) { s.Contract.Unique = false }
	first := []record{rec("1", "1"), rec("2", "2")}
	for name, c := range map[string]struct {
		set   func(*handoff.Settings)
		pages [][]record
		halt  handoff.HaltReason
	}{
		"a gap behind a record without a place": {gapless, [][]record{{rec("1", "1"), bad("x", ""), rec("3", "3"), rec("5", "5")}}, handoff.HaltGap},
		"positions of two kinds":                {nil, [][]record{{rec("1", "1"), rec("2", "text b")}}, handoff.HaltOrderRegression},
		"tuples have no next one":               {gapless, [][]record{{rec("1", "pair 1"), rec("2", "pair 2")}}, handoff.HaltGap},
		"nor have fractions":                    {gapless, [][]record{{rec("1", "1.5"), rec("2", "2.5")}}, handoff.HaltGap},
		"shared positions":                      {shared, [][]record{{rec("1", "1"), rec("2", "1")}}, ""},
		"arrival promises no order":             {func(s *handoff.Settings) { s.Contract.Arrival = true }, [][]record{{rec("3", "3"), rec("1", "1")}}, ""},
		"a second content beside the border":    {gaplessOverlap, [][]record{first, {rec("2", "2"), {ID: "2", Pos: "9", Entity: "of 2", Body: "v2"}, rec("3", "3")}}, ""},
		"an invalid record beside the border":   {gapless, [][]record{first, {bad("x", "9"), rec("3", "3")}}, ""},
		"a record without a place may fill it":  {gapless, [][]record{first, {bad("x", ""), rec("4", "4")}}, ""},
		"an overlap across the border":          {gaplessOverlap, [][]record{first, {rec("1", "1"), rec("2", "2"), rec("3", "3")}}, ""},
		"only the first above the border":       {gapless, [][]record{first, {rec("3", "3"), rec("4", "4")}}, ""},
		"an empty page keeps the border":        {gapless, [][]record{first, {}, {rec("4", "4")}}, handoff.HaltGap},
		"a shared position at the border":       {shared, [][]record{first, {rec("2b", "2"), rec("3", "3")}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			if c.set != nil {
				c.set(&w.b.Settings)
			}
			w.reads(nil)
			cursors := []handoff.Cursor{"c0", "c1", "c2", "c3"}
			for i, page := range c.pages {
				w.source.page(cursors[i], cursors[i+1], page...)
				switch last := i == len(c.pages)-1; {
				case last && c.halt != "":
					w.tick(handoff.ActHalted)
					w.haltedBy(c.halt)
				case len(page) == 0:
					w.tick(handoff.ActTurned)
				default:
					w.turn()
				}
			}
			w.clean()
		})
	}
}

// acceptedChecks: each check lets the answer pass once an operator accepted it, and then the page opens.
func acceptedChecks(t *testing.T, open func(*testing.T) Backend) {
	for name, c := range map[string]struct {
		halt    handoff.HaltReason
		records []record
		applied string
	}{
		"kinds":              {handoff.HaltOrderRegression, []record{rec("3", "3"), rec("4", "text b")}, "3"},
		"order":              {handoff.HaltOrderRegression, []record{rec("5", "5"), rec("3", "3")}, "5"},
		"one position":       {handoff.HaltPositionConflict, []record{rec("3", "3"), rec("x", "3")}, "3"},
		"the border's place": {handoff.HaltPositionConflict, []record{rec("x", "2"), rec("3", "3")}, "3"},
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open, func(s *handoff.Settings) { s.Contract.ApplyLate = true })
			w.reads(nil)
			w.source.page("c0", "c1", rec("1", "1"), rec("2", "2"))
			w.source.page("c1", "c2", c.records...)
			w.turn()
			w.tick(handoff.ActHalted)
			w.accept(c.halt)
			w.turn()
			w.at(3, "c2")
			w.applied(c.applied)
			w.clean()
		})
	}
}

// borderNeedsContinuation: a token that begins a new query has no border behind it.
func borderNeedsContinuation(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Gapless = true })
	w.reads(func(_ handoff.Answer, r *handoff.Reading) { r.Continues = false })
	w.source.page("c0", "c1", rec("1", "1"), rec("2", "2"))
	w.source.page("c1", "c2", rec("5", "5"))
	w.turn()
	w.turn()
	w.at(3, "c2")
	w.clean()
}

// floorOfFirstPage: what lies below the first page is a backfill and is applied; between, it is late. The lowest of the page counts,
// whatever stands first.
func floorOfFirstPage(t *testing.T, open func(*testing.T) Backend) {
	for name, first := range map[string][]record{"in order": {rec("10", "10"), rec("20", "20")}, "accepted out of order": {rec("20", "20"), rec("10", "10")}} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.source.page("c0", "c1", first...)
			w.source.page("c1", "c2", rec("5", "5"), rec("15", "15"), rec("30", "30"))
			if name != "in order" {
				w.tick(handoff.ActHalted)
				w.accept(handoff.HaltOrderRegression)
			}
			w.turn()
			w.turn()
			w.is("5", handoff.Applied)
			w.is("15", handoff.Held, handoff.HoldLate)
			w.clean()
		})
	}
}

// floorWithoutPositions: a first page without a position does not fix the floor; the one behind it does.
func floorWithoutPositions(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", rec("n", ""))
	w.source.page("c1", "c2", rec("10", "10"), rec("20", "20"))
	w.source.page("c2", "c3", rec("5", "5"), rec("15", "15"), rec("m", ""))
	w.turn()
	w.turn()
	w.turn()
	w.is("5", handoff.Applied)
	w.is("15", handoff.Held, handoff.HoldLate)
	w.is("m", handoff.Applied) // no position is not below any
	w.clean()
}

// floorStays: once fixed, no later page moves the floor.
func floorStays(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", rec("10", "10"), rec("20", "20"))
	w.source.page("c1", "c2", rec("n", ""))
	w.source.page("c2", "c3", rec("30", "30"))
	w.source.page("c3", "c4", rec("25", "25"))
	for range 4 {
		w.turn()
	}
	w.is("25", handoff.Held, handoff.HoldLate)
	w.clean()
}

// floorAfterReset: going back, all that lies below where the stream had come is a backfill; going forward, all below the new beginning.
func floorAfterReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", rec("10", "10"), rec("20", "20"))
	w.turn()
	w.source.page("old", "c1", rec("15", "15"))
	w.reset("old")
	w.turn()
	w.is("15", handoff.Applied)
	w.source.page("far", "f1", rec("100", "100"), rec("200", "200"))
	w.source.page("f1", "f2", rec("50", "50"), rec("150", "150"))
	w.reset("far")
	w.turn()
	w.turn()
	w.is("50", handoff.Applied)
	w.is("150", handoff.Held, handoff.HoldLate)
	w.clean()
}

// lateTable: what an unseen event at the applied position is.
func lateTable(t *testing.T, open func(*testing.T) Backend) {
	for name, c := range map[string]struct {
		unique bool
		want   handoff.Outcome
	}{"shared: new": {false, handoff.Applied}, "unique: late": {true, handoff.Held}} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open, func(s *handoff.Settings) { s.Contract.Unique = c.unique })
			w.reads(func(_ handoff.Answer, r *handoff.Reading) { r.Continues = false })
			w.source.page("c0", "c1", rec("1", "1"), rec("2", "2"))
			w.source.page("c1", "c2", rec("2b", "2"), rec("3", "3"))
			w.turn()
			w.turn()
			w.is("2b", c.want)
			w.is("3", handoff.Applied)
			w.clean()
		})
	}
}

// lateOrInvalid: a record that is held as invalid is not late as well: one release is enough.
func lateOrInvalid(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", rec("10", "10"), rec("20", "20"))
	w.source.page("c1", "c2", bad("x", "15"), rec("30", "30"))
	w.turn()
	w.turn()
	w.is("x", handoff.Held, handoff.HoldInvalidEvent)
	w.must(w.decide(handoff.DecideRelease, "x"))
	w.driveNow()
	w.is("x", handoff.Applied)
	w.at(3, "c2")
	w.clean()
}

// watermark: what lies below the applied position and not below the floor is proven without a look-up, and nothing else is.
func watermark(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Watermark, s.Contract.Unique = true, false })
	w.source.page("c0", "c1", rec("10", "10"), rec("20", "20"))
	w.source.page("c1", "c2", rec("5", "5"), rec("15", "15"), bad("x", "16"), rec("20b", "20"), rec("30", "30"))
	w.turn()
	if r := w.turn(); r.Events != 4 || r.Replays != 1 {
		w.Fatalf("%d events and %d replays, want 4 and the one below the watermark", r.Events, r.Replays)
	}
	w.none("15")
	w.is("5", handoff.Applied)
	w.is("x", handoff.Held, handoff.HoldInvalidEvent)
	w.is("20b", handoff.Applied)
	w.clean()
}

// unproven: where receipts expire, an unseen event below the applied position is held, because nobody can tell whether it was applied;
// it does not hold the prefix back. Terminal receipts carry when they expire, others do not, and the page remembers how long they stay.
func unproven(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.ReceiptRetention = archiveLife })
	w.holds("40")
	w.source.page("c0", "c1", rec("10", "10"), rec("20", "20"))
	w.source.page("c1", "c2", rec("15", "15"), rec("30", "30"), rec("40", "40"))
	w.turn()
	w.turn()
	r := w.is("15", handoff.Held, handoff.HoldReceiptExpired)
	if !r.ExpiresAt.IsZero() {
		w.Errorf("a hold expires at %s", r.ExpiresAt)
	}
	if r := w.is("30", handoff.Applied); !r.ExpiresAt.Equal(epoch.Add(archiveLife)) {
		w.Errorf("a settled receipt expires at %s", r.ExpiresAt)
	}
	if d := mustDirectory(w, 2).ReceiptRetention; d != archiveLife {
		w.Errorf("the page keeps its receipts for %s", d)
	}
	w.driveNow()
	w.applied("30")
	w.b.Contract.ReceiptRetention = 0
	w.must(w.decide(handoff.DecideRelease, "40"))
	w.driveNow()
	if r := w.is("40", handoff.Applied); !r.ExpiresAt.IsZero() {
		w.Errorf("receipts stay for ever, and one expires at %s", r.ExpiresAt)
	}
	w.clean()
}

// knownIsNotLate: an event that a lost page left held turns up again below the applied position: it was seen, so it is not late.
func knownIsNotLate(t *testing.T, open func(*testing.T) Backend) {
	w := heldOnLostPage(t, open)
	w.applied("30")
	w.turn()
	if r := w.is("10", handoff.Held, handoff.HoldPolicy); r.PageVersion != 4 {
		w.Fatalf("the hold is on version %d, want taken over by 4", r.PageVersion)
	}
	w.must(w.decide(handoff.DecideRelease, "10"))
	w.driveNow()
	w.is("10", handoff.Applied)
}

// lose declares a page lost, whose objects are out of the archive for the operator's process.
func (w *world) lose(v handoff.Version) {
	w.Helper()
	w.must(w.tryLose(v, broken{w.inner.Archive, "", handoff.ErrNotFound}))
}

func (w *world) tryLose(v handoff.Version, a handoff.Archive) error {
	operator := handoff.New(w.deps(w.inner.State, a, w.queue))
	_, err := operator.Decide(w.ctx, handoff.Decision{
		ID: w.ids.New(), Stream: w.b.Stream, Kind: handoff.DecideLost, Version: v, Actor: "ada", Reason: "bucket emptied", Rev: w.checkpoint().Rev,
	})
	return err
}

// heldOnLostPage: event 10 was held on page 2, which is lost; page 3 was turned beyond it, and page 4 shows it again.
func heldOnLostPage(t *testing.T, open func(*testing.T) Backend) *world {
	t.Helper()
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true })
	w.holds("10")
	w.source.page("c0", "c1", rec("5", "5"))
	w.source.page("c1", "c2", rec("10", "10"))
	w.source.page("c2", "c3", rec("30", "30"))
	w.source.page("c3", "c4", rec("10", "10"), rec("40", "40"))
	w.turn()
	w.turn()
	w.lose(2)
	w.turn()
	return w
}
