package ddbstate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// atOnce bounds how many receipts without documents are under way together.
const atOnce = 8

// settling is one call of Settle.
type settling struct {
	*Store
	name  handoff.Stream
	items []handoff.Settlement
	out   []handoff.SettleResult
}

// Settle writes each item atomically by itself. Receipts alone are single puts, at half the price of a transaction; those with
// documents share transactions, and a document that several of them change is written once. Dying between two writes leaves whole
// events done or not begun.
func (s *Store) Settle(ctx context.Context, name handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	c := settling{s, name, items, make([]handoff.SettleResult, len(items))}
	for _, run := range runs(items) {
		c.alone(ctx, run)
		for _, group := range groups(items, run) {
			c.group(ctx, group)
		}
	}
	return c.out
}

// runs cuts the items, in order, before a receipt that is already in the run: the second write of one receipt is judged on the first.
func runs(items []handoff.Settlement) (all [][]int) {
	seen := map[handoff.ReceiptKey]bool{}
	var run []int
	for i, it := range items {
		if seen[it.Put.ReceiptKey] {
			all, run = append(all, run), nil
			clear(seen)
		}
		seen[it.Put.ReceiptKey] = true
		run = append(run, i)
	}
	return append(all, run)
}

// groups cuts those of a run that have documents so that each fits one transaction by the number of its items.
func groups(items []handoff.Settlement, run []int) (all [][]int) {
	var group []int
	docs := map[string]bool{}
	for _, i := range run {
		if len(items[i].Docs) == 0 {
			continue
		}
		fresh := 0
		for _, entity := range entities(items[i]) {
			if !docs[entity] {
				fresh++
			}
		}
		if len(group) > 0 && len(group)+1+len(docs)+fresh > maxTransaction {
			all, group = append(all, group), nil
			clear(docs)
		}
		for _, entity := range entities(items[i]) {
			docs[entity] = true
		}
		group = append(group, i)
	}
	if len(group) > 0 {
		all = append(all, group)
	}
	return all
}

// entities are the documents that a settlement changes, each once.
func entities(it handoff.Settlement) (names []string) {
	seen := map[string]bool{}
	for _, c := range it.Docs {
		if !seen[c.Entity] {
			seen[c.Entity] = true
			names = append(names, c.Entity)
		}
	}
	return names
}

// alone puts the receipts that come without documents, a few at a time. All are answered when it returns.
func (c settling) alone(ctx context.Context, run []int) {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, i := range run {
		if len(c.items[i].Docs) > 0 {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			w, err := c.receiptWrite(c.name, c.items[i].ReceiptWrite)
			if err == nil {
				err = c.put(ctx, w)
			}
			c.answer(i, err)
			if old, failed := conditionFailed(err); failed {
				c.stood(i, old)
			}
		})
	}
	all.Wait()
}

// answer gives an item its outcome.
func (c settling) answer(i int, err error) {
	var effect *handoff.EffectError
	if errors.As(err, &effect) {
		c.out[i] = handoff.SettleResult{Err: err}
		return
	}
	c.out[i] = handoff.SettleResult{Err: translateWrite("settle "+string(c.name), err)}
}

// stood refuses an item over what stands in its way. What cannot be read is left out, and read again by whoever needs it.
func (c settling) stood(i int, old item) {
	c.out[i] = handoff.SettleResult{Err: fmt.Errorf("settle %s: receipt: %w", c.name, handoff.ErrRefused)}
	if len(old) == 0 {
		return
	}
	if r, err := decode[handoff.Receipt](old); err == nil {
		c.out[i].Old = &r
	}
}
