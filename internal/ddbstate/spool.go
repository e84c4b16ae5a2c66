package ddbstate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func (s *Store) spooled(ctx context.Context, name handoff.Stream, v handoff.Version) ([]item, error) {
	return s.query(ctx, selection{
		table: s.tables.Streams, where: under, values: values{":pk": text(streamPK(name)), ":prefix": text(spoolPrefix(v))},
	}, 0)
}

// Spool lists cached answers.
func (s *Store) Spool(ctx context.Context, name handoff.Stream, v handoff.Version) ([]handoff.SpoolEntry, error) {
	its, err := s.spooled(ctx, name, v)
	var list []handoff.SpoolEntry
	if err == nil {
		list, err = decodeAll(its, decode[handoff.SpoolEntry])
	}
	return list, translateRead("spool "+string(name), err)
}

// PutSpool caches an answer.
func (s *Store) PutSpool(ctx context.Context, e handoff.SpoolEntry) error {
	it, err := encode(spoolKey(e), e)
	if err == nil {
		err = s.put(ctx, write{table: s.tables.Streams, key: spoolKey(e), item: it, when: condition{text: absent}})
	}
	return translateWrite("put spool "+string(e.Stream), err)
}

// DropSpool forgets a version's cached answers. Dying in the middle leaves some, which the next drop finds.
func (s *Store) DropSpool(ctx context.Context, name handoff.Stream, v handoff.Version) error {
	its, err := s.spooled(ctx, name, v)
	for chunk := range slices.Chunk(its, maxBatchWrite) {
		if err == nil {
			err = s.drop(ctx, chunk)
		}
	}
	return translateWrite(fmt.Sprintf("drop spool %s %d", name, v), err)
}

// errUnprocessed: DynamoDB kept handing back a part of a batch.
var errUnprocessed = errors.New("a part of the batch stayed unprocessed")

// drop deletes up to 25 items, and asks again for those that the answer hands back.
func (s *Store) drop(ctx context.Context, its []item) error {
	left := map[string][]types.WriteRequest{}
	for _, it := range its {
		left[s.tables.Streams] = append(left[s.tables.Streams], types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: keyOf(it).attributes()}})
	}
	for try := range tries {
		out, err := s.api.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
		if err != nil {
			return err
		}
		if left = out.UnprocessedItems; len(left) == 0 {
			return nil
		}
		if err := s.pause(ctx, try); err != nil {
			return err
		}
	}
	return errUnprocessed
}
