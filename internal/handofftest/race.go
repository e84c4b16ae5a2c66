package handofftest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

const racers = 50

func raceCases() []testCase {
	return []testCase{
		{"OneCheckpointRev", raceCheckpoint},
		{"OneNewCheckpoint", raceNewCheckpoint},
		{"OneReceipt", raceReceipt},
		{"OneDocument", raceDocument},
		{"ChunksAllKept", raceChunks},
		{"DrivesCounted", raceDrives},
		{"SpoolSlot", raceSpool},
	}
}

// together runs n functions at once and waits for all.
func together(n int, do func(i int)) {
	var ready, all sync.WaitGroup
	ready.Add(n)
	for i := range n {
		all.Go(func() {
			ready.Done()
			ready.Wait()
			do(i)
		})
	}
	all.Wait()
}

// won judges a racer: done, or refused although its own token stands (the echo of a try whose answer was lost).
func won(err error, standing, mine string) bool {
	return err == nil || errors.Is(err, handoff.ErrRefused) && standing == mine
}

func raceCheckpoint(r *rig) { r.raceOn(r.start(), atRev(1)) }

func raceNewCheckpoint(r *rig) {
	r.raceOn(handoff.Checkpoint{Stream: r.stream, Version: 1, StartedAt: at(0), UpdatedAt: at(0)}, absent())
}

func (r *rig) raceOn(cp handoff.Checkpoint, g handoff.Guard) {
	r.Helper()
	errs := make([]error, racers)
	together(racers, func(i int) {
		next := cp
		next.Rev, next.Token = g.Rev+1, fmt.Sprint("racer ", i)
		errs[i] = r.commit(handoff.Tx{Token: next.Token, Checkpoint: &handoff.CheckpointWrite{If: g, Put: &next}})
	})
	got, err := r.state.Checkpoint(r.ctx, r.stream)
	r.done(err)
	r.oneWinner(errs, got.Token)
}

// oneWinner: exactly one racer is done, it is the one whose token stands, and all others are refused.
func (r *rig) oneWinner(errs []error, standing string) {
	r.Helper()
	winners := 0
	for i, err := range errs {
		switch {
		case won(err, standing, fmt.Sprint("racer ", i)):
			winners++
			if standing != fmt.Sprint("racer ", i) {
				r.Errorf("racer %d is done, but %q stands", i, standing)
			}
		case !errors.Is(err, handoff.ErrRefused):
			r.Errorf("racer %d: got %v, want refused", i, err)
		}
	}
	r.same("winners", winners, 1)
}

func raceReceipt(r *rig) {
	errs := make([]error, racers)
	together(racers, func(i int) {
		it := r.item("e", count("d"))
		it.Put.Token = fmt.Sprint("racer ", i)
		errs[i] = r.settle(it)[0].Err
	})
	got, _ := r.receipt(key("e"))
	r.oneWinner(errs, got.Token)
	r.fields("d", `{"n":1}`)
}

// raceDocument: no effect of different events on one document is lost. A racer whose receipt stands is done, whatever its last answer was.
func raceDocument(r *rig) {
	together(racers, func(i int) {
		if res := r.settle(r.item(fmt.Sprint("e", i), count("d")))[0]; res.Err != nil && !(errors.Is(res.Err, handoff.ErrRefused) && res.Old != nil) {
			r.Errorf("racer %d: %v", i, res.Err)
		}
	})
	r.fields("d", fmt.Sprintf(`{"n":%d}`, racers))
}

// raceChunks: additions of several callers, and the other updates of a page, never undo each other.
func raceChunks(r *rig) {
	want := r.open(1)
	for k := range handoff.MaxChunks {
		want.ChunksDone = want.ChunksDone.With(k)
	}
	together(handoff.MaxChunks+2, func(i int) {
		err := handoff.ErrUnknown
		for n := 0; n < unknownTries && errors.Is(err, handoff.ErrUnknown); n++ {
			switch i {
			case handoff.MaxChunks:
				err = r.state.MarkDriven(r.ctx, r.stream, 1, 0, 1, at(1))
			case handoff.MaxChunks + 1:
				err = r.commit(handoff.Tx{Token: "t2", PageMark: &handoff.PageMark{Version: 1, Abandoned: true}})
			default:
				_, err = r.state.MarkChunk(r.ctx, r.stream, 1, i)
			}
		}
		if err != nil {
			r.Errorf("update %d: %v", i, err)
		}
	})
	want.Drives, want.DrivenAt, want.Abandoned = 1, at(1), true
	r.same("the page after all", r.readPage(1), want)
}

// raceDrives: of all who saw the same number, one moves it.
func raceDrives(r *rig) {
	r.open(1)
	errs := make([]error, racers)
	together(racers, func(i int) {
		errs[i] = handoff.ErrUnknown
		for n := 0; n < unknownTries && errors.Is(errs[i], handoff.ErrUnknown); n++ {
			errs[i] = r.state.MarkDriven(r.ctx, r.stream, 1, 0, i+1, at(i))
		}
	})
	r.oneWinner(errs, fmt.Sprint("racer ", r.readPage(1).Drives-1))
}

func raceSpool(r *rig) {
	errs := make([]error, racers)
	together(racers, func(i int) {
		e := handoff.SpoolEntry{Stream: r.stream, Version: 2, RequestCursor: handoff.Cursor(fmt.Sprint("racer ", i)), FetchedAt: at(1)}
		errs[i] = handoff.ErrUnknown
		for n := 0; n < unknownTries && errors.Is(errs[i], handoff.ErrUnknown); n++ {
			errs[i] = r.state.PutSpool(r.ctx, e)
		}
	})
	got, err := r.state.Spool(r.ctx, r.stream, 2)
	r.done(err)
	if len(got) != 1 {
		r.Fatalf("%d entries in one slot", len(got))
	}
	r.oneWinner(errs, string(got[0].RequestCursor))
}
