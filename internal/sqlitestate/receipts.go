package sqlitestate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

const selectReceipt = `SELECT item FROM receipt WHERE stream = ? AND event_id = ? AND conflict = ?`

// Receipts reads those that exist; always strongly consistent here.
func (s *Store) Receipts(ctx context.Context, name handoff.Stream, keys []handoff.ReceiptKey, _ bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	found := make(map[handoff.ReceiptKey]handoff.Receipt, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	stmt, err := s.read.PrepareContext(ctx, selectReceipt)
	if err != nil {
		return nil, translate("receipts "+string(name), err)
	}
	defer func() { _ = stmt.Close() }() // read only
	for _, k := range keys {
		var item string
		err := stmt.QueryRowContext(ctx, string(name), k.EventID, k.Conflict).Scan(&item)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err == nil {
			found[k], err = decode[handoff.Receipt](item)
		}
		if err != nil {
			return nil, translate("receipts "+string(name), err)
		}
	}
	return found, nil
}

// Settle writes all items in one transaction; each stands or falls by itself, because its conditions and its effect are judged before
// anything of it is written. If that transaction fails before its commit, nothing of it was written, and each item gets one of its own,
// so that one that cannot be written does not take the others with it. After a failed commit every answer is unknown.
func (s *Store) Settle(ctx context.Context, name handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	out := make([]handoff.SettleResult, len(items))
	if s.settleTogether(ctx, name, items, out) || len(items) == 1 {
		return out
	}
	for i := range items {
		s.settleTogether(ctx, name, items[i:i+1], out[i:i+1])
	}
	return out
}

// settleTogether fills out; ok is false if the transaction ended before its commit, so that nothing was written.
func (s *Store) settleTogether(ctx context.Context, name handoff.Stream, items []handoff.Settlement, out []handoff.SettleResult) (ok bool) {
	judged := false
	err := s.inTx(ctx, "settle "+string(name), func(q *sql.Tx) error {
		for i, it := range items {
			var err error
			if out[i], err = settle(ctx, q, name, it); err != nil {
				return err
			}
		}
		judged = true
		return nil
	})
	if err != nil {
		for i := range out {
			out[i] = handoff.SettleResult{Err: err}
		}
	}
	return judged
}

// settle judges one item, then writes it. The error is the transaction's; the result is the item's.
func settle(ctx context.Context, q *sql.Tx, name handoff.Stream, it handoff.Settlement) (handoff.SettleResult, error) {
	old, err := one[handoff.Receipt](ctx, q, selectReceipt, string(name), it.Put.EventID, it.Put.Conflict)
	exists := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return handoff.SettleResult{}, err
	}
	if exists && (it.If.Absent || old.Rev != it.If.Rev) {
		return handoff.SettleResult{Err: refused("receipt"), Old: &old}, nil
	}
	if !exists && !it.If.Absent {
		return handoff.SettleResult{Err: refused("receipt")}, nil
	}
	docs, err := project(ctx, q, name, it.Docs)
	var effect *handoff.EffectError
	if errors.As(err, &effect) {
		return handoff.SettleResult{Err: err}, nil
	}
	if err != nil {
		return handoff.SettleResult{}, err
	}
	if err := writeReceipt(ctx, q, name, it.ReceiptWrite); err != nil {
		return handoff.SettleResult{}, err
	}
	return handoff.SettleResult{}, writeDocs(ctx, q, name, docs)
}

// projected is a document after an event's changes.
type projected struct {
	doc    handoff.Doc
	exists bool
}

// project computes the documents after the changes, in order, without writing.
func project(ctx context.Context, q *sql.Tx, name handoff.Stream, changes []handoff.DocChange) (map[string]projected, error) {
	docs := map[string]projected{}
	for _, c := range changes {
		p, ok := docs[c.Entity]
		if !ok {
			d, err := one[handoff.Doc](ctx, q, selectDoc, string(name), c.Entity)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
			d.Stream = name
			p.doc = d
		}
		var err error
		if p.doc, p.exists, err = p.doc.Apply(c); err != nil {
			return nil, err
		}
		docs[c.Entity] = p
	}
	return docs, nil
}

const selectDoc = `SELECT item FROM doc WHERE stream = ? AND entity = ?`

func writeDocs(ctx context.Context, q *sql.Tx, name handoff.Stream, docs map[string]projected) error {
	for entity, p := range docs {
		if !p.exists {
			if _, err := q.ExecContext(ctx, `DELETE FROM doc WHERE stream = ? AND entity = ?`, string(name), entity); err != nil {
				return err
			}
			continue
		}
		item, err := encode(p.doc)
		if err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, `INSERT INTO doc VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET format = excluded.format, item = excluded.item`,
			string(name), entity, format, item); err != nil {
			return err
		}
	}
	return nil
}

// place is where a listing of receipts goes on.
type place struct {
	held     int64
	event    string
	conflict string
}

func parsePlace(after string) (p place, err error) {
	if after == "" {
		return place{held: -1 << 63}, nil
	}
	var parts [3]json.RawMessage
	if err = json.Unmarshal([]byte(after), &parts); err == nil {
		err = errors.Join(json.Unmarshal(parts[0], &p.held), json.Unmarshal(parts[1], &p.event), json.Unmarshal(parts[2], &p.conflict))
	}
	if err != nil {
		return p, &handoff.InvalidError{Reason: "the place to go on from is not one that a listing gave"}
	}
	return p, nil
}

// HeldReceipts lists what waits for a person, oldest first.
func (s *Store) HeldReceipts(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	p, err := parsePlace(after)
	if err != nil {
		return nil, "", err
	}
	rs, err := many[handoff.Receipt](ctx, s.read, `SELECT item FROM receipt WHERE stream = ? AND held_at IS NOT NULL
		AND (held_at, event_id, conflict) > (?, ?, ?) ORDER BY held_at, event_id, conflict LIMIT ?`, string(name), p.held, p.event, p.conflict, limit)
	if err != nil || len(rs) == 0 || len(rs) < limit {
		return rs, "", translate("list holds "+string(name), err)
	}
	last := rs[len(rs)-1]
	return rs, mark(last.HeldAt.UnixNano(), last.EventID, last.Conflict), nil
}

// ListReceipts walks all receipts in order of key.
func (s *Store) ListReceipts(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	p, err := parsePlace(after)
	if err != nil {
		return nil, "", err
	}
	query, args := `SELECT item FROM receipt WHERE stream = ? AND (event_id, conflict) > (?, ?) ORDER BY event_id, conflict LIMIT ?`, []any{string(name), p.event, p.conflict, limit}
	if after == "" {
		query, args = `SELECT item FROM receipt WHERE stream = ? ORDER BY event_id, conflict LIMIT ?`, []any{string(name), limit}
	}
	rs, err := many[handoff.Receipt](ctx, s.read, query, args...)
	if err != nil || len(rs) == 0 || len(rs) < limit {
		return rs, "", translate("list receipts "+string(name), err)
	}
	last := rs[len(rs)-1]
	return rs, mark(0, last.EventID, last.Conflict), nil
}

// Doc reads one document.
func (s *Store) Doc(ctx context.Context, name handoff.Stream, entity string) (handoff.Doc, error) {
	d, err := one[handoff.Doc](ctx, s.read, selectDoc, string(name), entity)
	return d, translate(fmt.Sprintf("document %s", name), err)
}

// ListDocs walks all documents in order of entity.
func (s *Store) ListDocs(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.Doc, string, error) {
	p, err := parsePlace(after)
	if err != nil {
		return nil, "", err
	}
	query, args := `SELECT item FROM doc WHERE stream = ? AND entity > ? ORDER BY entity LIMIT ?`, []any{string(name), p.event, limit}
	if after == "" { // from the beginning: the entity "" is a document too
		query, args = `SELECT item FROM doc WHERE stream = ? ORDER BY entity LIMIT ?`, []any{string(name), limit}
	}
	ds, err := many[handoff.Doc](ctx, s.read, query, args...)
	if err != nil || len(ds) == 0 || len(ds) < limit {
		return ds, "", translate("list documents "+string(name), err)
	}
	return ds, mark(0, ds[len(ds)-1].Entity, ""), nil
}

// Decision reads one.
func (s *Store) Decision(ctx context.Context, name handoff.Stream, id string) (handoff.DecisionRecord, error) {
	d, err := one[handoff.DecisionRecord](ctx, s.read, `SELECT item FROM decision WHERE stream = ? AND id = ?`, string(name), id)
	return d, translate("decision "+string(name), err)
}

// Audits lists the record of decisions, oldest first.
func (s *Store) Audits(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.AuditRecord, string, error) {
	p, err := parsePlace(after)
	if err != nil {
		return nil, "", err
	}
	rs, err := many[handoff.AuditRecord](ctx, s.read, `SELECT item FROM audit WHERE stream = ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?`,
		string(name), p.held, p.event, limit)
	if err != nil || len(rs) == 0 || len(rs) < limit {
		return rs, "", translate("list audit "+string(name), err)
	}
	last := rs[len(rs)-1]
	return rs, mark(last.At.UnixNano(), last.ID, ""), nil
}
