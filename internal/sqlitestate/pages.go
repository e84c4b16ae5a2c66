package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Checkpoint reads one.
func (s *Store) Checkpoint(ctx context.Context, name handoff.Stream) (handoff.Checkpoint, error) {
	cp, err := one[handoff.Checkpoint](ctx, s.read, `SELECT item FROM checkpoint WHERE stream = ?`, string(name))
	return cp, translate("checkpoint "+string(name), err)
}

// Streams lists every stream ever started.
func (s *Store) Streams(ctx context.Context) ([]handoff.StreamEntry, error) {
	list, err := many[handoff.StreamEntry](ctx, s.read, `SELECT item FROM stream ORDER BY stream`)
	return list, translate("list streams", err)
}

// Page reads one.
func (s *Store) Page(ctx context.Context, name handoff.Stream, v handoff.Version) (handoff.Page, error) {
	p, err := one[handoff.Page](ctx, s.read, selectPage, string(name), uint64(v))
	return p, translate(fmt.Sprintf("page %s %d", name, v), err)
}

const selectPage = `SELECT item FROM page WHERE stream = ? AND version = ?`

// Directory reads one.
func (s *Store) Directory(ctx context.Context, name handoff.Stream, v handoff.Version) (handoff.Directory, error) {
	d, err := one[handoff.Directory](ctx, s.read, `SELECT item FROM directory WHERE stream = ? AND version = ?`, string(name), uint64(v))
	return d, translate(fmt.Sprintf("directory %s %d", name, v), err)
}

// ListPages lists pages above a version.
func (s *Store) ListPages(ctx context.Context, name handoff.Stream, after handoff.Version, limit int) ([]handoff.Page, error) {
	list, err := many[handoff.Page](ctx, s.read, `SELECT item FROM page WHERE stream = ? AND version > ? ORDER BY version LIMIT ?`, string(name), uint64(after), limit)
	return list, translate("list pages "+string(name), err)
}

// updatePage changes an existing page inside a transaction.
func updatePage(ctx context.Context, q *sql.Tx, name handoff.Stream, v handoff.Version, edit func(*handoff.Page) error) (handoff.Page, error) {
	p, err := one[handoff.Page](ctx, q, selectPage, string(name), uint64(v))
	if err != nil {
		return p, err
	}
	if err := edit(&p); err != nil {
		return p, err
	}
	item, err := encode(p)
	if err != nil {
		return p, err
	}
	_, err = q.ExecContext(ctx, `UPDATE page SET format = ?, item = ? WHERE stream = ? AND version = ?`, format, item, string(name), uint64(v))
	return p, err
}

// MarkChunk adds a settled chunk. A number that no page has is *handoff.InvalidError: a message may say anything.
func (s *Store) MarkChunk(ctx context.Context, name handoff.Stream, v handoff.Version, k int) (p handoff.Page, err error) {
	if k < 0 || k >= handoff.MaxChunks {
		return p, &handoff.InvalidError{Reason: fmt.Sprintf("chunk %d: pages have chunks 0 to %d", k, handoff.MaxChunks-1)}
	}
	err = s.inTx(ctx, fmt.Sprintf("mark chunk %s %d.%d", name, v, k), func(q *sql.Tx) error {
		p, err = updatePage(ctx, q, name, v, func(p *handoff.Page) error {
			p.ChunksDone = p.ChunksDone.With(k)
			return nil
		})
		return err
	})
	return p, err
}

// MarkDriven moves the drive lease.
func (s *Store) MarkDriven(ctx context.Context, name handoff.Stream, v handoff.Version, seen, drives int, at time.Time) error {
	return s.inTx(ctx, fmt.Sprintf("mark driven %s %d", name, v), func(q *sql.Tx) error {
		_, err := updatePage(ctx, q, name, v, func(p *handoff.Page) error {
			if p.Drives != seen {
				return refused("drives")
			}
			p.Drives, p.DrivenAt = drives, at
			return nil
		})
		return err
	})
}

// AddStart records a start.
func (s *Store) AddStart(ctx context.Context, name handoff.Stream, v handoff.Version, chunk int, st handoff.Start) (all []handoff.Start, err error) {
	err = s.inTx(ctx, fmt.Sprintf("add start %s %d.%d", name, v, chunk), func(q *sql.Tx) error {
		if _, err := q.ExecContext(ctx, `INSERT INTO start VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			string(name), uint64(v), chunk, st.Token, st.At.UnixNano()); err != nil {
			return err
		}
		all, err = starts(ctx, q, name, v, chunk)
		return err
	})
	return all, err
}

func starts(ctx context.Context, q querier, name handoff.Stream, v handoff.Version, chunk int) (all []handoff.Start, err error) {
	rows, err := q.QueryContext(ctx, `SELECT token, at FROM start WHERE stream = ? AND version = ? AND chunk = ? ORDER BY at, token`, string(name), uint64(v), chunk)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var token string
		var at int64
		if err := rows.Scan(&token, &at); err != nil {
			return nil, err
		}
		all = append(all, handoff.Start{Token: token, At: time.Unix(0, at).UTC()})
	}
	return all, rows.Err()
}

// RemoveStart takes a start back.
func (s *Store) RemoveStart(ctx context.Context, name handoff.Stream, v handoff.Version, chunk int, token string) error {
	return s.inTx(ctx, fmt.Sprintf("remove start %s %d.%d", name, v, chunk), func(q *sql.Tx) error {
		_, err := q.ExecContext(ctx, `DELETE FROM start WHERE stream = ? AND version = ? AND chunk = ? AND token = ?`, string(name), uint64(v), chunk, token)
		return err
	})
}

// Spool lists cached answers.
func (s *Store) Spool(ctx context.Context, name handoff.Stream, v handoff.Version) ([]handoff.SpoolEntry, error) {
	list, err := many[handoff.SpoolEntry](ctx, s.read, `SELECT item FROM spool WHERE stream = ? AND version = ? ORDER BY walk, n`, string(name), uint64(v))
	return list, translate("spool "+string(name), err)
}

// PutSpool caches an answer.
func (s *Store) PutSpool(ctx context.Context, e handoff.SpoolEntry) error {
	return s.inTx(ctx, "put spool "+string(e.Stream), func(q *sql.Tx) error {
		return insert(ctx, q, "spool", `INSERT INTO spool VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, e, string(e.Stream), uint64(e.Version), e.Walk, e.N)
	})
}

// DropSpool forgets a version's cached answers.
func (s *Store) DropSpool(ctx context.Context, name handoff.Stream, v handoff.Version) error {
	return s.inTx(ctx, "drop spool "+string(name), func(q *sql.Tx) error {
		_, err := q.ExecContext(ctx, `DELETE FROM spool WHERE stream = ? AND version = ?`, string(name), uint64(v))
		return err
	})
}
