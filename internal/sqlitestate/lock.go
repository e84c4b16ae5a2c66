//go:build unix

package sqlitestate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// LockedError says who has the store.
type LockedError struct {
	Path string // of the lock file
	PID  string // as its owner wrote it; may be stale text, never a stale lock
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("another turnleaf (process %s) has this store open: %s", e.PID, e.Path)
}

// acquire takes the lock that the kernel gives up when the process ends, however it ends.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = errors.Join(f.Truncate(0), writePID(f))
		if err == nil {
			return f, nil
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid, _ := io.ReadAll(io.LimitReader(f, 32)) // only for the message
		err = &LockedError{path, strings.TrimSpace(string(pid))}
	} else {
		err = fmt.Errorf("lock %s: %w", path, err)
	}
	return nil, errors.Join(err, f.Close())
}

// release gives the lock up at once. Closing alone would not: a child that is being started holds a copy of the handle until it runs
// its own program.
func release(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

func writePID(f *os.File) error {
	_, err := fmt.Fprintf(f, "%d\n", os.Getpid())
	return err
}
