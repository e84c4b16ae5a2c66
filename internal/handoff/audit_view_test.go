package handoff_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// shelf is an archive of which a test takes objects away, or changes them. With a T it refuses every write.
type shelf struct {
	handoff.Archive
	*testing.T
	gone   func(key string) bool
	change func(key string, b []byte) []byte
	fail   func(key string) error
}

func (s *shelf) Put(ctx context.Context, key string, b []byte) error {
	if s.T != nil {
		s.Errorf("an audit wrote %s", key)
	}
	return s.Archive.Put(ctx, key, b)
}

func (s *shelf) Refresh(ctx context.Context, key string) error {
	if s.T != nil {
		s.Errorf("an audit refreshed %s", key)
	}
	return s.Archive.Refresh(ctx, key)
}

func (s *shelf) Get(ctx context.Context, key string) ([]byte, error) {
	if s.fail != nil {
		if err := s.fail(key); err != nil {
			return nil, err
		}
	}
	if s.gone != nil && s.gone(key) {
		return nil, handoff.ErrNotFound
	}
	b, err := s.Archive.Get(ctx, key)
	if err == nil && s.change != nil {
		b = s.change(key, b)
	}
	return b, err
}

func (s *shelf) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	b, err := s.Get(ctx, key)
	if err == nil && offset+length > int64(len(b)) {
		return nil, handoff.ErrDigest
	}
	if err != nil {
		return nil, err
	}
	return b[offset : offset+length], nil
}

// view shows a stored record with one thing changed in it, the same by every way of reading, and refuses every write.
type view struct {
	handoff.State
	*testing.T
	shelf      shelf
	timing     func(*handoff.Timing)
	checkpoint func(*handoff.Checkpoint)
	page       func(*handoff.Page)
	ghost      *handoff.Page // a page that is not stored
	noPage     handoff.Version
	dir        func(*handoff.Directory)
	noDir      handoff.Version
	receipt    func(*handoff.Receipt)
	noReceipt  handoff.ReceiptKey
	extra      *handoff.Receipt // a receipt that is not stored
	listed     func([]handoff.Receipt) []handoff.Receipt
	doc        func(*handoff.Doc)
	audit      func(*handoff.AuditRecord) (keep bool)
	backwards  bool // the record of decisions is
	streams    bool // the list is empty
}

func (v *view) Commit(context.Context, handoff.Tx) error {
	v.Error("an audit wrote a transaction")
	return handoff.ErrRefused
}

func (v *view) Settle(context.Context, handoff.Stream, []handoff.Settlement) []handoff.SettleResult {
	v.Error("an audit settled")
	return nil
}

func (v *view) MarkChunk(context.Context, handoff.Stream, handoff.Version, int) (handoff.Page, error) {
	v.Error("an audit marked a chunk")
	return handoff.Page{}, handoff.ErrRefused
}

func (v *view) MarkDriven(context.Context, handoff.Stream, handoff.Version, int, int, time.Time) error {
	v.Error("an audit drove a page")
	return handoff.ErrRefused
}

func (v *view) AddStart(context.Context, handoff.Stream, handoff.Version, int, handoff.Start) ([]handoff.Start, error) {
	v.Error("an audit counted a start")
	return nil, handoff.ErrRefused
}

func (v *view) RemoveStart(context.Context, handoff.Stream, handoff.Version, int, string) error {
	v.Error("an audit removed a start")
	return handoff.ErrRefused
}

func (v *view) PutSpool(context.Context, handoff.SpoolEntry) error {
	v.Error("an audit wrote to the spool")
	return handoff.ErrRefused
}

func (v *view) DropSpool(context.Context, handoff.Stream, handoff.Version) error {
	v.Error("an audit emptied the spool")
	return handoff.ErrRefused
}

func (v *view) Checkpoint(ctx context.Context, s handoff.Stream) (handoff.Checkpoint, error) {
	cp, err := v.State.Checkpoint(ctx, s)
	if v.checkpoint != nil {
		v.checkpoint(&cp)
	}
	return cp, err
}

func (v *view) Streams(ctx context.Context) ([]handoff.StreamEntry, error) {
	if v.streams {
		return nil, nil
	}
	return v.State.Streams(ctx)
}

func (v *view) Page(ctx context.Context, s handoff.Stream, at handoff.Version) (handoff.Page, error) {
	switch {
	case v.noPage != 0 && at == v.noPage:
		return handoff.Page{}, handoff.ErrNotFound
	case v.ghost != nil && at == v.ghost.Version:
		return *v.ghost, nil
	}
	p, err := v.State.Page(ctx, s, at)
	if err == nil && v.page != nil {
		v.page(&p)
	}
	return p, err
}

func (v *view) ListPages(ctx context.Context, s handoff.Stream, after handoff.Version, limit int) ([]handoff.Page, error) {
	ps, err := v.State.ListPages(ctx, s, after, limit)
	ps = slices.DeleteFunc(ps, func(p handoff.Page) bool { return p.Version == v.noPage })
	for i := range ps {
		if v.page != nil {
			v.page(&ps[i])
		}
	}
	if v.ghost != nil && after < v.ghost.Version {
		ps = append(ps, *v.ghost)
	}
	return ps, err
}

func (v *view) Directory(ctx context.Context, s handoff.Stream, at handoff.Version) (handoff.Directory, error) {
	if v.noDir != 0 && at == v.noDir {
		return handoff.Directory{}, handoff.ErrNotFound
	}
	d, err := v.State.Directory(ctx, s, at)
	if err == nil && v.dir != nil {
		v.dir(&d)
	}
	return d, err
}

// seen is a receipt as the view shows it; ok is false for the one it hides.
func (v *view) seen(r handoff.Receipt) (handoff.Receipt, bool) {
	if v.receipt != nil {
		v.receipt(&r)
	}
	return r, v.noReceipt.EventID == "" || r.ReceiptKey != v.noReceipt
}

func (v *view) Receipts(ctx context.Context, s handoff.Stream, keys []handoff.ReceiptKey, proof bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	found, err := v.State.Receipts(ctx, s, keys, proof)
	for k, r := range found {
		r, ok := v.seen(r)
		if found[k] = r; !ok {
			delete(found, k)
		}
	}
	if v.extra != nil && slices.Contains(keys, v.extra.ReceiptKey) {
		found[v.extra.ReceiptKey] = *v.extra
	}
	return found, err
}

func (v *view) every(ctx context.Context, s handoff.Stream) (all []handoff.Receipt, err error) {
	rs, next, err := v.State.ListReceipts(ctx, s, "", 1000)
	if next != "" {
		return nil, errors.New("the story is too long for its view")
	}
	for _, r := range rs {
		if r, ok := v.seen(r); ok {
			all = append(all, r)
		}
	}
	if v.extra != nil {
		all = append(all, *v.extra)
	}
	return all, err
}

func (v *view) ListReceipts(ctx context.Context, s handoff.Stream, _ string, _ int) ([]handoff.Receipt, string, error) {
	all, err := v.every(ctx, s)
	return all, "", err
}

func (v *view) HeldReceipts(ctx context.Context, s handoff.Stream, _ string, _ int) ([]handoff.Receipt, string, error) {
	all, err := v.every(ctx, s)
	all = slices.DeleteFunc(all, func(r handoff.Receipt) bool { return !r.Listed() || r.HeldAt.IsZero() })
	if v.listed != nil {
		all = v.listed(all)
	}
	return all, "", err
}

func (v *view) Doc(ctx context.Context, s handoff.Stream, entity string) (handoff.Doc, error) {
	d, err := v.State.Doc(ctx, s, entity)
	if err == nil && v.doc != nil {
		v.doc(&d)
	}
	return d, err
}

func (v *view) ListDocs(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Doc, string, error) {
	ds, next, err := v.State.ListDocs(ctx, s, after, limit)
	for i := range ds {
		if v.doc != nil {
			v.doc(&ds[i])
		}
	}
	return ds, next, err
}

func (v *view) Audits(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.AuditRecord, string, error) {
	rs, next, err := v.State.Audits(ctx, s, after, limit)
	var kept []handoff.AuditRecord
	for _, r := range rs {
		if v.audit == nil || v.audit(&r) {
			kept = append(kept, r)
		}
	}
	if v.backwards {
		slices.Reverse(kept)
	}
	return kept, next, err
}
