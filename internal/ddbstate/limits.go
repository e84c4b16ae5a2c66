package ddbstate

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// What DynamoDB takes. Checked before the write: emulators let some of it pass, and a refusal by the service looks like any other
// fault of a request.
const (
	maxPK          = 2048
	maxSK          = 1024
	maxItem        = 400 << 10
	maxTransaction = 100
	maxTxBytes     = 4 << 20
	maxBatchGet    = 100
	maxBatchWrite  = 25
)

// fits checks writes that go into one request: handoff.ErrTooLarge for sizes, *handoff.InvalidError for keys.
func fits(ws []write) error {
	if len(ws) > maxTransaction {
		return fmt.Errorf("%d items, %d are taken: %w", len(ws), maxTransaction, handoff.ErrTooLarge)
	}
	total := 0
	for _, w := range ws {
		if err := w.key.check(); err != nil {
			return err
		}
		n := sizeOf(w.item)
		if n > maxItem {
			return fmt.Errorf("an item of %d bytes, %d are taken: %w", n, maxItem, handoff.ErrTooLarge)
		}
		total += n
	}
	if total > maxTxBytes {
		return fmt.Errorf("%d bytes, %d are taken: %w", total, maxTxBytes, handoff.ErrTooLarge)
	}
	return nil
}

// check cannot fail for keys made by keys.go from names that are not empty; it stands for those that are, and for mistakes here.
func (k key) check() error {
	switch {
	case k.pk == "" || k.sk == "":
		return &handoff.InvalidError{Reason: "a key part is empty"}
	case len(k.pk) > maxPK || len(k.sk) > maxSK:
		return &handoff.InvalidError{Reason: fmt.Sprintf("a key of %d and %d bytes: %d and %d are taken", len(k.pk), len(k.sk), maxPK, maxSK)}
	}
	return nil
}

// sizeOf is the size of an item as DynamoDB counts it.
func sizeOf(it item) int {
	n := 0
	for name, v := range it {
		n += len(name) + sizeOfValue(v)
	}
	return n
}

func sizeOfValue(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return sizeOfNumber(v.Value)
	case *types.AttributeValueMemberNS:
		n := 0
		for _, s := range v.Value {
			n += sizeOfNumber(s)
		}
		return n
	default: // BOOL; nothing else is stored
		return 1
	}
}

// sizeOfNumber: a byte for every two digits and one more; rounded up where the documents are vague.
func sizeOfNumber(s string) int { return (len(s)+1)/2 + 1 }
