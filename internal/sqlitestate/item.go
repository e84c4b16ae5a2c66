package sqlitestate

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
)

// format is the number that items are written with; every format ever written still reads.
const format = 1

// encode gives an item's JSON. Numbers and raw values stay digit for digit.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("encode item: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func decode[T any](s string) (v T, err error) {
	if err = json.Unmarshal([]byte(s), &v); err != nil {
		return v, fmt.Errorf("decode item: %w", err)
	}
	return v, nil
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// one reads one item.
func one[T any](ctx context.Context, q querier, query string, args ...any) (v T, err error) {
	var item string
	if err = q.QueryRowContext(ctx, query, args...).Scan(&item); err != nil {
		return v, err
	}
	return decode[T](item)
}

// many reads a list of items.
func many[T any](ctx context.Context, q querier, query string, args ...any) (list []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err below tells
	for rows.Next() {
		var item string
		if err := rows.Scan(&item); err != nil {
			return nil, err
		}
		v, err := decode[T](item)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// inTx runs one immediate transaction: what it reads cannot change before it commits.
func (s *Store) inTx(ctx context.Context, op string, do func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return translate(op, err)
	}
	// A no-op once committed; the error that matters is do's. Deferred, because a panic in do would otherwise keep the one writer.
	defer func() { _ = tx.Rollback() }()
	if err := do(tx); err != nil {
		return translate(op, err)
	}
	return translate(op, tx.Commit())
}

// exec runs a write whose condition is in its WHERE; none affected is a refusal.
func exec(ctx context.Context, tx *sql.Tx, what, query string, args ...any) error {
	res, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = refused(what)
	}
	return err
}

// mark joins the parts of a place in a listing, so that no two places meet.
func mark(parts ...any) string {
	b, _ := json.Marshal(parts) // strings and integers always encode
	return string(b)
}
