package handoff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// eachReceipt walks all receipts of the stream in batches.
func (a *audit) eachReceipt(ctx context.Context, f func([]Receipt) error) error {
	after := ""
	for {
		rs, next, err := a.State.ListReceipts(ctx, a.stream, after, auditBatch)
		if err != nil {
			return fmt.Errorf("list receipts: %w", err)
		}
		if a.cp, err = a.State.Checkpoint(ctx, a.stream); err != nil { // pages may have opened since
			return err
		}
		if err := f(rs); err != nil {
			return err
		}
		if after = next; after == "" {
			return nil
		}
	}
}

// receiptsWalk checks each receipt by itself. If there are others than the pages named, it finds those that no page names.
func (a *audit) receiptsWalk(ctx context.Context) error {
	if a.limited() {
		a.sum.Receipts = a.named
		return nil
	}
	err := a.eachReceipt(ctx, func(rs []Receipt) error {
		var open []Receipt
		for _, r := range rs {
			if a.tally.receipt(r) {
				open = append(open, r)
			}
			if err := a.lookReceipt(ctx, r, sane); err != nil {
				return err
			}
		}
		a.sum.Receipts += len(rs)
		a.progress("receipts")
		return a.orphansAmong(ctx, open)
	})
	if err != nil || a.tally.listed == a.tally.named {
		return err
	}
	return a.eachReceipt(ctx, func(rs []Receipt) error {
		a.progress("receipts")
		return a.orphansAmong(ctx, slices.DeleteFunc(rs, func(r Receipt) bool {
			return !a.tally.knows(r.PageVersion) || !a.tally.behind(r.PageVersion)
		}))
	})
}

// lookReceipt judges a receipt as it was listed, then as it is.
func (a *audit) lookReceipt(ctx context.Context, r Receipt, judge func(Checkpoint, Receipt, *sheet)) error {
	listed := true
	_, err := a.look(ctx, func(ctx context.Context, cp Checkpoint, s *sheet) error {
		if listed {
			listed = false
			judge(cp, r, s)
			return nil
		}
		found, err := a.State.Receipts(ctx, a.stream, []ReceiptKey{r.ReceiptKey}, false)
		if now, ok := found[r.ReceiptKey]; ok {
			judge(cp, now, s)
		}
		return err
	})
	return err
}

// sane is what holds of each receipt by itself.
func sane(cp Checkpoint, r Receipt, s *sheet) {
	bad := func(kind FindingKind, format string, args ...any) {
		s.brokenAt(kind, r.PageVersion, r.ReceiptKey, format, args...)
	}
	open := !r.Outcome.Terminal()
	switch {
	case r.Stream != cp.Stream:
		bad(FoundForeign, "the receipt says that it is of stream %s", r.Stream)
	case r.PageVersion > cp.Version || r.PageVersion == 0:
		bad(FoundStampAhead, "the receipt is stamped with version %d, which never opened: the checkpoint is at %d", r.PageVersion, cp.Version)
	case !open && r.Attempt != nil:
		bad(FoundDoneAttempt, "%s, and it still carries an attempt", r.Outcome)
	case r.Outcome == Superseded && r.Attempt != nil:
		bad(FoundHiddenAttempt, "superseded, while a call may be under way")
	case r.Outcome == Claimed && r.Attempt == nil:
		bad(FoundNoAttempt, "claimed, without an attempt to tell whose claim it is")
	case r.Conflict != "" && (r.Attempt != nil || r.Outcome != Held && r.Outcome != Superseded && r.Outcome != Ignored && r.Outcome != Quarantined):
		bad(FoundConflictEffect, "a second content of this id is %s: it may only be held, superseded, ignored or quarantined", r.Outcome)
	case r.Conflict != "" && r.Conflict != r.Digest:
		bad(FoundConflictEffect, "the receipt of a second content carries another content's digest")
	case r.Listed() && r.HeldAt.IsZero():
		bad(FoundHoldUnlisted, "%s, without the time that puts it on the list of holds", r.Outcome)
	case r.Outcome == Held && r.Reason == "":
		bad(FoundHoldReason, "held, and nobody knows why")
	case open && !r.ExpiresAt.IsZero():
		bad(FoundOpenExpires, "%s, and it expires at %s", r.Outcome, r.ExpiresAt.UTC().Format("2006-01-02 15:04:05Z"))
	}
}

// orphansAmong finds receipts that the page they are stamped with does not name. It reads each page and chunk once a batch.
func (a *audit) orphansAmong(ctx context.Context, rs []Receipt) error {
	slices.SortFunc(rs, func(x, y Receipt) int {
		return cmp.Or(cmp.Compare(x.PageVersion, y.PageVersion), cmp.Compare(x.Chunk, y.Chunk), cmp.Compare(x.Index, y.Index))
	})
	for at := 0; at < len(rs); {
		end := at + 1
		for end < len(rs) && rs[end].PageVersion == rs[at].PageVersion && rs[end].Chunk == rs[at].Chunk {
			end++
		}
		if err := a.orphansOf(ctx, rs[at:end]); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// orphansOf judges receipts of one chunk.
func (a *audit) orphansOf(ctx context.Context, rs []Receipt) error {
	at, err := a.namedBy(ctx, rs[0].PageVersion, rs[0].Chunk)
	if err != nil {
		return err
	}
	for _, r := range rs {
		if at.names(r) {
			continue
		}
		_, err := a.look(ctx, func(ctx context.Context, _ Checkpoint, s *sheet) error {
			found, err := a.State.Receipts(ctx, a.stream, []ReceiptKey{r.ReceiptKey}, false)
			now, ok := found[r.ReceiptKey]
			if err != nil || !ok {
				return err
			}
			at, err := a.namedBy(ctx, now.PageVersion, now.Chunk)
			if err == nil && !at.names(now) {
				at.tell(now, s)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// roster is what one chunk of a page names; unknown names everything.
type roster struct {
	unknown, missing bool
	events           []Event
}

func (n roster) names(r Receipt) bool {
	return n.unknown || slices.ContainsFunc(n.events, func(ev Event) bool {
		return ev.ID == r.EventID && ev.Digest == r.Digest && ev.Index == r.Index
	})
}

func (n roster) tell(r Receipt, s *sheet) {
	if n.missing {
		s.brokenAt(FoundStampUnknown, r.PageVersion, r.ReceiptKey, "the receipt is stamped with version %d, and there is no such page", r.PageVersion)
		return
	}
	s.brokenAt(FoundOrphan, r.PageVersion, r.ReceiptKey, "the receipt says chunk %d, event %d of the page, and that is not this event", r.Chunk, r.Index)
}

// namedBy reads a chunk's events. What cannot be read, was given up or may have expired is told by the page's own check, or by nobody.
func (a *audit) namedBy(ctx context.Context, v Version, k int) (roster, error) {
	p, err := a.State.Page(ctx, a.stream, v)
	if absent(err) {
		return roster{unknown: a.forgets || v == 0 || v > a.cp.Version, missing: true}, nil
	}
	if err != nil || p.Lost || v > a.cp.Version {
		return roster{unknown: true}, err
	}
	dir, err := a.State.Directory(ctx, a.stream, v)
	if absent(err) {
		return roster{unknown: true}, nil
	}
	if err != nil || k < 0 || k >= len(dir.Chunks) {
		return roster{}, err
	}
	events, err := a.chunkEvents(ctx, dir, k)
	if ctx.Err() != nil {
		return roster{}, ctx.Err()
	}
	return roster{unknown: err != nil, events: events}, nil
}
