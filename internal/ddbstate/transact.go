package ddbstate

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// plan is one transaction of settlements: their receipts first, in the order of their indexes, then the documents.
type plan struct {
	of     []int // index of the settlement whose receipt is the n-th write
	writes []write
	bad    map[int]error // settlements whose effect can never be
}

// plan reads the documents and makes the changes. It writes nothing.
func (c settling) plan(ctx context.Context, group []int) (plan, error) {
	p := plan{bad: map[int]error{}}
	items := make([]handoff.Settlement, len(group))
	for n, i := range group {
		items[n] = c.items[i]
	}
	docs, err := c.readDocuments(ctx, c.name, items)
	if err != nil {
		return p, err
	}
	by := ""
	for n, i := range group {
		if err := docs.apply(items[n].Docs); err != nil {
			p.bad[i] = err
			continue
		}
		w, err := c.receiptWrite(c.name, items[n].ReceiptWrite)
		if err != nil {
			return p, err
		}
		p.of, p.writes, by = append(p.of, i), append(p.writes, w), items[n].Put.Token
	}
	if len(p.of) == 0 {
		return p, nil
	}
	ws, err := c.docWrites(docs.named(c.items, p.of), by)
	p.writes = append(p.writes, ws...)
	return p, err
}

// named leaves out the documents that only a settlement with an impossible effect names.
func (ds documents) named(items []handoff.Settlement, of []int) documents {
	wanted := map[string]bool{}
	for _, i := range of {
		for _, name := range entities(items[i]) {
			wanted[name] = true
		}
	}
	out := documents{byName: ds.byName}
	for _, name := range ds.order {
		if wanted[name] {
			out.order = append(out.order, name)
		}
	}
	return out
}

// group settles several in one transaction. If it is too large it is halved; if it is cancelled, those whose own receipt stood in the
// way are refused and each of the others is tried by itself. Any other failure leaves all of them unknown.
func (c settling) group(ctx context.Context, group []int) {
	if len(group) == 1 {
		c.one(ctx, group[0])
		return
	}
	p, err := c.plan(ctx, group)
	if err == nil && len(p.of) > 0 {
		err = c.transactAll(ctx, p.writes)
	}
	switch reasons := reasonsOf(err); {
	case errors.Is(err, handoff.ErrTooLarge):
		half := len(group) / 2
		c.group(ctx, group[:half])
		c.group(ctx, group[half:])
	case worthAnother(reasons):
		c.fallBack(ctx, p, reasons)
		c.impossible(ctx, p)
	default:
		for _, i := range group {
			c.answer(i, err)
		}
		if err == nil {
			c.impossible(ctx, p)
		}
	}
}

// fallBack sorts the settlements of a cancelled transaction. Reason n belongs to write n, and the receipts come first.
func (c settling) fallBack(ctx context.Context, p plan, reasons []types.CancellationReason) {
	sole := onlyConditions(reasons)
	for n, i := range p.of {
		if sole && codeOf(reasons[n]) == codeConditionFailed {
			c.stood(i, reasons[n].Item)
			continue
		}
		c.one(ctx, i)
	}
}

// one settles an item in a transaction of its own. A document that changed since it was read, or that others are writing, is read
// again: that says nothing of the receipt, so it never refuses it.
func (c settling) one(ctx context.Context, i int) {
	var err error
	for try := range tries {
		var p plan
		if p, err = c.plan(ctx, []int{i}); err != nil {
			break
		}
		if len(p.bad) > 0 {
			c.impossible(ctx, p)
			return
		}
		if err = c.transactAll(ctx, p.writes); err == nil {
			break
		}
		reasons := reasonsOf(err)
		if onlyConditions(reasons) && codeOf(reasons[0]) == codeConditionFailed {
			c.stood(i, reasons[0].Item)
			return
		}
		if !worthAnother(reasons) {
			break
		}
		err = errors.Join(handoff.ErrUnknown, err)
		if c.pause(ctx, try) != nil {
			break
		}
	}
	c.answer(i, err)
}

// impossible answers settlements whose effect can never be, unless their receipt is in the way: then they are refused, as they
// would have been with any effect.
func (c settling) impossible(ctx context.Context, p plan) {
	for i, effect := range p.bad {
		w := c.items[i].ReceiptWrite
		old, err := c.read(ctx, c.tables.Receipts, receiptKey(c.name, w.Put.ReceiptKey))
		switch missing := errors.Is(err, handoff.ErrNotFound); {
		case err != nil && !missing:
			c.answer(i, err)
		case missing && w.If.Absent, !missing && !w.If.Absent && stands(old, w.If.Rev):
			c.answer(i, effect)
		default:
			c.stood(i, old)
		}
	}
}

func stands(it item, rev uint64) bool {
	have, err := numberOf(it, "rev")
	return err == nil && have == rev
}
