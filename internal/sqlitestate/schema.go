package sqlitestate

import (
	"context"
	"database/sql"
	"fmt"
)

// schemaVersion is written into the store; a newer store is refused, an older one is migrated step by step.
const schemaVersion = 1

// Keys, revs and what is listed or conditioned are columns; the rest of an item is its JSON, with the format number it was written in.
const schema = `
CREATE TABLE meta       (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE stream     (stream TEXT PRIMARY KEY, item TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE checkpoint (stream TEXT PRIMARY KEY, rev INTEGER NOT NULL, format INTEGER NOT NULL, item TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE page       (stream TEXT, version INTEGER, format INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (stream, version)) WITHOUT ROWID;
CREATE TABLE directory  (stream TEXT, version INTEGER, format INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (stream, version)) WITHOUT ROWID;
CREATE TABLE start      (stream TEXT, version INTEGER, chunk INTEGER, token TEXT, at INTEGER NOT NULL, PRIMARY KEY (stream, version, chunk, token)) WITHOUT ROWID;
CREATE TABLE spool      (stream TEXT, version INTEGER, walk INTEGER, n INTEGER, format INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (stream, version, walk, n)) WITHOUT ROWID;
CREATE TABLE receipt    (stream TEXT, event_id TEXT, conflict TEXT, rev INTEGER NOT NULL, held_at INTEGER, format INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (stream, event_id, conflict)) WITHOUT ROWID;
CREATE INDEX receipt_held ON receipt (stream, held_at, event_id, conflict) WHERE held_at IS NOT NULL;
CREATE TABLE doc        (stream TEXT, entity TEXT, format INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (stream, entity)) WITHOUT ROWID;
CREATE TABLE audit      (stream TEXT, at INTEGER, id TEXT, format INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (stream, at, id)) WITHOUT ROWID;
CREATE TABLE decision   (stream TEXT, id TEXT, format INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (stream, id)) WITHOUT ROWID;
`

// migrate brings an empty or older store to this schema, in one transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // a no-op once committed
	var have int
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'meta'`).Scan(&have)
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if have == 0 {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return fmt.Errorf("create tables: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO meta VALUES ('schema', ?)`, schemaVersion); err != nil {
			return fmt.Errorf("write schema version: %w", err)
		}
		return tx.Commit()
	}
	var version int
	if err := tx.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'schema'`).Scan(&version); err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if version > schemaVersion {
		return fmt.Errorf("the store has schema %d and this turnleaf knows %d: use a newer turnleaf", version, schemaVersion)
	}
	return nil
}
