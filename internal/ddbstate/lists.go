package ddbstate

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// HeldReceipts lists what waits for a person, oldest first, from the sparse index.
func (s *Store) HeldReceipts(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	held := text(part(string(name)))
	sel := selection{table: s.tables.Receipts, index: IndexHolds, where: heldBy, values: values{":held": held}}
	return list(ctx, s, "list holds "+string(name), name, sel, after, limit, true, decode[handoff.Receipt])
}

// ListReceipts walks all receipts of a stream in a stable order: that of the table's own hashes, since no index keeps another one.
// It reads the whole table, other streams too, and throws those away: for audits, never on the hot path.
func (s *Store) ListReceipts(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	return list(ctx, s, "list receipts "+string(name), name, s.ledger(s.tables.Receipts, name), after, limit, false, decode[handoff.Receipt])
}

// ListDocs walks all documents of a stream, as ListReceipts does.
func (s *Store) ListDocs(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.Doc, string, error) {
	return list(ctx, s, "list documents "+string(name), name, s.ledger(s.tables.Projections, name), after, limit, false, decode[handoff.Doc])
}

// ledger is a scan of one stream's items.
func (s *Store) ledger(table string, name handoff.Stream) selection {
	return selection{table: table, filter: ofStream, values: values{":prefix": text(ledgerPrefix(name))}}
}

// list reads a part of a listing and the mark to go on from.
func list[T any](ctx context.Context, s *Store, op string, name handoff.Stream, sel selection, after string, limit int, held bool,
	read func(item) (T, error),
) ([]T, string, error) {
	var err error
	if sel.after, err = startAfter(name, after, held); err != nil {
		return nil, "", err
	}
	its, more, err := s.page(ctx, sel, limit)
	if err != nil {
		return nil, "", translateRead(op, err)
	}
	all, err := decodeAll(its, read)
	if err != nil || !more {
		return all, "", translateRead(op, err)
	}
	return all, markOf(its[len(its)-1], held), nil
}

// markOf is the key of the last item listed; an index's key has its own parts besides.
func markOf(it item, held bool) string {
	mark := []string{textOf(it, "pk"), textOf(it, "sk")}
	if held {
		mark = append(mark, textOf(it, "held_at"))
	}
	b, _ := json.Marshal(mark) // texts always encode
	return string(b)
}

// startAfter is the key that a mark names. A mark of another stream, or of another listing, is refused.
func startAfter(name handoff.Stream, mark string, held bool) (item, error) {
	if mark == "" {
		return nil, nil
	}
	var parts []string
	if err := json.Unmarshal([]byte(mark), &parts); err != nil {
		return nil, errMark()
	}
	want := 2
	if held {
		want = 3
	}
	if len(parts) != want || !strings.HasPrefix(parts[0], ledgerPrefix(name)) {
		return nil, errMark()
	}
	it := key{parts[0], parts[1]}.attributes()
	if held {
		it["held_stream"], it["held_at"] = text(part(string(name))), text(parts[2])
	}
	return it, nil
}

// Audits lists the record of decisions, oldest first.
func (s *Store) Audits(ctx context.Context, name handoff.Stream, after string, limit int) ([]handoff.AuditRecord, string, error) {
	sel := selection{table: s.tables.Streams, where: under, values: values{":pk": text(streamPK(name)), ":prefix": text(prefixAudit)}}
	if after != "" {
		if !strings.HasPrefix(after, prefixAudit) {
			return nil, "", errMark()
		}
		sel.after = key{streamPK(name), after}.attributes()
	}
	its, more, err := s.page(ctx, sel, limit)
	var all []handoff.AuditRecord
	if err == nil {
		all, err = decodeAll(its, decode[handoff.AuditRecord])
	}
	if err != nil || !more {
		return all, "", translateRead("list audit "+string(name), err)
	}
	return all, textOf(its[len(its)-1], "sk"), nil
}
