package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
)

// Tables makes three tables of the test's own, and deletes them after it.
func (s *Stack) Tables(t *testing.T) ddbstate.Tables {
	t.Helper()
	set := s.Prefix + "-" + strings.ToLower(rand.Text()[:8])
	names := ddbstate.Tables{Streams: set + "-streams", Receipts: set + "-receipts", Projections: set + "-projections"}
	client := s.DynamoDB()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		for _, table := range []string{names.Streams, names.Receipts, names.Projections} {
			_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table})
			var gone *types.ResourceNotFoundException // by a first try whose answer broke off
			if err != nil && !errors.As(err, &gone) {
				t.Errorf("delete table: %v", err)
			}
		}
	})
	if err := ddbstate.CreateTables(t.Context(), client, names); err != nil {
		t.Fatal(err)
	}
	return names
}
