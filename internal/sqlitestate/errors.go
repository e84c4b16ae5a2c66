package sqlitestate

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// refused is returned inside a transaction by a condition that did not hold; the transaction is rolled back, so nothing was written.
func refused(what string) error { return fmt.Errorf("%s: %w", what, handoff.ErrRefused) }

// translate is the one place where errors become the protocol's. A write that failed in any other way than by its condition is
// unknown: a commit may have reached the disk although its answer did not reach us.
func translate(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, handoff.ErrRefused), errors.Is(err, handoff.ErrNotFound):
		return fmt.Errorf("%s: %w", op, err)
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", op, handoff.ErrNotFound)
	}
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_TOOBIG {
		return fmt.Errorf("%s: %w: %w", op, handoff.ErrTooLarge, err)
	}
	return fmt.Errorf("%s: %w: %w", op, handoff.ErrUnknown, err)
}
