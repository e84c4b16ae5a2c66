package handoff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Roll is the list of streams held against the definitions that are deployed.
type Roll struct {
	// Poll are the streams of a tick: those that a definition names, and those that were started under one (its partitions); retired ones
	// left out.
	Poll []Stream
	// Orphans were started, are not retired, and have no definition any more: they keep their state and are polled no more.
	Orphans []StreamEntry
}

// Enlist reads the list of streams and notes on each entry since when its definition is gone, or that it is back. What it notes
// is for people: nothing but the list depends on it, so an entry that cannot be written now is written at the next tick.
func (e *Engine) Enlist(ctx context.Context, defined []Stream) (Roll, error) {
	entries, err := e.State.Streams(ctx)
	if err != nil {
		return Roll{}, fmt.Errorf("list streams: %w", err)
	}
	r := Roll{Poll: slices.Clone(defined)}
	for _, entry := range entries {
		name, _, _ := strings.Cut(string(entry.Stream), "/")
		known := slices.Contains(defined, Stream(name))
		switch {
		case !entry.RetiredAt.IsZero():
			r.Poll = slices.DeleteFunc(r.Poll, func(s Stream) bool { return s == entry.Stream })
			continue
		case known && !slices.Contains(r.Poll, entry.Stream):
			r.Poll = append(r.Poll, entry.Stream)
		}
		if known == entry.OrphanedAt.IsZero() {
			if !known {
				r.Orphans = append(r.Orphans, entry)
			}
			continue
		}
		marked, err := e.markOrphan(ctx, entry.Stream, !known)
		if err != nil {
			e.observe(ctx, Observation{Step: "enlist", Stream: entry.Stream, Err: err})
		} else {
			entry = marked
		}
		if !known && entry.RetiredAt.IsZero() {
			r.Orphans = append(r.Orphans, entry)
		}
	}
	return r, nil
}

// markOrphan puts the entry while the checkpoint stays what it is. The entry is read after the checkpoint: a retirement that comes
// between the two, or later, moves the checkpoint, and so is never undone by this.
func (e *Engine) markOrphan(ctx context.Context, s Stream, orphaned bool) (StreamEntry, error) {
	cp, err := e.State.Checkpoint(ctx, s)
	if err != nil {
		return StreamEntry{}, err
	}
	entry, err := e.entry(ctx, s)
	if err != nil || !entry.RetiredAt.IsZero() {
		return entry, err
	}
	entry.OrphanedAt = time.Time{}
	if orphaned {
		entry.OrphanedAt = e.now()
	}
	err = e.State.Commit(ctx, Tx{Token: e.IDs.New(), Stream: s, Entry: &entry, Checkpoint: &CheckpointWrite{If: Guard{Rev: cp.Rev}}})
	if errors.Is(err, ErrRefused) {
		return entry, nil // it changed meanwhile: the next tick looks again
	}
	return entry, err
}

// entry finds a stream on the list.
func (e *Engine) entry(ctx context.Context, s Stream) (StreamEntry, error) {
	entries, err := e.State.Streams(ctx)
	if err != nil {
		return StreamEntry{}, fmt.Errorf("list streams: %w", err)
	}
	for _, entry := range entries {
		if entry.Stream == s {
			return entry, nil
		}
	}
	return StreamEntry{}, fmt.Errorf("stream %s: %w", s, ErrNotFound)
}

// Due reports whether a tick has anything to do for a stream. Only one that sleeps in good health is left alone: active, nothing open or
// closing, its next fetch not allowed yet. Whatever is halted, paused, waiting in trouble or not started is polled, so that somebody looks
// at it and tells of it.
func (e *Engine) Due(ctx context.Context, s Stream) (bool, error) {
	cp, err := e.State.Checkpoint(ctx, s)
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return true, fmt.Errorf("is %s due: %w", s, err)
	}
	if cp.Closing != 0 || cp.Status() != Active || troubled(cp) || cp.Stalls > 0 || !cp.NextPollAt.After(e.now()) {
		return true, nil
	}
	_, err = e.State.Page(ctx, s, cp.Version)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("is %s due: %w", s, err)
	}
	return true, nil
}
