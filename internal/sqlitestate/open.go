package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Options change how a store is opened; the zero value is right.
type Options struct {
	// Unlocked opens without the lock file: for tests that open one file twice.
	Unlocked bool
}

// Store is an open store. Its methods may be called concurrently.
type Store struct {
	write *sql.DB // one connection
	read  *sql.DB
	lock  *os.File
}

var _ handoff.State = (*Store)(nil)

// Open opens or creates the store at path, a file in a folder that exists. *LockedError if another process has it open.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	s := &Store{}
	if !o.Unlocked {
		lock, err := acquire(path + ".lock")
		if err != nil {
			return nil, err
		}
		s.lock = lock
	}
	abs, err := filepath.Abs(path)
	if err == nil {
		err = createPrivate(abs)
	}
	if err == nil {
		pragmas := "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)"
		file := (&url.URL{Scheme: "file", Path: abs}).String()
		err = s.connect(ctx, file+"?"+pragmas+"&_txlock=immediate", file+"?"+pragmas+"&_pragma=query_only(1)")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), s.Close())
	}
	return s, nil
}

// createPrivate makes a missing file for its owner alone: it holds payload. The log and its index inherit the mode. An existing file
// is not even opened, since closing it would drop the locks that this process has on it.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenMemory opens a store that lives as long as its handle: for tests.
func OpenMemory(ctx context.Context) (*Store, error) {
	s := &Store{}
	// Private to its one connection, so no two stores meet.
	if err := s.connect(ctx, "file::memory:?_txlock=immediate", ""); err != nil {
		return nil, errors.Join(fmt.Errorf("open memory: %w", err), s.Close())
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context, write, read string) (err error) {
	if s.write, err = sql.Open("sqlite", write); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	s.write.SetConnMaxIdleTime(0)
	if err = migrate(ctx, s.write); err != nil {
		return err
	}
	if s.read = s.write; read == "" {
		return nil
	}
	if s.read, err = sql.Open("sqlite", read); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(4)
	return nil
}

// Close writes the log back into the file and gives up the lock.
func (s *Store) Close() error {
	var errs []error
	if s.read != nil && s.read != s.write {
		errs = append(errs, s.read.Close())
	}
	if s.write != nil {
		errs = append(errs, s.write.Close())
	}
	if s.lock != nil {
		errs = append(errs, release(s.lock))
	}
	return errors.Join(errs...)
}
