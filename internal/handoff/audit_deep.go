package handoff

import (
	"bytes"
	"cmp"
	"context"
	"slices"
)

// rereads reports that a page can be laid out again: its definition is at hand, and is the one it opened under.
func (a *audit) rereads(dir Directory) bool {
	b := a.opt.Binding
	return a.opt.Deep && b != nil && b.Source != nil && b.Revision == dir.Revision
}

// again reads the raw answer as it was read when the page opened, and compares: every event of the page is in it, in its order; every event
// in it is on the page, or was a proven replay.
func (r *reading) again(ctx context.Context) error {
	if r.raw == nil || r.s.partial {
		return nil
	}
	b := r.opt.Binding
	if r.raw.FetchHash != b.FetchHash {
		return nil
	}
	r.s.reread = true
	read := b.Source.Read(*r.raw)
	if read.Kind != ReadPage {
		if len(r.all) > 0 {
			r.s.broken(FoundRelaid, r.page.Version, "its raw answer does not read as a page (%s), and it has %d events", read.Kind, len(r.all))
		}
		return nil
	}
	kept, _ := holdBack(fold(read.Events), b.Contract, r.raw.FetchedAt)
	slices.SortFunc(r.all, func(x, y judged) int { return cmp.Compare(x.Index, y.Index) })
	dropped := r.align(kept)
	if err := r.laid(ctx, b); err != nil {
		return err
	}
	for part := range slices.Chunk(dropped, auditBatch) {
		if err := r.replays(ctx, b, part); err != nil {
			return err
		}
	}
	return nil
}

// align pairs the page's events with those of the answer, in order, and gives those of the answer that are not on the page.
func (r *reading) align(kept []Event) (dropped []Event) {
	type content struct{ id, digest string }
	place := map[content]int{}
	for i, ev := range kept {
		place[content{ev.ID, ev.Digest}] = i
	}
	next := 0
	for _, on := range r.all {
		i, ok := place[content{on.ID, on.Digest}]
		if !ok || i < next {
			r.s.brokenAt(FoundRelaid, r.page.Version, on.key(), "event %d of the page is not in its raw answer, or out of its order", on.Index)
			continue
		}
		dropped, next = append(dropped, kept[next:i]...), i+1
		ev := kept[i]
		if !bytes.Equal(on.Raw, ev.Raw) || !on.Position.Equal(ev.Position) || on.Entity != ev.Entity || on.Conflict != ev.Conflict || on.Invalid != ev.Invalid {
			r.s.brokenAt(FoundRelaid, r.page.Version, on.key(), "event %d of the page is not what its raw answer says", on.Index)
		}
	}
	return append(dropped, kept[next:]...)
}

// laid checks what opening adds to the events: their numbers, lanes, and whether an unseen one is late. Its own receipt tells: one that this
// page began was unseen, one that was begun before was known.
func (r *reading) laid(ctx context.Context, b *Binding) error {
	kept, err := r.retention(ctx)
	if err != nil {
		return err
	}
	events := make([]Event, len(r.all))
	for i, j := range r.all {
		events[i] = j.Event
	}
	for i, ev := range cutLanes(events, b.Lanes) {
		j := r.all[i]
		if ev.Index != j.Index || ev.Lane != j.Lane {
			r.s.brokenAt(FoundRelaid, r.page.Version, j.key(), "event %d of the page has a wrong number or lane", j.Index)
		}
		unseen := j.own == nil && kept == 0 || j.own != nil && j.own.PageVersion == r.page.Version && j.own.Rev == 1
		if !j.Late && !j.Unproven && unseen && !j.Conflict {
			if m := markLate(j.Event, r.dir.AppliedBefore, r.dir.Floor, b.Contract); m.Late || m.Unproven {
				r.s.brokenAt(FoundLateUnmarked, r.page.Version, j.key(), "it lies at %s, not above the applied position %s of then, was never seen, and was not taken for late",
					j.Position, r.dir.AppliedBefore)
			}
		}
		if second := j.own != nil && !j.Conflict && j.own.Outcome.Terminal() && !sameContent(*j.own, j.Event, b.Identity); second && j.second == nil &&
			passedBarrier(r.cp, r.page) {
			r.s.brokenAt(FoundConflictUnheld, r.page.Version, j.conflictKey(), "its id was settled with another content, and nobody was asked about this one")
		}
	}
	return nil
}

// replays checks that what the answer has and the page has not was settled before the page opened.
func (r *reading) replays(ctx context.Context, b *Binding, events []Event) error {
	var keys []ReceiptKey
	for _, ev := range events {
		keys = append(keys, ev.Key(), ev.conflictKey())
	}
	found, err := r.receipts(ctx, r.page.Stream, keys, false)
	if err != nil {
		return err
	}
	for _, ev := range events {
		if b.Contract.Watermark && ev.Invalid == "" && below(ev.Position, r.dir.AppliedBefore) && !below(ev.Position, r.dir.Floor) {
			continue
		}
		own, ok := found[ev.Key()]
		other, second := found[ev.conflictKey()]
		before := func(rec Receipt) bool { return rec.Outcome.Terminal() && rec.PageVersion < r.page.Version }
		if ok && before(own) && sameContent(own, ev, b.Identity) || second && before(other) {
			continue
		}
		if kept, err := r.retention(ctx); err != nil {
			return err
		} else if kept > 0 && !ok && !second {
			continue // its receipt may have expired since
		}
		r.s.brokenAt(FoundDropped, r.page.Version, ev.Key(), "it is in the raw answer and not on the page, and was not settled before the page opened")
	}
	return nil
}
