package memstate

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// place is where an item stands in a listing, and as JSON the mark that a caller goes on from.
type place struct {
	At       int64
	ID       string
	Conflict string
}

func placeOfReceipt(r handoff.Receipt) place   { return place{ID: r.EventID, Conflict: r.Conflict} }
func placeOfHold(r handoff.Receipt) place      { return place{r.HeldAt.UnixNano(), r.EventID, r.Conflict} }
func placeOfDoc(d handoff.Doc) place           { return place{ID: d.Entity} }
func placeOfAudit(a handoff.AuditRecord) place { return place{At: a.At.UnixNano(), ID: a.ID} }

// list gives up to limit of the items behind the mark, in order of their places.
func list[T any](items []T, at func(T) place, after string, limit int) (page []T, next string, err error) {
	if after != "" {
		var mark place
		if err := json.Unmarshal([]byte(after), &mark); err != nil {
			return nil, "", &handoff.InvalidError{Reason: "the place to go on from is not one that a listing gave"}
		}
		items = slices.DeleteFunc(items, func(v T) bool { return at(v).compare(mark) <= 0 })
	}
	slices.SortFunc(items, func(a, b T) int { return at(a).compare(at(b)) })
	if len(items) <= limit {
		return items, "", nil
	}
	items = items[:limit]
	b, err := json.Marshal(at(items[limit-1]))
	return items, string(b), err
}

// HeldReceipts lists what waits for a person, oldest first.
func (s *Store) HeldReceipts(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	return s.listReceipts(ctx, name, handoff.Receipt.Listed, placeOfHold, after, limit)
}

// ListReceipts walks all receipts in order of key.
func (s *Store) ListReceipts(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	return s.listReceipts(ctx, name, func(handoff.Receipt) bool { return true }, placeOfReceipt, after, limit)
}

func (s *Store) listReceipts(ctx context.Context, name handoff.Stream, want func(handoff.Receipt) bool, at func(handoff.Receipt) place, after string, limit int) (rs []handoff.Receipt, next string, err error) {
	err = s.do(ctx, name, "list receipts", func(r *record) (err error) {
		var all []handoff.Receipt
		for _, rec := range r.receipts {
			if want(rec) {
				all = append(all, cloneReceipt(rec))
			}
		}
		rs, next, err = list(all, at, after, limit)
		return err
	})
	return rs, next, err
}

// ListDocs walks all documents in order of entity.
func (s *Store) ListDocs(ctx context.Context, name handoff.Stream, after string, limit int) (ds []handoff.Doc, next string, err error) {
	err = s.do(ctx, name, "list documents", func(r *record) (err error) {
		var all []handoff.Doc
		for _, d := range r.docs {
			all = append(all, cloneDoc(d))
		}
		ds, next, err = list(all, placeOfDoc, after, limit)
		return err
	})
	return ds, next, err
}

// Audits lists the record of decisions, oldest first.
func (s *Store) Audits(ctx context.Context, name handoff.Stream, after string, limit int) (rs []handoff.AuditRecord, next string, err error) {
	err = s.do(ctx, name, "list audit", func(r *record) (err error) {
		var all []handoff.AuditRecord
		for _, a := range r.audits {
			all = append(all, a)
		}
		rs, next, err = list(all, placeOfAudit, after, limit)
		return err
	})
	return rs, next, err
}
