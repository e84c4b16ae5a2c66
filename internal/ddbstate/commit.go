package ddbstate

import (
	"context"
	"fmt"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Commit writes tx atomically: one conditional put if it has one part (a promote), else a transaction.
func (s *Store) Commit(ctx context.Context, tx handoff.Tx) error {
	op := "commit " + string(tx.Stream)
	ws, err := s.parts(tx)
	if err != nil {
		return translateWrite(op, err)
	}
	switch {
	case len(ws) == 0:
		return nil
	case len(ws) == 1 && ws[0].item != nil:
		err = s.put(ctx, ws[0])
	default:
		err = s.transactAll(ctx, ws)
	}
	return translateWrite(op, err)
}

// parts gives the writes of a transaction, no two of one item: DynamoDB refuses such a request, and the parts of ours that can meet
// on a page ask for what cannot be true together.
func (s *Store) parts(tx handoff.Tx) ([]write, error) {
	var b parts
	if c := tx.Checkpoint; c != nil {
		w := write{table: s.tables.Streams, key: checkpointKey(tx.Stream), when: guarded(c.If)}
		if c.Put != nil {
			w.item = b.made(checkpointItem(w.key, *c.Put))
		}
		b.add(w)
	}
	s.pageParts(&b, tx)
	if r := tx.Receipt; r != nil {
		b.add(write{table: s.tables.Receipts, key: receiptKey(tx.Stream, r.Put.ReceiptKey), when: guarded(r.If), item: b.made(receiptItem(tx.Stream, r.Put))})
	}
	s.recordParts(&b, tx)
	return b.ws, b.err
}

// pageParts: PAGE#v is put, marked, or must not exist.
func (s *Store) pageParts(b *parts, tx handoff.Tx) {
	if p := tx.PagePut; p != nil {
		if p.Version > maxVersion {
			b.fail(&handoff.InvalidError{Reason: fmt.Sprintf("version %d is beyond %d", p.Version, maxVersion)})
		}
		k := pageKey(tx.Stream, p.Version)
		b.add(write{table: s.tables.Streams, key: k, when: condition{text: absent}, item: b.made(pageItem(k, *p))})
	}
	if v := tx.PageAbsent; v != 0 && (tx.PagePut == nil || tx.PagePut.Version != v) { // the put asks for the same
		b.add(write{table: s.tables.Streams, key: pageKey(tx.Stream, v), when: condition{text: absent}})
	}
	if m := tx.PageMark; m != nil {
		if tx.PagePut != nil && tx.PagePut.Version == m.Version || tx.PageAbsent == m.Version {
			b.fail(fmt.Errorf("page %d must exist and must not: %w", m.Version, handoff.ErrRefused))
		}
		u := marked(*m)
		b.add(write{table: s.tables.Streams, key: pageKey(tx.Stream, m.Version), when: condition{text: exists}, update: &u})
		if !m.ExpiresAt.IsZero() {
			u := expiring(m.ExpiresAt)
			b.add(write{table: s.tables.Streams, key: directoryKey(tx.Stream, m.Version), when: condition{text: exists}, update: &u})
		}
	}
	if d := tx.Directory; d != nil {
		k, until := directoryKey(tx.Stream, d.Version), time.Time{}
		if tx.PagePut != nil {
			until = tx.PagePut.ExpiresAt
		}
		b.add(write{table: s.tables.Streams, key: k, when: condition{text: absent}, item: b.made(lasting(k, d, until))})
	}
}

func (s *Store) recordParts(b *parts, tx handoff.Tx) {
	if e := tx.Entry; e != nil {
		k := entryKey(e.Stream)
		b.add(write{table: s.tables.Streams, key: k, item: b.made(encode(k, e))})
	}
	if a := tx.Audit; a != nil {
		k := auditKey(tx.Stream, a.At, a.ID)
		b.add(write{table: s.tables.Streams, key: k, when: condition{text: absent}, item: b.made(lasting(k, a, a.ExpiresAt))})
	}
	if d := tx.Decision; d != nil {
		k := decisionKey(tx.Stream, d.ID)
		b.add(write{table: s.tables.Streams, key: k, when: condition{text: absent}, item: b.made(lasting(k, d, d.ExpiresAt))})
	}
}

// parts collects writes and the first error.
type parts struct {
	ws  []write
	err error
}

func (b *parts) add(w write) { b.ws = append(b.ws, w) }

func (b *parts) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *parts) made(it item, err error) item {
	b.fail(err)
	return it
}
