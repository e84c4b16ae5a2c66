package memstate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Page reads one.
func (s *Store) Page(ctx context.Context, name handoff.Stream, v handoff.Version) (handoff.Page, error) {
	return get(ctx, s, name, "page", v, func(r *record) map[handoff.Version]handoff.Page { return r.pages }, same)
}

// Directory reads one.
func (s *Store) Directory(ctx context.Context, name handoff.Stream, v handoff.Version) (handoff.Directory, error) {
	return get(ctx, s, name, "directory", v, func(r *record) map[handoff.Version]handoff.Directory { return r.directories }, cloneDirectory)
}

// ListPages lists pages above a version.
func (s *Store) ListPages(ctx context.Context, name handoff.Stream, after handoff.Version, limit int) (list []handoff.Page, err error) {
	err = s.do(ctx, name, "list pages", func(r *record) error {
		for _, v := range slices.Sorted(maps.Keys(r.pages)) {
			if v > after && len(list) < limit {
				list = append(list, r.pages[v])
			}
		}
		return nil
	})
	return list, err
}

// update changes an existing page.
func (s *Store) update(ctx context.Context, name handoff.Stream, v handoff.Version, what string, edit func(*handoff.Page) error) (p handoff.Page, err error) {
	err = s.do(ctx, name, what, func(r *record) error {
		found, ok := r.pages[v]
		if !ok {
			return handoff.ErrNotFound
		}
		if err := edit(&found); err != nil {
			return err
		}
		r.pages[v], p = found, found
		return nil
	})
	return p, err
}

// MarkChunk adds a settled chunk. A number that no page has is *handoff.InvalidError.
func (s *Store) MarkChunk(ctx context.Context, name handoff.Stream, v handoff.Version, k int) (handoff.Page, error) {
	if k < 0 || k >= handoff.MaxChunks {
		return handoff.Page{}, &handoff.InvalidError{Reason: fmt.Sprintf("chunk %d: pages have chunks 0 to %d", k, handoff.MaxChunks-1)}
	}
	return s.update(ctx, name, v, "mark chunk", func(p *handoff.Page) error {
		p.ChunksDone = p.ChunksDone.With(k)
		return nil
	})
}

// MarkDriven moves the drive lease.
func (s *Store) MarkDriven(ctx context.Context, name handoff.Stream, v handoff.Version, seen, drives int, at time.Time) error {
	_, err := s.update(ctx, name, v, "mark driven", func(p *handoff.Page) error {
		if p.Drives != seen {
			return refused("drives")
		}
		p.Drives, p.DrivenAt = drives, at
		return nil
	})
	return err
}

// AddStart records a start and gives all that stand, oldest first.
func (s *Store) AddStart(ctx context.Context, name handoff.Stream, v handoff.Version, chunk int, st handoff.Start) (all []handoff.Start, err error) {
	err = s.do(ctx, name, "add start", func(r *record) error {
		key := delivery{v, chunk}
		if !slices.ContainsFunc(r.starts[key], func(have handoff.Start) bool { return have.Token == st.Token }) {
			r.starts[key] = append(r.starts[key], st)
		}
		slices.SortFunc(r.starts[key], func(a, b handoff.Start) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Token, b.Token)) })
		all = slices.Clone(r.starts[key])
		return nil
	})
	return all, err
}

// RemoveStart takes a start back.
func (s *Store) RemoveStart(ctx context.Context, name handoff.Stream, v handoff.Version, chunk int, token string) error {
	return s.do(ctx, name, "remove start", func(r *record) error {
		key := delivery{v, chunk}
		r.starts[key] = slices.DeleteFunc(r.starts[key], func(have handoff.Start) bool { return have.Token == token })
		return nil
	})
}

// Spool lists cached answers in order of walk and number.
func (s *Store) Spool(ctx context.Context, name handoff.Stream, v handoff.Version) (list []handoff.SpoolEntry, err error) {
	err = s.do(ctx, name, "spool", func(r *record) error {
		for k, e := range r.spool {
			if k.version == v {
				list = append(list, e)
			}
		}
		slices.SortFunc(list, func(a, b handoff.SpoolEntry) int { return cmp.Or(cmp.Compare(a.Walk, b.Walk), cmp.Compare(a.N, b.N)) })
		return nil
	})
	return list, err
}

// PutSpool caches an answer.
func (s *Store) PutSpool(ctx context.Context, e handoff.SpoolEntry) error {
	return s.do(ctx, e.Stream, "put spool", func(r *record) error {
		key := slot{e.Version, e.Walk, e.N}
		if _, taken := r.spool[key]; taken {
			return refused("spool")
		}
		r.spool[key] = e
		return nil
	})
}

// DropSpool forgets a version's cached answers.
func (s *Store) DropSpool(ctx context.Context, name handoff.Stream, v handoff.Version) error {
	return s.do(ctx, name, "drop spool", func(r *record) error {
		maps.DeleteFunc(r.spool, func(k slot, _ handoff.SpoolEntry) bool { return k.version == v })
		return nil
	})
}
