package aws

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
	"github.com/turnleaf/turnleaf/internal/handofftest/walkthrough"
	"github.com/turnleaf/turnleaf/internal/s3archive"
	"github.com/turnleaf/turnleaf/tests/template/roles"
)

func TestState(t *testing.T) {
	t.Parallel()
	store := ddbstate.New(cloud.DynamoDB(), cloud.Tables(t), ddbstate.Options{})
	handofftest.ExerciseState(t, func(*testing.T) handoff.State { return store })
}

// The stories, and what each function did in them against what its role allows.
func TestWalkthroughs(t *testing.T) {
	t.Parallel()
	tables, bucket := cloud.Tables(t), cloud.Bucket(t)
	rec := roles.NewRecorder(map[string]string{
		tables.Streams: "StreamsTable", tables.Receipts: "ReceiptsTable", tables.Projections: "ProjectionsTable", bucket: "Archive",
	})
	store, client := ddbstate.New(cloud.DynamoDB(rec.DynamoDB), tables, ddbstate.Options{}), cloud.S3(rec.S3)
	t.Run("stories", func(t *testing.T) {
		walkthrough.Run(t, func(t *testing.T) walkthrough.Backend {
			t.Helper()
			return walkthrough.Backend{State: rec.State(store), Archive: s3archive.New(client, bucket, t.Name()+"/")}
		})
	})
	t.Run("roles", func(t *testing.T) {
		readAll(t, store, func(prefix string) handoff.Archive { return s3archive.New(client, bucket, prefix) })
		untold(t, rec.State(store), s3archive.New(client, bucket, "untold/"))
		compare(t, rec)
	})
}
