package walkthrough

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

type mem struct {
	mu      sync.Mutex
	cps     map[handoff.Stream]handoff.Checkpoint
	entries map[handoff.Stream]handoff.StreamEntry
	pages   map[string]handoff.Page
	dirs    map[string]handoff.Directory
	recs    map[string]handoff.Receipt
	docs    map[string]handoff.Doc
	audits  []handoff.AuditRecord
	decs    map[string]handoff.DecisionRecord
	spool   map[string][]handoff.SpoolEntry
	starts  map[string][]handoff.Start
	objs    map[string][]byte
}

func newMem() *mem {
	return &mem{cps: map[handoff.Stream]handoff.Checkpoint{}, entries: map[handoff.Stream]handoff.StreamEntry{}, pages: map[string]handoff.Page{},
		dirs: map[string]handoff.Directory{}, recs: map[string]handoff.Receipt{}, docs: map[string]handoff.Doc{}, decs: map[string]handoff.DecisionRecord{},
		spool: map[string][]handoff.SpoolEntry{}, starts: map[string][]handoff.Start{}, objs: map[string][]byte{}}
}
func pk(s handoff.Stream, v handoff.Version) string { return fmt.Sprintf("%s|%012d", s, v) }
func rk(s handoff.Stream, k handoff.ReceiptKey) string {
	return fmt.Sprintf("%s|%s|%s", s, k.EventID, k.Conflict)
}
func (m *mem) lock() func() { m.mu.Lock(); return m.mu.Unlock }
func (m *mem) Checkpoint(_ context.Context, s handoff.Stream) (handoff.Checkpoint, error) {
	defer m.lock()()
	cp, ok := m.cps[s]
	if !ok {
		return cp, handoff.ErrNotFound
	}
	return cp, nil
}
func (m *mem) Streams(context.Context) (out []handoff.StreamEntry, _ error) {
	defer m.lock()()
	for _, e := range m.entries {
		out = append(out, e)
	}
	return out, nil
}
func (m *mem) Page(_ context.Context, s handoff.Stream, v handoff.Version) (handoff.Page, error) {
	defer m.lock()()
	p, ok := m.pages[pk(s, v)]
	if !ok {
		return p, handoff.ErrNotFound
	}
	return p, nil
}
func (m *mem) Directory(_ context.Context, s handoff.Stream, v handoff.Version) (handoff.Directory, error) {
	defer m.lock()()
	p, ok := m.dirs[pk(s, v)]
	if !ok {
		return p, handoff.ErrNotFound
	}
	return p, nil
}
func (m *mem) ListPages(_ context.Context, s handoff.Stream, after handoff.Version, limit int) (out []handoff.Page, _ error) {
	defer m.lock()()
	for _, p := range m.pages {
		if p.Stream == s && p.Version > after {
			out = append(out, p)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Version < out[j].Version })
	if len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}
func (m *mem) MarkChunk(_ context.Context, s handoff.Stream, v handoff.Version, k int) (handoff.Page, error) {
	defer m.lock()()
	p, ok := m.pages[pk(s, v)]
	if !ok {
		return p, handoff.ErrNotFound
	}
	p.ChunksDone = p.ChunksDone.With(k)
	m.pages[pk(s, v)] = p
	return p, nil
}
func (m *mem) MarkDriven(_ context.Context, s handoff.Stream, v handoff.Version, seen, drives int, at time.Time) error {
	defer m.lock()()
	p, ok := m.pages[pk(s, v)]
	if !ok {
		return handoff.ErrNotFound
	}
	if p.Drives != seen {
		return handoff.ErrRefused
	}
	p.Drives, p.DrivenAt = drives, at
	m.pages[pk(s, v)] = p
	return nil
}
func (m *mem) AddStart(_ context.Context, s handoff.Stream, v handoff.Version, c int, st handoff.Start) ([]handoff.Start, error) {
	defer m.lock()()
	k := fmt.Sprint(pk(s, v), c)
	m.starts[k] = append(m.starts[k], st)
	return append([]handoff.Start{}, m.starts[k]...), nil
}
func (m *mem) RemoveStart(_ context.Context, s handoff.Stream, v handoff.Version, c int, token string) error {
	defer m.lock()()
	k := fmt.Sprint(pk(s, v), c)
	var out []handoff.Start
	for _, x := range m.starts[k] {
		if x.Token != token {
			out = append(out, x)
		}
	}
	m.starts[k] = out
	return nil
}
func (m *mem) Spool(_ context.Context, s handoff.Stream, v handoff.Version) ([]handoff.SpoolEntry, error) {
	defer m.lock()()
	return m.spool[pk(s, v)], nil
}
func (m *mem) PutSpool(_ context.Context, e handoff.SpoolEntry) error {
	defer m.lock()()
	m.spool[pk(e.Stream, e.Version)] = append(m.spool[pk(e.Stream, e.Version)], e)
	return nil
}
func (m *mem) DropSpool(_ context.Context, s handoff.Stream, v handoff.Version) error {
	defer m.lock()()
	delete(m.spool, pk(s, v))
	return nil
}
func (m *mem) Receipts(_ context.Context, s handoff.Stream, keys []handoff.ReceiptKey, _ bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	defer m.lock()()
	out := map[handoff.ReceiptKey]handoff.Receipt{}
	for _, k := range keys {
		if r, ok := m.recs[rk(s, k)]; ok {
			out[k] = r
		}
	}
	return out, nil
}
func (m *mem) putReceipt(s handoff.Stream, w handoff.ReceiptWrite) (*handoff.Receipt, error) {
	old, ok := m.recs[rk(s, w.Put.ReceiptKey)]
	if w.If.Absent && ok || !w.If.Absent && (!ok || old.Rev != w.If.Rev) {
		if !ok {
			return nil, handoff.ErrRefused
		}
		return &old, handoff.ErrRefused
	}
	return nil, nil
}
func (m *mem) Settle(_ context.Context, s handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	defer m.lock()()
	out := make([]handoff.SettleResult, len(items))
	for i, it := range items {
		old, err := m.putReceipt(s, it.ReceiptWrite)
		if err != nil {
			out[i] = handoff.SettleResult{Err: err, Old: old}
			continue
		}
		staged := map[string]*handoff.Doc{}
		for _, c := range it.Docs {
			d, ex, err := m.docs[string(s)+"|"+c.Entity].Apply(c)
			if err != nil {
				out[i].Err = err
				break
			}
			d.Stream = s
			if ex {
				staged[string(s)+"|"+c.Entity] = &d
			} else {
				staged[string(s)+"|"+c.Entity] = nil
			}
		}
		if out[i].Err != nil {
			continue
		}
		for k, d := range staged {
			if d == nil {
				delete(m.docs, k)
			} else {
				m.docs[k] = *d
			}
		}
		m.recs[rk(s, it.Put.ReceiptKey)] = it.Put
	}
	return out
}
func (m *mem) list(s handoff.Stream, held bool) (out []handoff.Receipt) {
	for _, r := range m.recs {
		if r.Stream == s && (!held || r.Listed()) {
			out = append(out, r)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if held && !out[i].HeldAt.Equal(out[j].HeldAt) {
			return out[i].HeldAt.Before(out[j].HeldAt)
		}
		return rk(s, out[i].ReceiptKey) < rk(s, out[j].ReceiptKey)
	})
	return out
}
func (m *mem) HeldReceipts(_ context.Context, s handoff.Stream, _ string, _ int) ([]handoff.Receipt, string, error) {
	defer m.lock()()
	return m.list(s, true), "", nil
}
func (m *mem) ListReceipts(_ context.Context, s handoff.Stream, _ string, _ int) ([]handoff.Receipt, string, error) {
	defer m.lock()()
	return m.list(s, false), "", nil
}
func (m *mem) Doc(_ context.Context, s handoff.Stream, e string) (handoff.Doc, error) {
	defer m.lock()()
	d, ok := m.docs[string(s)+"|"+e]
	if !ok {
		return d, handoff.ErrNotFound
	}
	return d, nil
}
func (m *mem) ListDocs(context.Context, handoff.Stream, string, int) ([]handoff.Doc, string, error) {
	return nil, "", nil
}
func (m *mem) Decision(_ context.Context, s handoff.Stream, id string) (handoff.DecisionRecord, error) {
	defer m.lock()()
	d, ok := m.decs[string(s)+"|"+id]
	if !ok {
		return d, handoff.ErrNotFound
	}
	return d, nil
}
func (m *mem) Audits(_ context.Context, s handoff.Stream, _ string, _ int) (out []handoff.AuditRecord, _ string, _ error) {
	defer m.lock()()
	for _, a := range m.audits {
		if a.Stream == s {
			out = append(out, a)
		}
	}
	return out, "", nil
}
func (m *mem) Commit(_ context.Context, tx handoff.Tx) error {
	defer m.lock()()
	ref := func(c bool) bool { return c }
	if c := tx.Checkpoint; c != nil {
		cp, ok := m.cps[tx.Stream]
		if ref(c.If.Absent && ok || !c.If.Absent && (!ok || cp.Rev != c.If.Rev)) {
			return fmt.Errorf("cp: %w", handoff.ErrRefused)
		}
	}
	if tx.PageAbsent != 0 {
		if _, ok := m.pages[pk(tx.Stream, tx.PageAbsent)]; ok {
			return handoff.ErrRefused
		}
	}
	if p := tx.PagePut; p != nil {
		if _, ok := m.pages[pk(tx.Stream, p.Version)]; ok {
			return handoff.ErrRefused
		}
	}
	if p := tx.PageMark; p != nil {
		if _, ok := m.pages[pk(tx.Stream, p.Version)]; !ok {
			return handoff.ErrRefused
		}
	}
	if tx.Receipt != nil {
		if _, err := m.putReceipt(tx.Stream, *tx.Receipt); err != nil {
			return err
		}
	}
	if d := tx.Decision; d != nil {
		if _, ok := m.decs[string(tx.Stream)+"|"+d.ID]; ok {
			return handoff.ErrRefused
		}
	}
	if c := tx.Checkpoint; c != nil && c.Put != nil {
		m.cps[tx.Stream] = *c.Put
	}
	if tx.Entry != nil {
		m.entries[tx.Stream] = *tx.Entry
	}
	if p := tx.PagePut; p != nil {
		m.pages[pk(tx.Stream, p.Version)] = *p
	}
	if p := tx.Directory; p != nil {
		m.dirs[pk(tx.Stream, p.Version)] = *p
	}
	if p := tx.PageMark; p != nil {
		x := m.pages[pk(tx.Stream, p.Version)]
		x.Abandoned, x.Lost = x.Abandoned || p.Abandoned, x.Lost || p.Lost
		m.pages[pk(tx.Stream, p.Version)] = x
	}
	if tx.Receipt != nil {
		m.recs[rk(tx.Stream, tx.Receipt.Put.ReceiptKey)] = tx.Receipt.Put
	}
	if tx.Audit != nil {
		m.audits = append(m.audits, *tx.Audit)
	}
	if tx.Decision != nil {
		m.decs[string(tx.Stream)+"|"+tx.Decision.ID] = *tx.Decision
	}
	return nil
}

type memArchive struct{ *mem }

func (m memArchive) Put(_ context.Context, key string, b []byte) error {
	defer m.lock()()
	if old, ok := m.objs[key]; ok && string(old) != string(b) {
		return handoff.ErrRefused
	}
	m.objs[key] = b
	return nil
}
func (m memArchive) Get(_ context.Context, key string) ([]byte, error) {
	defer m.lock()()
	b, ok := m.objs[key]
	if !ok {
		return nil, handoff.ErrNotFound
	}
	return b, nil
}
func (m memArchive) GetRange(ctx context.Context, key string, o, n int64) ([]byte, error) {
	b, err := m.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return b[o : o+n], nil
}
func (m memArchive) List(_ context.Context, p string, _ int) (out []string, _ error) {
	defer m.lock()()
	for k := range m.objs {
		if strings.HasPrefix(k, p) {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out, nil
}
func (m memArchive) Refresh(context.Context, string) error { return nil }

func TestMem(t *testing.T) {
	Run(t, func(*testing.T) Backend { m := newMem(); return Backend{m, memArchive{m}} })
}
