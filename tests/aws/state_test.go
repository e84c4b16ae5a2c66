package aws

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
	"github.com/turnleaf/turnleaf/internal/handofftest/walkthrough"
)

func TestState(t *testing.T) {
	t.Parallel()
	store := ddbstate.New(cloud.DynamoDB(), cloud.Tables(t), ddbstate.Options{})
	handofftest.ExerciseState(t, func(*testing.T) handoff.State { return store })
}

func TestWalkthroughs(t *testing.T) {
	t.Parallel()
	store := ddbstate.New(cloud.DynamoDB(), cloud.Tables(t), ddbstate.Options{})
	walkthrough.Run(t, func(t *testing.T) walkthrough.Backend {
		t.Helper()
		a, err := dirarchive.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
		return walkthrough.Backend{State: store, Archive: a}
	})
}
