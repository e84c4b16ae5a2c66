package handoff

import (
	"context"
	"errors"
	"fmt"
)

// Violation is one broken promise, and where.
type Violation struct {
	Invariant string  `json:"invariant"`
	Version   Version `json:"version,omitempty"`
	EventID   string  `json:"event_id,omitempty"`
	Detail    string  `json:"detail"`
}

// check is one walk over a stream's record. It holds one page at a time.
type check struct {
	*Engine
	cp    Checkpoint
	found []Violation
	prior *Directory // of the page before
}

func (c *check) broken(invariant string, v Version, id, format string, args ...any) {
	c.found = append(c.found, Violation{invariant, v, id, fmt.Sprintf(format, args...)})
}

// CheckInvariants walks a stream's pages, receipts and archive and tells every broken promise it can see: I1, I2, I3, I5, I6, I8
// and I9 (I4 and I7 need the sink's own record). No violation is an empty list. Pages that are open while it walks may be
// changed by others; run it again before you believe a violation on the open page.
func (e *Engine) CheckInvariants(ctx context.Context, s Stream) ([]Violation, error) {
	cp, err := e.State.Checkpoint(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", s, err)
	}
	c := &check{Engine: e, cp: cp}
	var after Version
	for {
		pages, err := e.State.ListPages(ctx, s, after, lookupBatch)
		if err != nil {
			return c.found, fmt.Errorf("check %s: %w", s, err)
		}
		for _, p := range pages {
			if err := c.page(ctx, p); err != nil {
				return c.found, fmt.Errorf("check %s at version %d: %w", s, p.Version, err)
			}
			after = p.Version
		}
		if len(pages) < lookupBatch {
			break
		}
	}
	c.resume()
	return c.found, c.receipts(ctx)
}

// page checks one page: barrier, prefix, chain of cursors, archive.
func (c *check) page(ctx context.Context, p Page) error {
	if p.Version > c.cp.Version { // it opened while we walk, or it never may have
		now, err := c.State.Checkpoint(ctx, p.Stream)
		if err == nil && p.Version > now.Version {
			c.broken("I8", p.Version, "", "the page is ahead of the checkpoint at version %d", now.Version)
		}
		return err
	}
	dir, err := c.State.Directory(ctx, p.Stream, p.Version)
	if errors.Is(err, ErrNotFound) {
		c.broken("I8", p.Version, "", "the page has no directory")
		return nil
	}
	if err != nil {
		return err
	}
	if p.RequestCursorHash != dir.RequestCursor.Hash() || p.NextCursorHash != dir.NextCursor.Hash() {
		c.broken("I3", p.Version, "", "page and directory name different cursors")
	}
	if c.prior != nil && c.prior.Version+1 == p.Version && !c.passed(ctx, c.prior.Version) && c.prior.NextCursor != dir.RequestCursor {
		c.broken("I3", p.Version, "", "its request cursor is not the next cursor of version %d", c.prior.Version)
	}
	c.prior = &dir
	if p.Lost {
		return nil
	}
	if _, err := c.readRaw(ctx, dir.Raw); err != nil {
		c.broken("I9", p.Version, "", "raw answer: %v", err)
	}
	events, err := c.pageEvents(ctx, dir)
	if err != nil {
		c.broken("I9", p.Version, "", "events: %v", err)
		return nil
	}
	if len(events) != p.Events {
		c.broken("I9", p.Version, "", "%d events are archived, %d were opened", len(events), p.Events)
	}
	return c.settled(ctx, p, dir, events)
}

// passed reports whether a reset went over version v.
func (c *check) passed(ctx context.Context, v Version) bool {
	if v == c.cp.Closing {
		return true
	}
	p, err := c.State.Page(ctx, c.cp.Stream, v)
	return err != nil || p.Abandoned
}

// settled checks I1 on a promoted page and I2 on any that no reset passed.
func (c *check) settled(ctx context.Context, p Page, dir Directory, events []Event) error {
	if p.Abandoned || p.Version == c.cp.Closing {
		return nil
	}
	var keys []ReceiptKey
	for _, ev := range events {
		keys = append(keys, ev.Key(), ev.conflictKey())
	}
	found, err := c.Engine.receipts(ctx, p.Stream, keys, false)
	if err != nil {
		return err
	}
	promoted := p.Version < c.cp.Version
	for _, ev := range events {
		own, ok := found[ev.Key()]
		if other, has := found[ev.conflictKey()]; has && own.Digest != ev.Digest {
			own, ok = other, true
		}
		expired := !ok && dir.ReceiptRetention > 0 && c.now().Sub(p.OpenedAt) > dir.ReceiptRetention
		if expired || ok && own.Outcome.Terminal() || ok && own.PageVersion > p.Version {
			continue
		}
		if promoted {
			c.broken("I1", p.Version, ev.ID, "the page is promoted, and this event is %s", describe(own, ok))
		}
		exempt := ev.Late || ev.Unproven || ev.Conflict || ev.Invalid != "" || own.Outcome == Superseded ||
			own.Conflict != "" || below(ev.Position, dir.Floor)
		at := ev.Position
		if at.IsZero() && c.cp.AppliedPosition.Arrival() {
			at = ArrivalPosition(p.Version, ev.Index)
		}
		if !exempt && !at.IsZero() && below(at, c.cp.AppliedPosition) {
			c.broken("I2", p.Version, ev.ID, "it lies at %s, below the applied position %s, and is %s", at, c.cp.AppliedPosition, describe(own, ok))
		}
	}
	if promoted && !p.Settled() {
		c.broken("I1", p.Version, "", "the page is promoted with %d of %d chunks done", p.ChunksDone.Len(), p.Chunks)
	}
	return nil
}

func describe(r Receipt, ok bool) string {
	if !ok {
		return "without a receipt"
	}
	return string(r.Outcome)
}

// resume checks that the cursor is the last page's next one, unless a reset set it.
func (c *check) resume() {
	last := c.prior
	if last == nil || last.Version+1 != c.cp.Version || c.cp.Closing == last.Version || c.cp.CursorSince == c.cp.Version && c.cp.Bootstrap {
		return
	}
	if c.cp.ResumeCursor != last.NextCursor {
		c.broken("I3", c.cp.Version, "", "the resume cursor is not the next cursor of version %d", last.Version)
	}
}

// receipts checks each receipt by itself.
func (c *check) receipts(ctx context.Context) error {
	after := ""
	for {
		rs, next, err := c.State.ListReceipts(ctx, c.cp.Stream, after, lookupBatch)
		if err != nil {
			return fmt.Errorf("check receipts of %s: %w", c.cp.Stream, err)
		}
		if c.cp, err = c.State.Checkpoint(ctx, c.cp.Stream); err != nil { // pages may have opened since
			return fmt.Errorf("check receipts of %s: %w", c.cp.Stream, err)
		}
		for _, r := range rs {
			switch {
			case r.PageVersion > c.cp.Version:
				c.broken("I8", r.PageVersion, r.EventID, "a receipt is stamped with a page that never opened")
			case r.Outcome.Terminal() && r.Attempt != nil:
				c.broken("I6", r.PageVersion, r.EventID, "%s, and still carries an attempt", r.Outcome)
			case r.Outcome == Superseded && r.Attempt != nil:
				c.broken("I4", r.PageVersion, r.EventID, "superseded while a call may be under way")
			case r.Outcome == Claimed && r.Attempt == nil:
				c.broken("I4", r.PageVersion, r.EventID, "claimed without an attempt")
			case r.Listed() && r.HeldAt.IsZero():
				c.broken("I5", r.PageVersion, r.EventID, "held, and missing from the list of holds")
			case r.Conflict != "" && r.Outcome == Applied:
				c.broken("I4", r.PageVersion, r.EventID, "a second content of one id was applied")
			}
		}
		if after = next; after == "" {
			return nil
		}
	}
}
