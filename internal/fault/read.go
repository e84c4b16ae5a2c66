package fault

import (
	"context"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// reader decorates the reads of a store.
type reader struct {
	p    *Process
	from handoff.State
}

// listing is a part of a list and the mark of the next.
type listing[T any] struct {
	items []T
	next  string
}

func list[T any](ctx context.Context, r reader, site string, do func(context.Context) ([]T, string, error)) ([]T, string, error) {
	got, err := fetch(ctx, r.p, site, func(ctx context.Context) (listing[T], error) {
		items, next, err := do(ctx)
		return listing[T]{items, next}, err
	})
	return got.items, got.next, err
}

func (r reader) Checkpoint(ctx context.Context, s handoff.Stream) (handoff.Checkpoint, error) {
	cp, err := fetch(ctx, r.p, "read/checkpoint", func(ctx context.Context) (handoff.Checkpoint, error) { return r.from.Checkpoint(ctx, s) })
	if err == nil {
		r.p.saw(cp)
	}
	return cp, err
}

func (r reader) Streams(ctx context.Context) ([]handoff.StreamEntry, error) {
	return fetch(ctx, r.p, "read/streams", r.from.Streams)
}

func (r reader) Page(ctx context.Context, s handoff.Stream, v handoff.Version) (handoff.Page, error) {
	return fetch(ctx, r.p, "read/page", func(ctx context.Context) (handoff.Page, error) { return r.from.Page(ctx, s, v) })
}

func (r reader) Directory(ctx context.Context, s handoff.Stream, v handoff.Version) (handoff.Directory, error) {
	return fetch(ctx, r.p, "read/directory", func(ctx context.Context) (handoff.Directory, error) { return r.from.Directory(ctx, s, v) })
}

func (r reader) ListPages(ctx context.Context, s handoff.Stream, after handoff.Version, limit int) ([]handoff.Page, error) {
	return fetch(ctx, r.p, "read/pages", func(ctx context.Context) ([]handoff.Page, error) { return r.from.ListPages(ctx, s, after, limit) })
}

func (r reader) Spool(ctx context.Context, s handoff.Stream, v handoff.Version) ([]handoff.SpoolEntry, error) {
	return fetch(ctx, r.p, "read/spool", func(ctx context.Context) ([]handoff.SpoolEntry, error) { return r.from.Spool(ctx, s, v) })
}

// Receipts: of a look-up for proof, keys may stay unprocessed without an error, for a miss proves nothing.
func (r reader) Receipts(ctx context.Context, s handoff.Stream, keys []handoff.ReceiptKey, proof bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	w := work{site: "read/receipts"}
	var found map[handoff.ReceiptKey]handoff.Receipt
	some := func(n int) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			found, err = r.from.Receipts(ctx, s, keys[:n], proof)
			return err
		}
	}
	w.do = some(len(keys))
	halved := false
	if proof {
		w.site = "read/replays"
		w.half = func(ctx context.Context) (err error) {
			err = some(len(keys) / 2)(ctx)
			halved = err == nil
			return err
		}
	}
	if err := r.p.pass(ctx, w); err != nil && !halved {
		return nil, err
	}
	return found, nil
}

func (r reader) HeldReceipts(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	return list(ctx, r, "read/held", func(ctx context.Context) ([]handoff.Receipt, string, error) {
		return r.from.HeldReceipts(ctx, s, after, limit)
	})
}

func (r reader) ListReceipts(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	return list(ctx, r, "read/ledger", func(ctx context.Context) ([]handoff.Receipt, string, error) {
		return r.from.ListReceipts(ctx, s, after, limit)
	})
}

func (r reader) Doc(ctx context.Context, s handoff.Stream, entity string) (handoff.Doc, error) {
	return fetch(ctx, r.p, "read/document", func(ctx context.Context) (handoff.Doc, error) { return r.from.Doc(ctx, s, entity) })
}

func (r reader) ListDocs(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Doc, string, error) {
	return list(ctx, r, "read/documents", func(ctx context.Context) ([]handoff.Doc, string, error) { return r.from.ListDocs(ctx, s, after, limit) })
}

func (r reader) Decision(ctx context.Context, s handoff.Stream, id string) (handoff.DecisionRecord, error) {
	return fetch(ctx, r.p, "read/decision", func(ctx context.Context) (handoff.DecisionRecord, error) { return r.from.Decision(ctx, s, id) })
}

func (r reader) Audits(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.AuditRecord, string, error) {
	return list(ctx, r, "read/audits", func(ctx context.Context) ([]handoff.AuditRecord, string, error) {
		return r.from.Audits(ctx, s, after, limit)
	})
}
