package sqlitestate_test

import (
	"path/filepath"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
)

// openFile opens a store and closes it with the test.
func openFile(t testing.TB, path string, o sqlitestate.Options) *sqlitestate.Store {
	t.Helper()
	s, err := sqlitestate.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStateInMemory(t *testing.T) {
	t.Parallel()
	handofftest.ExerciseState(t, func(t *testing.T) handoff.State { return memory(t).State })
}

func TestStateInAFile(t *testing.T) {
	t.Parallel()
	handofftest.ExerciseState(t, func(t *testing.T) handoff.State {
		return openFile(t, filepath.Join(t.TempDir(), "state.db"), sqlitestate.Options{})
	})
}

// One file under every subtest: names must not meet.
func TestStateInASharedFile(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "state.db"), sqlitestate.Options{})
	t.Run("suite", func(t *testing.T) {
		handofftest.ExerciseState(t, func(*testing.T) handoff.State { return s })
	})
}
