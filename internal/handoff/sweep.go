package handoff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// sweep looks after an open page: promote it if every chunk is done, else send again those that are not, once the drive lease is
// over or a decision asks for it. Nothing remembers who blocks what; driving again is harmless.
func (e *Engine) sweep(ctx context.Context, b Binding, cp Checkpoint, page Page, now bool) (PollReport, error) {
	if page.Settled() {
		won, err := e.promote(ctx, page)
		r := report(cp, ActPromoted, "")
		if won {
			r.Version++
		} else {
			r.Did = ActStale
		}
		return r, err
	}
	if !now && !e.leaseOver(page) {
		return onPage(report(cp, ActBlocked, fmt.Sprintf("%d of %d chunks are settled", page.ChunksDone.Len(), page.Chunks)), page), nil
	}
	if err := e.drive(ctx, page); err != nil {
		return onPage(report(cp, ActBlocked, ""), page), err
	}
	return onPage(report(cp, ActDriven, ""), page), e.advancePrefix(ctx, b, cp)
}

// onPage is a report about an open page.
func onPage(r PollReport, page Page) PollReport {
	r.Stands.Page = &page
	return r
}

// leaseOver: the lease is longer than the queue's visibility time and doubles with each drive; one that lies in the future (a
// clock that was wrong) counts as over.
func (e *Engine) leaseOver(p Page) bool {
	lease := e.Timing.DriveLease << min(max(p.Drives-1, 0), 20)
	if lease <= 0 || lease > e.Timing.MaxDriveLease {
		lease = e.Timing.MaxDriveLease
	}
	age := e.now().Sub(p.DrivenAt)
	return age < 0 || age >= lease
}

// drive sends the open chunks again. The count goes up first, so that a delivery knows that it is not the first; the time only
// when every message was accepted. Dead between the two: the next poll drives again.
func (e *Engine) drive(ctx context.Context, p Page) error {
	err := e.State.MarkDriven(ctx, p.Stream, p.Version, p.Drives, p.Drives+1, time.Time{})
	if errors.Is(err, ErrRefused) {
		return nil // another poll drives it
	}
	if err != nil {
		return fmt.Errorf("drive: %w", err)
	}
	if err := e.sendChunks(ctx, p, allChunks(p), 0); err != nil {
		return err
	}
	err = e.State.MarkDriven(ctx, p.Stream, p.Version, p.Drives+1, p.Drives+1, e.now())
	if err != nil && !errors.Is(err, ErrRefused) {
		return fmt.Errorf("drive: %w", err)
	}
	e.observe(ctx, Observation{Step: "drive", Stream: p.Stream, Version: p.Version, Count: p.Chunks - p.ChunksDone.Len()})
	return nil
}

// positionOf is where an event of page v stands: the source's word, or arrival.
func positionOf(ev Event, v Version, c Contract) Position {
	if c.Arrival {
		return ArrivalPosition(v, ev.Index)
	}
	return ev.Position
}

// advancePrefix moves applied_position to the end of the contiguous settled beginning of the open page, conditioned on the version
// and on the value it read: 210 applied, 211 held, 212 applied gives 210. Late and conflicting events do not hold it back, what
// has no position does.
func (e *Engine) advancePrefix(ctx context.Context, b Binding, cp Checkpoint) error {
	dir, err := e.State.Directory(ctx, cp.Stream, cp.Version)
	if err != nil {
		return fmt.Errorf("advance prefix: %w", err)
	}
	events, err := allEvents(dir, func(k int) ([]Event, error) { return e.chunkOrRebuild(ctx, b, dir, k) })
	if err != nil {
		return fmt.Errorf("advance prefix: %w", err)
	}
	if !b.Contract.Arrival && !slices.IsSortedFunc(inOrder(events), func(a, b Event) int {
		order, err := a.Position.Compare(b.Position)
		if err != nil {
			return 1
		}
		return order
	}) {
		return nil // an accepted answer out of order: its promote moves the position
	}
	prefix := cp.AppliedPosition
	for start := 0; start < len(events); start += lookupBatch {
		part := events[start:min(start+lookupBatch, len(events))]
		reached, whole, err := e.prefixOf(ctx, b.Settings, dir.Version, part, prefix)
		if err != nil {
			return err
		}
		if prefix = reached; !whole {
			break
		}
	}
	if order, err := prefix.Compare(cp.AppliedPosition); err != nil || order <= 0 {
		return nil
	}
	_, _, err = e.change(ctx, cp, Tx{}, func(now Checkpoint) (Checkpoint, bool) {
		same := now.Version == cp.Version && now.AppliedPosition.Equal(cp.AppliedPosition) && now.Closing == 0
		now.AppliedPosition = prefix
		return now, same
	})
	return err
}

// prefixOf walks events in source order up to the first that is not terminal.
func (e *Engine) prefixOf(ctx context.Context, s Settings, v Version, events []Event, prefix Position) (reached Position, whole bool, err error) {
	keys := make([]ReceiptKey, len(events))
	for i, ev := range events {
		keys[i] = ev.Key()
	}
	found, err := e.receipts(ctx, s.Stream, keys, false)
	if err != nil {
		return prefix, false, err
	}
	for _, ev := range events {
		if ev.Late || ev.Conflict || ev.Unproven {
			continue
		}
		r, ok := found[ev.Key()]
		if !ok || !r.Outcome.Terminal() {
			return prefix, false, nil
		}
		if t, isTime := ev.Position.Time(); ev.Invalid == "" && !(isTime && t.After(e.now())) {
			prefix = maxPosition(prefix, positionOf(ev, v, s.Contract))
		}
	}
	return prefix, true, nil
}
