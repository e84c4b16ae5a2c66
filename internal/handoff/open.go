package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// open turns a fetched page into an open one: raw answer, events, then one transaction, then one message per chunk.
//
//   - Dead after the archive: objects nobody names; the next poll fetches again.
//   - Dead after the transaction: the page is open and undriven; the sweep sends its chunks once the drive lease is over.
//   - Dead after some messages: the same, and sending them twice is harmless.
func (e *Engine) open(ctx context.Context, b Binding, asked Checkpoint, c candidate, j judgement, m PollMessage) (PollReport, error) {
	raw, err := e.archived(ctx, asked, c)
	if err != nil {
		return PollReport{}, err
	}
	chunks := cutChunks(cutLanes(j.events, b.Lanes), b.ChunkSize)
	object, refs, err := e.archiveEvents(ctx, b.Stream, asked.Version, chunks)
	if err != nil {
		return PollReport{}, err
	}
	dir := e.directory(b, asked, raw, j, m)
	dir.Object, dir.Chunks = object, refs
	page := Page{
		Stream: b.Stream, Version: asked.Version, RequestCursorHash: dir.RequestCursor.Hash(), NextCursorHash: dir.NextCursor.Hash(),
		Events: len(j.events), Replays: j.replays, Chunks: len(chunks), Drives: 1, DrivenAt: e.now(), OpenedAt: e.now(), EffectHash: b.Settings.Effect,
		OldestAt: oldest(j.events),
	}
	opened, err := e.commitOpen(ctx, asked, page, dir, j)
	if err != nil || !opened {
		return report(asked, ActStale, "the stream changed meanwhile"), err
	}
	e.observe(ctx, Observation{Step: "open", Stream: b.Stream, Version: page.Version, Count: page.Events})
	if err := e.sendChunks(ctx, page, allChunks(page), 0); err != nil {
		// Not driven until every message was accepted: end the lease, so that the next poll drives at once.
		_ = e.State.MarkDriven(ctx, b.Stream, page.Version, page.Drives, page.Drives, time.Time{})
		return report(asked, ActOpened, "its chunks could not be sent; the next poll does"), err
	}
	r := report(asked, ActOpened, "")
	r.Stands.Page = &page
	r.Events, r.Replays = page.Events, page.Replays
	return r, nil
}

// commitOpen puts page and directory where none is, while the checkpoint is what the answer was fetched for. It only checks the
// checkpoint, unless the floor rises or an accepted answer is consumed.
func (e *Engine) commitOpen(ctx context.Context, asked Checkpoint, page Page, dir Directory, j judgement) (bool, error) {
	for cp := asked; current(cp, asked); {
		page.Token = e.IDs.New()
		tx := Tx{Token: page.Token, Stream: cp.Stream, PagePut: &page, Directory: &dir, Checkpoint: &CheckpointWrite{If: Guard{Rev: cp.Rev}}}
		_, stillOpen := floorFor(cp, j.events)
		if cp.FloorOpen != stillOpen || len(cp.Accepts) > 0 {
			next := cp
			next.PrefixFloor, next.FloorOpen, next.Accepts = j.floor, stillOpen, nil
			next.Rev, next.Token, next.UpdatedAt = cp.Rev+1, tx.Token, e.now()
			tx.Checkpoint.Put = &next
		}
		err := e.commit(ctx, tx)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, ErrRefused) {
			return false, fmt.Errorf("open: %w", err)
		}
		if _, err = e.State.Page(ctx, cp.Stream, page.Version); !errors.Is(err, ErrNotFound) {
			return false, err // nil: another poll opened it
		}
		if cp, err = e.State.Checkpoint(ctx, cp.Stream); err != nil {
			return false, err
		}
	}
	return false, nil
}

// directory is what the promote of this page will need, whoever does it.
func (e *Engine) directory(b Binding, cp Checkpoint, raw ObjectRef, j judgement, m PollMessage) Directory {
	drain := b.Pages
	if m.Version != 0 {
		drain = m.Drain
	}
	return Directory{
		Stream: b.Stream, Version: cp.Version, RequestCursor: cp.ResumeCursor, NextCursor: j.next, End: j.end,
		NextPollAt: j.pollAt, Border: j.border, Anchor: j.anchor, AppliedPosition: j.applied, TokenRefusals: j.refused,
		AppliedBefore: cp.AppliedPosition, Floor: j.floor, ReceiptRetention: b.Contract.ReceiptRetention, Drain: max(drain-1, 0),
		Raw: raw, Revision: b.Revision, Effect: b.Settings.Effect, Behind: j.behind,
	}
}

func allChunks(p Page) []int {
	var ks []int
	for k := range p.Chunks {
		if !p.ChunksDone.Has(k) {
			ks = append(ks, k)
		}
	}
	return ks
}

func (e *Engine) sendChunks(ctx context.Context, p Page, ks []int, delay time.Duration) error {
	ms := make([]ChunkMessage, len(ks))
	for i, k := range ks {
		ms[i] = ChunkMessage{p.Stream, p.Version, k}
	}
	if err := e.Queue.SendChunks(ctx, ms, delay); err != nil {
		return fmt.Errorf("send %d chunks of %s at version %d: %w", len(ms), p.Stream, p.Version, err)
	}
	return nil
}
