package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
)

// ErrRunning: another process works on the data folder.
var ErrRunning = errors.New("another turnleaf works on this data folder")

// stores are the durable parts of a data folder, locked for this process.
type stores struct {
	state   *sqlitestate.Store
	archive handoff.Archive
}

// openStores takes the lock on the folder, or gives ErrRunning.
func openStores(ctx context.Context, f Folder) (*stores, error) {
	state, err := sqlitestate.Open(ctx, f.State(), sqlitestate.Options{})
	if locked := new(sqlitestate.LockedError); errors.As(err, &locked) {
		return nil, fmt.Errorf("open %s: %w (process %s)", f, ErrRunning, locked.PID)
	}
	if err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	archive, err := dirarchive.Open(f.Archive())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open archive %s: %w", f.Archive(), err), state.Close())
	}
	return &stores{state, archive}, nil
}

func (s *stores) close() error {
	if err := s.state.Close(); err != nil {
		return fmt.Errorf("close state: %w", err)
	}
	return nil
}
