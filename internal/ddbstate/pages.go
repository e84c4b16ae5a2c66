package ddbstate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Page reads one.
func (s *Store) Page(ctx context.Context, name handoff.Stream, v handoff.Version) (handoff.Page, error) {
	return readAs(ctx, s, fmt.Sprintf("page %s %d", name, v), s.tables.Streams, pageKey(name, v), readPage)
}

// Directory reads one.
func (s *Store) Directory(ctx context.Context, name handoff.Stream, v handoff.Version) (handoff.Directory, error) {
	return readAs(ctx, s, fmt.Sprintf("directory %s %d", name, v), s.tables.Streams, directoryKey(name, v), decode[handoff.Directory])
}

// ListPages lists pages above a version. What lies between two pages is read too and left out: never on the hot path.
func (s *Store) ListPages(ctx context.Context, name handoff.Stream, after handoff.Version, limit int) ([]handoff.Page, error) {
	if after >= maxVersion {
		return nil, nil
	}
	its, err := s.query(ctx, selection{
		table: s.tables.Streams, where: between, filter: onlyPages,
		values: values{":pk": text(streamPK(name)), ":low": text(pageSK(after + 1)), ":high": text(pageSK(maxVersion))},
	}, limit)
	var list []handoff.Page
	if err == nil {
		list, err = decodeAll(its, readPage)
	}
	return list, translateRead("list pages "+string(name), err)
}

// MarkChunk adds a settled chunk: one small update, whoever else adds at the same time.
func (s *Store) MarkChunk(ctx context.Context, name handoff.Stream, v handoff.Version, k int) (handoff.Page, error) {
	op := fmt.Sprintf("mark chunk %s %d.%d", name, v, k)
	if k < 0 || k >= handoff.MaxChunks {
		return handoff.Page{}, translateWrite(op, &handoff.InvalidError{Reason: "a page has no such chunk"})
	}
	u := chunkDone(k)
	it, err := s.change(ctx, write{table: s.tables.Streams, key: pageKey(name, v), when: condition{text: exists}, update: &u})
	if _, missing := conditionFailed(err); missing {
		err = handoff.ErrNotFound
	}
	var p handoff.Page
	if err == nil {
		p, err = readPage(it)
	}
	return p, translateWrite(op, err)
}

// MarkDriven moves the drive lease.
func (s *Store) MarkDriven(ctx context.Context, name handoff.Stream, v handoff.Version, seen, drives int, at time.Time) error {
	u := driven(drives, at)
	when := condition{atDrives, values{":seen": number(seen)}}
	_, err := s.change(ctx, write{table: s.tables.Streams, key: pageKey(name, v), when: when, update: &u, wantOld: true})
	if old, failed := conditionFailed(err); failed && len(old) == 0 {
		err = handoff.ErrNotFound
	}
	return translateWrite(fmt.Sprintf("mark driven %s %d", name, v), err)
}

// AddStart records a start.
func (s *Store) AddStart(ctx context.Context, name handoff.Stream, v handoff.Version, chunk int, st handoff.Start) ([]handoff.Start, error) {
	u := started(st)
	it, err := s.change(ctx, write{table: s.tables.Streams, key: startsKey(name, v, chunk), update: &u})
	var all []handoff.Start
	if err == nil {
		all, err = readStarts(it)
	}
	return all, translateWrite(fmt.Sprintf("add start %s %d.%d", name, v, chunk), err)
}

// RemoveStart takes a start back. Where no start was ever recorded it makes no item.
func (s *Store) RemoveStart(ctx context.Context, name handoff.Stream, v handoff.Version, chunk int, token string) error {
	u := unstarted(token)
	_, err := s.change(ctx, write{table: s.tables.Streams, key: startsKey(name, v, chunk), when: condition{text: exists}, update: &u})
	if _, missing := conditionFailed(err); missing {
		return nil
	}
	return translateWrite(fmt.Sprintf("remove start %s %d.%d", name, v, chunk), err)
}

// readStarts gives the starts of a chunk, oldest first.
func readStarts(it item) ([]handoff.Start, error) {
	var all []handoff.Start
	for attribute := range it {
		token, ok := strings.CutPrefix(attribute, startPrefix)
		if !ok {
			continue
		}
		at, err := instantOf(it, attribute)
		if err != nil {
			return nil, fmt.Errorf("decode starts: %w", err)
		}
		all = append(all, handoff.Start{Token: token, At: at})
	}
	slices.SortFunc(all, func(a, b handoff.Start) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.Token, b.Token)
	})
	return all, nil
}
