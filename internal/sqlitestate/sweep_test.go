//go:build !race

package sqlitestate_test

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
	"github.com/turnleaf/turnleaf/internal/handofftest/walkthrough"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
)

// The sweep plays its story some 1,400 times, one operation after another: half a minute, and many times that under the race detector,
// which would find nothing in it that the walkthroughs and the races of the suite do not show.
func TestSweep(t *testing.T) {
	t.Parallel()
	if missing := walkthrough.Missing(walkthrough.Sweep(t, allMemory)); len(missing) > 0 {
		t.Errorf("never struck: %v", missing)
	}
}

// allMemory has no disk in it at all.
func allMemory(t *testing.T) walkthrough.Backend {
	t.Helper()
	s, err := sqlitestate.OpenMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return walkthrough.Backend{State: s, Archive: memstate.NewArchive()}
}
