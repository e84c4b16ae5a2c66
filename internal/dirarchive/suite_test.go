package dirarchive_test

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
)

func open(t *testing.T, path string) *dirarchive.Archive {
	t.Helper()
	a, err := dirarchive.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestArchive(t *testing.T) {
	t.Parallel()
	handofftest.ExerciseArchive(t, func(t *testing.T) handoff.Archive { return open(t, t.TempDir()) })
}

func TestArchiveInASharedFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	handofftest.ExerciseArchive(t, func(t *testing.T) handoff.Archive { return open(t, dir) })
}
