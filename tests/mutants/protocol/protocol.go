// Package protocol is the fast suite of the protocol's own guards: every story and every promise of a store, in memory.
package protocol

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
	"github.com/turnleaf/turnleaf/internal/handofftest/walkthrough"
)

// Walkthroughs plays every story.
func Walkthroughs(t *testing.T) {
	walkthrough.Run(t, func(*testing.T) walkthrough.Backend {
		return walkthrough.Backend{State: memstate.New(), Archive: memstate.NewArchive()}
	})
}

// State checks every promise of a store, and with them what a projection write means.
func State(t *testing.T) {
	handofftest.ExerciseState(t, func(*testing.T) handoff.State { return memstate.New() })
}
