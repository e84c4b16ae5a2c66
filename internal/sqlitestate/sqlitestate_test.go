package sqlitestate_test

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/handofftest/walkthrough"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
)

func memory(t *testing.T) walkthrough.Backend {
	t.Helper()
	s, err := sqlitestate.OpenMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := dirarchive.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return walkthrough.Backend{State: s, Archive: a}
}

func TestWalkthroughs(t *testing.T) {
	t.Parallel()
	walkthrough.Run(t, memory)
}
