package memstate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Store is a State in memory. The zero Store is not ready; see New.
type Store struct {
	mu      sync.Mutex
	entries map[handoff.Stream]handoff.StreamEntry
	streams map[handoff.Stream]*record
}

var _ handoff.State = (*Store)(nil)

// record is everything kept of one stream.
type record struct {
	checkpoint  *handoff.Checkpoint
	pages       map[handoff.Version]handoff.Page
	directories map[handoff.Version]handoff.Directory
	starts      map[delivery][]handoff.Start
	spool       map[slot]handoff.SpoolEntry
	receipts    map[handoff.ReceiptKey]handoff.Receipt
	docs        map[string]handoff.Doc
	audits      map[place]handoff.AuditRecord
	decisions   map[string]handoff.DecisionRecord
}

// delivery names a chunk whose starts are counted; slot a place in the spool.
type (
	delivery struct {
		version handoff.Version
		chunk   int
	}
	slot struct {
		version handoff.Version
		walk    uint64
		n       int
	}
)

// New gives an empty store.
func New() *Store {
	return &Store{entries: map[handoff.Stream]handoff.StreamEntry{}, streams: map[handoff.Stream]*record{}}
}

// of gives a stream's record, made on first use. The caller holds the mutex.
func (s *Store) of(name handoff.Stream) *record {
	r := s.streams[name]
	if r == nil {
		r = &record{
			pages: map[handoff.Version]handoff.Page{}, directories: map[handoff.Version]handoff.Directory{},
			starts: map[delivery][]handoff.Start{}, spool: map[slot]handoff.SpoolEntry{},
			receipts: map[handoff.ReceiptKey]handoff.Receipt{}, docs: map[string]handoff.Doc{},
			audits: map[place]handoff.AuditRecord{}, decisions: map[string]handoff.DecisionRecord{},
		}
		s.streams[name] = r
	}
	return r
}

// do runs one operation alone on one stream. A call whose context is over does nothing, and its outcome is unknown.
func (s *Store) do(ctx context.Context, name handoff.Stream, what string, f func(*record) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s of %s: %w: %w", what, name, handoff.ErrUnknown, err)
	}
	if err := f(s.of(name)); err != nil {
		return fmt.Errorf("%s of %s: %w", what, name, err)
	}
	return nil
}

// get is do for one item of a map.
func get[K comparable, V any](ctx context.Context, s *Store, name handoff.Stream, what string, key K, from func(*record) map[K]V, clone func(V) V) (v V, err error) {
	err = s.do(ctx, name, what, func(r *record) error {
		found, ok := from(r)[key]
		if !ok {
			return handoff.ErrNotFound
		}
		v = clone(found)
		return nil
	})
	return v, err
}

// Checkpoint reads one.
func (s *Store) Checkpoint(ctx context.Context, name handoff.Stream) (cp handoff.Checkpoint, err error) {
	err = s.do(ctx, name, "checkpoint", func(r *record) error {
		if r.checkpoint == nil {
			return handoff.ErrNotFound
		}
		cp = cloneCheckpoint(*r.checkpoint)
		return nil
	})
	return cp, err
}

// Streams lists every stream ever started, in order of name.
func (s *Store) Streams(ctx context.Context) (list []handoff.StreamEntry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b handoff.StreamEntry) int { return cmp.Compare(a.Stream, b.Stream) })
	return list, ctx.Err()
}

// Doc reads one document.
func (s *Store) Doc(ctx context.Context, name handoff.Stream, entity string) (handoff.Doc, error) {
	return get(ctx, s, name, "document", entity, func(r *record) map[string]handoff.Doc { return r.docs }, cloneDoc)
}

// Decision reads one.
func (s *Store) Decision(ctx context.Context, name handoff.Stream, id string) (handoff.DecisionRecord, error) {
	return get(ctx, s, name, "decision", id, func(r *record) map[string]handoff.DecisionRecord { return r.decisions }, same)
}

// Receipts gives those that exist; always strongly consistent here.
func (s *Store) Receipts(ctx context.Context, name handoff.Stream, keys []handoff.ReceiptKey, _ bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	found := map[handoff.ReceiptKey]handoff.Receipt{}
	err := s.do(ctx, name, "receipts", func(r *record) error {
		for _, k := range keys {
			if rec, ok := r.receipts[k]; ok {
				found[k] = cloneReceipt(rec)
			}
		}
		return nil
	})
	return found, err
}

// refused says which condition did not hold.
func refused(what string) error { return fmt.Errorf("%s: %w", what, handoff.ErrRefused) }

// holds judges a guard against what stands.
func holds(g handoff.Guard, exists bool, rev uint64) bool {
	if g.Absent {
		return !exists
	}
	return exists && rev == g.Rev
}

// compare orders places.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.At, q.At), strings.Compare(p.ID, q.ID), strings.Compare(p.Conflict, q.Conflict))
}
