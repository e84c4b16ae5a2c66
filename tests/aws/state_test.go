package aws

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
	"github.com/turnleaf/turnleaf/internal/handofftest/walkthrough"
	"github.com/turnleaf/turnleaf/internal/s3archive"
)

func TestState(t *testing.T) {
	t.Parallel()
	store := ddbstate.New(cloud.DynamoDB(), cloud.Tables(t), ddbstate.Options{})
	handofftest.ExerciseState(t, func(*testing.T) handoff.State { return store })
}

func TestWalkthroughs(t *testing.T) {
	t.Parallel()
	store := ddbstate.New(cloud.DynamoDB(), cloud.Tables(t), ddbstate.Options{})
	client, bucket := cloud.S3(), cloud.Bucket(t)
	walkthrough.Run(t, func(t *testing.T) walkthrough.Backend {
		t.Helper()
		return walkthrough.Backend{State: store, Archive: s3archive.New(client, bucket, t.Name()+"/")}
	})
}
