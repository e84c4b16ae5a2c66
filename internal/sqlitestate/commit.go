package sqlitestate

import (
	"context"
	"database/sql"
	"errors"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Commit writes tx atomically. Every condition of every part is in this file.
func (s *Store) Commit(ctx context.Context, tx handoff.Tx) error {
	return s.inTx(ctx, "commit "+string(tx.Stream), func(q *sql.Tx) error {
		for _, part := range []func(context.Context, *sql.Tx, handoff.Tx) error{
			putCheckpoint, putPage, putReceipt, putRecords,
		} {
			if err := part(ctx, q, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func putCheckpoint(ctx context.Context, q *sql.Tx, tx handoff.Tx) error {
	w := tx.Checkpoint
	if w == nil {
		return nil
	}
	if w.Put == nil {
		return check(ctx, q, w.If, `SELECT rev FROM checkpoint WHERE stream = ?`, string(tx.Stream))
	}
	item, err := encode(w.Put)
	if err != nil {
		return err
	}
	if w.If.Absent {
		return exec(ctx, q, "checkpoint", `INSERT INTO checkpoint VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			string(tx.Stream), w.Put.Rev, format, item)
	}
	return exec(ctx, q, "checkpoint", `UPDATE checkpoint SET rev = ?, format = ?, item = ? WHERE stream = ? AND rev = ?`,
		w.Put.Rev, format, item, string(tx.Stream), w.If.Rev)
}

// check is a guard without a write.
func check(ctx context.Context, q *sql.Tx, g handoff.Guard, query string, args ...any) error {
	var rev uint64
	err := q.QueryRowContext(ctx, query, args...).Scan(&rev)
	exists := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if g.Absent == exists || exists && rev != g.Rev {
		return refused("checkpoint")
	}
	return nil
}

func putPage(ctx context.Context, q *sql.Tx, tx handoff.Tx) error {
	if v := tx.PageAbsent; v != 0 {
		var n int
		if err := q.QueryRowContext(ctx, `SELECT count(*) FROM page WHERE stream = ? AND version = ?`, string(tx.Stream), uint64(v)).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return refused("page exists")
		}
	}
	if m := tx.PageMark; m != nil {
		_, err := updatePage(ctx, q, tx.Stream, m.Version, func(p *handoff.Page) error {
			p.Abandoned, p.Lost = p.Abandoned || m.Abandoned, p.Lost || m.Lost
			if !m.ExpiresAt.IsZero() { // kept for whoever reads it: this store forgets nothing
				p.ExpiresAt = m.ExpiresAt
			}
			return nil
		})
		if errors.Is(err, sql.ErrNoRows) {
			return refused("no page to mark")
		}
		if err != nil {
			return err
		}
	}
	if p := tx.PagePut; p != nil {
		if err := insert(ctx, q, "page", `INSERT INTO page VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, p, string(p.Stream), uint64(p.Version)); err != nil {
			return err
		}
	}
	if d := tx.Directory; d != nil {
		return insert(ctx, q, "directory", `INSERT INTO directory VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, d, string(d.Stream), uint64(d.Version))
	}
	return nil
}

// insert puts an item if its key is free.
func insert(ctx context.Context, q *sql.Tx, what, query string, item any, key ...any) error {
	text, err := encode(item)
	if err != nil {
		return err
	}
	return exec(ctx, q, what, query, append(key, format, text)...)
}

func putReceipt(ctx context.Context, q *sql.Tx, tx handoff.Tx) error {
	if tx.Receipt == nil {
		return nil
	}
	return writeReceipt(ctx, q, tx.Stream, *tx.Receipt)
}

// writeReceipt is the compare-and-swap of one receipt.
func writeReceipt(ctx context.Context, q *sql.Tx, s handoff.Stream, w handoff.ReceiptWrite) error {
	item, err := encode(w.Put)
	if err != nil {
		return err
	}
	var held any
	if w.Put.Listed() {
		held = w.Put.HeldAt.UnixNano()
	}
	if w.If.Absent {
		return exec(ctx, q, "receipt", `INSERT INTO receipt VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			string(s), w.Put.EventID, w.Put.Conflict, w.Put.Rev, held, format, item)
	}
	return exec(ctx, q, "receipt", `UPDATE receipt SET rev = ?, held_at = ?, format = ?, item = ? WHERE stream = ? AND event_id = ? AND conflict = ? AND rev = ?`,
		w.Put.Rev, held, format, item, string(s), w.Put.EventID, w.Put.Conflict, w.If.Rev)
}

func putRecords(ctx context.Context, q *sql.Tx, tx handoff.Tx) error {
	if e := tx.Entry; e != nil {
		item, err := encode(e)
		if err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, `INSERT INTO stream VALUES (?, ?) ON CONFLICT DO UPDATE SET item = excluded.item`, string(e.Stream), item); err != nil {
			return err
		}
	}
	if a := tx.Audit; a != nil {
		if err := insert(ctx, q, "audit", `INSERT INTO audit VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, a, string(tx.Stream), a.At.UnixNano(), a.ID); err != nil {
			return err
		}
	}
	if d := tx.Decision; d != nil {
		return insert(ctx, q, "decision", `INSERT INTO decision VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, d, string(tx.Stream), d.ID)
	}
	return nil
}
