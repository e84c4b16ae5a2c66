package handoff

import (
	"context"
	"fmt"
	"time"
)

// indexLag is how far a list of holds may be behind its receipts: only what was written longer ago is held against it.
const indexLag = time.Minute

// eachHold walks the list of holds in batches.
func (a *audit) eachHold(ctx context.Context, f func([]Receipt) error) error {
	after := ""
	for {
		rs, next, err := a.State.HeldReceipts(ctx, a.stream, after, auditBatch)
		if err != nil {
			return fmt.Errorf("list holds: %w", err)
		}
		if err := f(rs); err != nil {
			return err
		}
		if after = next; after == "" {
			return nil
		}
	}
}

// holds checks that what is on the list of holds is held; and if less is on it than waits, what is missing.
func (a *audit) holds(ctx context.Context) error {
	err := a.eachHold(ctx, func(rs []Receipt) error {
		a.sum.Holds += len(rs)
		a.progress("holds")
		return a.onlyHeld(ctx, rs)
	})
	if err != nil || a.limited() || a.sum.Holds == a.tally.waiting {
		return err
	}
	return a.eachReceipt(ctx, func(rs []Receipt) error {
		a.progress("holds")
		return a.allListed(ctx, rs)
	})
}

// lagged reports that a list may not show yet what the receipt says.
func (a *audit) lagged(r Receipt) bool { return a.now().Sub(r.WrittenAt) < indexLag }

// onlyHeld reads a batch of the list again, by key.
func (a *audit) onlyHeld(ctx context.Context, rs []Receipt) error {
	found, err := a.State.Receipts(ctx, a.stream, keysOf(rs), false)
	if err != nil {
		return err
	}
	for _, r := range rs {
		now, ok := found[r.ReceiptKey]
		if ok && now.Listed() {
			continue
		}
		_, err := a.look(ctx, func(ctx context.Context, _ Checkpoint, s *sheet) error {
			found, err := a.State.Receipts(ctx, a.stream, []ReceiptKey{r.ReceiptKey}, false)
			switch now, ok := found[r.ReceiptKey]; {
			case err != nil:
			case !ok:
				s.brokenAt(FoundHoldStale, r.PageVersion, r.ReceiptKey, "it is on the list of holds, and has no receipt")
			case !now.Listed() && !a.lagged(now):
				s.brokenAt(FoundHoldStale, now.PageVersion, r.ReceiptKey, "it is on the list of holds, and is %s", now.Outcome)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// allListed looks for the waiting ones of a batch on the list.
func (a *audit) allListed(ctx context.Context, rs []Receipt) error {
	var waiting []Receipt
	for _, r := range rs {
		if r.Listed() && !r.HeldAt.IsZero() && !a.lagged(r) {
			waiting = append(waiting, r)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	_, err := a.look(ctx, func(ctx context.Context, _ Checkpoint, s *sheet) error {
		return a.unlisted(ctx, waiting, s)
	})
	return err
}

func (a *audit) unlisted(ctx context.Context, waiting []Receipt, s *sheet) error {
	missing := map[ReceiptKey]bool{}
	for _, r := range waiting {
		missing[r.ReceiptKey] = true
	}
	err := a.eachHold(ctx, func(rs []Receipt) error {
		for _, r := range rs {
			delete(missing, r.ReceiptKey)
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	now, err := a.State.Receipts(ctx, a.stream, keysOf(waiting), false)
	for _, r := range waiting {
		if r, ok := now[r.ReceiptKey]; ok && missing[r.ReceiptKey] && r.Listed() && !a.lagged(r) {
			s.brokenAt(FoundHoldUnlisted, r.PageVersion, r.ReceiptKey, "it is %s, and missing from the list of holds", r.Outcome)
		}
	}
	return err
}

func keysOf(rs []Receipt) []ReceiptKey {
	keys := make([]ReceiptKey, len(rs))
	for i, r := range rs {
		keys[i] = r.ReceiptKey
	}
	return keys
}
