package ddbstate

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Receipts reads those that exist, at half the price if a miss need not prove anything.
func (s *Store) Receipts(ctx context.Context, name handoff.Stream, keys []handoff.ReceiptKey, proof bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	places, asked := make([]key, 0, len(keys)), make(map[key]bool, len(keys))
	for _, k := range keys {
		place := receiptKey(name, k)
		if !asked[place] { // a batch that names a key twice is refused
			asked[place], places = true, append(places, place)
		}
	}
	found := make(map[handoff.ReceiptKey]handoff.Receipt, len(places))
	its, err := s.batchRead(ctx, s.tables.Receipts, places, !proof)
	for _, it := range its {
		var r handoff.Receipt
		if r, err = decode[handoff.Receipt](it); err != nil {
			break
		}
		found[r.ReceiptKey] = r
	}
	if err != nil {
		return nil, translateRead("receipts "+string(name), err)
	}
	return found, nil
}

// batchRead reads those items that exist among distinct keys. Keys that stay unprocessed are an error: they are never taken for missing.
func (s *Store) batchRead(ctx context.Context, table string, keys []key, consistent bool) (its []item, err error) {
	for batch := range slices.Chunk(keys, maxBatchGet) {
		for _, k := range batch {
			if err := k.check(); err != nil {
				return nil, err
			}
		}
		got, err := s.readBatch(ctx, map[string]types.KeysAndAttributes{table: {Keys: keysOf(batch), ConsistentRead: aws.Bool(consistent)}})
		if err != nil {
			return nil, err
		}
		its = append(its, got...)
	}
	return its, nil
}

func (s *Store) readBatch(ctx context.Context, left map[string]types.KeysAndAttributes) (its []item, err error) {
	for try := range tries {
		out, err := s.api.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: left})
		if err != nil {
			return nil, err
		}
		for _, some := range out.Responses {
			its = append(its, some...)
		}
		if left = out.UnprocessedKeys; len(left) == 0 {
			return its, nil
		}
		if err := s.pause(ctx, try); err != nil {
			return nil, err
		}
	}
	return nil, errUnprocessed
}

// receiptWrite is the compare-and-swap of one receipt; a refusal brings what stands.
func (s *Store) receiptWrite(name handoff.Stream, w handoff.ReceiptWrite) (write, error) {
	it, err := receiptItem(name, w.Put)
	return write{table: s.tables.Receipts, key: receiptKey(name, w.Put.ReceiptKey), when: guarded(w.If), item: it, wantOld: true}, err
}
