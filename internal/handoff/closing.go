package handoff

import (
	"context"
	"errors"
	"fmt"
)

// closePage supersedes what a reset passed, then marks the page abandoned and removes `closing` in one transaction. Any poll may do
// it, several at once: each receipt is a compare-and-swap, and none of a greater page is touched. Dying anywhere leaves `closing`
// set, and the next poll goes on.
func (e *Engine) closePage(ctx context.Context, b Binding, cp Checkpoint) (Checkpoint, error) {
	v := cp.Closing
	tx := Tx{}
	page, err := e.State.Page(ctx, b.Stream, v)
	switch {
	case err == nil:
		if err := e.supersedePage(ctx, b, page); err != nil {
			return cp, fmt.Errorf("close version %d: %w", v, err)
		}
		tx.PageMark = &PageMark{Version: v, Abandoned: true, ExpiresAt: e.expiry()}
	case !errors.Is(err, ErrNotFound):
		return cp, err
	default: // it cannot open any more: the reset moved the version that an open checks
		tx.PageAbsent = v
	}
	after, done, err := e.change(ctx, cp, tx, func(now Checkpoint) (Checkpoint, bool) {
		mine := now.Closing == v
		now.Closing = 0
		return now, mine
	})
	if err == nil && done {
		e.observe(ctx, Observation{Step: "close", Stream: b.Stream, Version: v})
	}
	return after, err
}

func (e *Engine) supersedePage(ctx context.Context, b Binding, page Page) error {
	v := page.Version
	dir, err := e.State.Directory(ctx, b.Stream, v)
	if err != nil {
		return err
	}
	faded := e.faded(page, dir, b.Contract)
	for k := range dir.Chunks {
		events, err := e.chunkOrRebuild(ctx, b, dir, k)
		if err != nil {
			return err
		}
		for start := 0; start < len(events); start += lookupBatch {
			part := events[start:min(start+lookupBatch, len(events))]
			if err := e.supersede(ctx, b.Settings, passedChunk{v, k, faded}, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// supersede gives every event that is not terminal a receipt that says so. An attempt is never superseded: its event stays, or
// becomes, held as ambiguous. Where receipts may have expired, an event without one may have been applied: it is held, not superseded.
func (e *Engine) supersede(ctx context.Context, s Settings, p passedChunk, events []Event) error {
	for range casTries {
		items, err := e.supersessions(ctx, s, p, events)
		if err != nil || len(items) == 0 {
			return err
		}
		refused := false
		for _, r := range e.State.Settle(ctx, s.Stream, items) {
			if r.Err != nil && !errors.Is(r.Err, ErrRefused) && !errors.Is(r.Err, ErrUnknown) {
				return r.Err
			}
			refused = refused || r.Err != nil
		}
		if !refused {
			return nil
		}
	}
	return fmt.Errorf("receipts are contended: %w", ErrUnknown)
}

// passedChunk is a chunk of a page that a reset passed.
type passedChunk struct {
	v     Version
	chunk int
	faded bool
}

// supersessions reads what stands and gives the writes that are still needed.
func (e *Engine) supersessions(ctx context.Context, s Settings, p passedChunk, events []Event) ([]Settlement, error) {
	var keys []ReceiptKey
	for _, ev := range events {
		keys = append(keys, ev.Key(), ev.conflictKey())
	}
	found, err := e.receipts(ctx, s.Stream, keys, false)
	if err != nil {
		return nil, err
	}
	var items []Settlement
	for _, ev := range events {
		key := ev.Key()
		own, ok := found[key]
		if ev.Conflict || ok && own.Outcome.Terminal() && !sameContent(own, ev, s.Identity) {
			key = ev.conflictKey()
			own, ok = found[key]
		}
		put := e.receiptFor(s, ev, p.v, p.chunk, key)
		put.By, put.Outcome, put.HeldAt = "close", Superseded, e.now()
		switch {
		case !ok:
			if p.faded {
				put.Outcome, put.Reason, put.Detail = Held, HoldReceiptExpired, fadedDetail
			}
			items = append(items, Settlement{ReceiptWrite: ReceiptWrite{If: Guard{Absent: true}, Put: put}})
			continue
		case !supersedable(own, ev, p.v):
			continue
		case own.Digest == ev.Digest:
			put.Reason, put.Detail, put.Error, put.Attempts, put.Attempt = own.Reason, own.Detail, own.Error, own.Attempts, own.Attempt
			if !own.HeldAt.IsZero() {
				put.HeldAt = own.HeldAt
			}
		}
		if put.Attempt != nil {
			put.Outcome, put.Reason, put.Detail = Held, HoldAmbiguous, "a reset passed its page while a call was under way"
		}
		put.Rev = own.Rev + 1
		items = append(items, Settlement{ReceiptWrite: ReceiptWrite{If: Guard{Rev: own.Rev}, Put: put}})
	}
	return items, nil
}

// supersedable reports whether closing page v still has something to write over a receipt. Even a receipt that is superseded
// already gets the stamp v, so that an apply of page v that wakes late finds its page abandoned and stops.
func supersedable(own Receipt, ev Event, v Version) bool {
	switch {
	case own.Outcome.Terminal() || own.PageVersion > v:
		return false
	case own.Outcome == Superseded:
		return own.PageVersion < v
	case own.Digest != ev.Digest: // another content holds the slot: an apply of page v stops there by itself
		return false
	}
	return !(own.Outcome == Held && (own.Attempt != nil || own.Reason == HoldReceiptExpired))
}

// receiptFor is a fresh receipt of an event on page v, without an outcome yet.
func (e *Engine) receiptFor(s Settings, ev Event, v Version, chunk int, key ReceiptKey) Receipt {
	return Receipt{
		ReceiptKey: key, Stream: s.Stream, Digest: ev.Digest, Identity: s.Identity, Position: positionOf(ev, v, s.Contract), Entity: ev.Entity,
		By: "apply", Policy: s.Policy, Effect: s.Effect, PageVersion: v, Chunk: chunk, Index: ev.Index, Rev: 1, Token: e.IDs.New(), WrittenAt: e.now(),
	}
}
