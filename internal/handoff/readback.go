package handoff

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// pageEvents reads every event of a page, in source order.
func (e *Engine) pageEvents(ctx context.Context, dir Directory) ([]Event, error) {
	return allEvents(dir, func(k int) ([]Event, error) { return e.chunkEvents(ctx, dir, k) })
}

func allEvents(dir Directory, chunk func(k int) ([]Event, error)) ([]Event, error) {
	var all []Event
	for k := range dir.Chunks {
		events, err := chunk(k)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	slices.SortFunc(all, func(a, b Event) int { return a.Index - b.Index })
	return all, nil
}

// EventOf reads a receipt's event back from the archive, byte for byte. ErrNotFound if its page or its objects are gone.
func (e *Engine) EventOf(ctx context.Context, r Receipt) (Event, error) {
	dir, err := e.State.Directory(ctx, r.Stream, r.PageVersion)
	if err != nil {
		return Event{}, fmt.Errorf("read event of %s: %w", r.Stream, err)
	}
	events, err := e.chunkEvents(ctx, dir, r.Chunk)
	if err != nil {
		return Event{}, err
	}
	for _, ev := range events {
		if ev.ID == r.EventID && ev.Digest == r.Digest {
			return ev, nil
		}
	}
	return Event{}, fmt.Errorf("read event of %s at version %d: %w", r.Stream, r.PageVersion, ErrNotFound)
}

// rebuild lays the events object of an open page out again from its raw answer. Which events were on the page follows from the
// receipts: a proven replay carries an older stamp. Only the very same bytes are put back; anything else stays a loss, which an
// operator settles with `lost`.
func (e *Engine) rebuild(ctx context.Context, b Binding, dir Directory) error {
	a, err := e.readRaw(ctx, dir.Raw)
	if err != nil {
		return fmt.Errorf("rebuild events of %s at version %d: %w", dir.Stream, dir.Version, err)
	}
	folded := fold(b.Source.Read(a).Events)
	kept, _ := holdBack(folded, b.Contract, a.FetchedAt)
	keys := make([]ReceiptKey, len(kept))
	for i, ev := range kept {
		keys[i] = ev.Key()
	}
	found, err := e.receipts(ctx, b.Stream, keys, false)
	if err != nil {
		return err
	}
	var fresh []Event
	for _, ev := range kept {
		r, ok := found[ev.Key()]
		switch {
		case ok && r.Outcome.Terminal() && r.PageVersion < dir.Version && sameContent(r, ev, b.Identity) && replayPossible(ev, dir.AppliedBefore, b.Contract):
		case ok && r.PageVersion < dir.Version:
			fresh = append(fresh, ev)
		default:
			fresh = append(fresh, markLate(ev, dir.AppliedBefore, dir.Floor, b.Contract))
		}
	}
	packed, _, err := packEvents(cutChunks(cutLanes(fresh, b.Lanes), b.ChunkSize))
	if err != nil {
		return err
	}
	if DigestOf(packed) != dir.Object.Digest {
		return fmt.Errorf("rebuild events of %s at version %d: %w", dir.Stream, dir.Version, ErrDigest)
	}
	return e.Archive.Put(ctx, dir.Object.Key, packed)
}

// chunkOrRebuild reads a chunk, and lays the object out again if it is gone.
func (e *Engine) chunkOrRebuild(ctx context.Context, b Binding, dir Directory, k int) ([]Event, error) {
	events, err := e.chunkEvents(ctx, dir, k)
	if !errors.Is(err, ErrNotFound) {
		return events, err
	}
	if err := e.rebuild(ctx, b, dir); err != nil {
		return nil, err
	}
	return e.chunkEvents(ctx, dir, k)
}
