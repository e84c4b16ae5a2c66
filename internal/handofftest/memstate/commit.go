package memstate

import (
	"context"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Commit judges every condition, then writes every part.
func (s *Store) Commit(ctx context.Context, tx handoff.Tx) error {
	return s.do(ctx, tx.Stream, "commit", func(r *record) error {
		if err := r.judge(tx); err != nil {
			return err
		}
		r.write(tx)
		if tx.Entry != nil {
			s.entries[tx.Entry.Stream] = *tx.Entry
		}
		return nil
	})
}

// judge changes nothing.
func (r *record) judge(tx handoff.Tx) error {
	if w := tx.Checkpoint; w != nil {
		var rev uint64
		if r.checkpoint != nil {
			rev = r.checkpoint.Rev
		}
		if !holds(w.If, r.checkpoint != nil, rev) {
			return refused("checkpoint")
		}
	}
	if err := r.judgePage(tx); err != nil {
		return err
	}
	if w := tx.Receipt; w != nil {
		if old, exists := r.receipts[w.Put.ReceiptKey]; !holds(w.If, exists, old.Rev) {
			return refused("receipt")
		}
	}
	if a := tx.Audit; a != nil {
		if _, exists := r.audits[placeOfAudit(*a)]; exists {
			return refused("audit")
		}
	}
	if d := tx.Decision; d != nil {
		if _, exists := r.decisions[d.ID]; exists {
			return refused("decision")
		}
	}
	return nil
}

func (r *record) judgePage(tx handoff.Tx) error {
	if _, exists := r.pages[tx.PageAbsent]; exists {
		return refused("page exists")
	}
	if m := tx.PageMark; m != nil {
		_, page := r.pages[m.Version]
		_, directory := r.directories[m.Version]
		if !page || !m.ExpiresAt.IsZero() && !directory {
			return refused("no page to mark")
		}
	}
	if p := tx.PagePut; p != nil {
		if _, exists := r.pages[p.Version]; exists {
			return refused("page")
		}
	}
	if d := tx.Directory; d != nil {
		if _, exists := r.directories[d.Version]; exists {
			return refused("directory")
		}
	}
	return nil
}

// write is called once nothing stands in the way.
func (r *record) write(tx handoff.Tx) {
	if w := tx.Checkpoint; w != nil && w.Put != nil {
		cp := cloneCheckpoint(*w.Put)
		r.checkpoint = &cp
	}
	if m := tx.PageMark; m != nil {
		p := r.pages[m.Version]
		p.Abandoned, p.Lost = p.Abandoned || m.Abandoned, p.Lost || m.Lost
		if !m.ExpiresAt.IsZero() {
			p.ExpiresAt = m.ExpiresAt
		}
		r.pages[m.Version] = p
	}
	if p := tx.PagePut; p != nil {
		r.pages[p.Version] = *p
	}
	if d := tx.Directory; d != nil {
		r.directories[d.Version] = cloneDirectory(*d)
	}
	if w := tx.Receipt; w != nil {
		r.receipts[w.Put.ReceiptKey] = cloneReceipt(w.Put)
	}
	if a := tx.Audit; a != nil {
		r.audits[placeOfAudit(*a)] = *a
	}
	if d := tx.Decision; d != nil {
		r.decisions[d.ID] = *d
	}
}

// Settle judges and writes one item after the other; each stands or falls by itself.
func (s *Store) Settle(ctx context.Context, name handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	out := make([]handoff.SettleResult, len(items))
	for i, it := range items {
		out[i].Err = s.do(ctx, name, "settle", func(r *record) (err error) {
			out[i].Old, err = r.settle(name, it)
			return err
		})
	}
	return out
}

// settle gives the receipt that stood in the way, where one did.
func (r *record) settle(name handoff.Stream, it handoff.Settlement) (*handoff.Receipt, error) {
	old, exists := r.receipts[it.Put.ReceiptKey]
	if !holds(it.If, exists, old.Rev) {
		if !exists {
			return nil, refused("receipt")
		}
		old = cloneReceipt(old)
		return &old, refused("receipt")
	}
	after := map[string]*handoff.Doc{} // nil is none
	for _, c := range it.Docs {
		d := handoff.Doc{Stream: name}
		if changed, ok := after[c.Entity]; ok && changed != nil {
			d = *changed
		} else if !ok {
			if stored, ok := r.docs[c.Entity]; ok {
				d = stored
			}
		}
		d, exists, err := d.Apply(c)
		if err != nil {
			return nil, err
		}
		if after[c.Entity] = nil; exists {
			after[c.Entity] = &d
		}
	}
	for entity, d := range after {
		if d == nil {
			delete(r.docs, entity)
			continue
		}
		r.docs[entity] = cloneDoc(*d)
	}
	r.receipts[it.Put.ReceiptKey] = cloneReceipt(it.Put)
	return nil, nil
}
