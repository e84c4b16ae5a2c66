package ddbstate

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// This file says what the SDK's errors mean, and no other does.

// The codes of a cancelled transaction that we tell apart; every other code leaves the outcome to be read back.
const (
	codeNone            = "None"
	codeConditionFailed = "ConditionalCheckFailed"
	codeConflict        = "TransactionConflict"
)

// translateRead names what was read. Reads have no third answer: what is not found is handoff.ErrNotFound, the rest is an error.
func translateRead(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}

// translateWrite gives a write's answer. Refused is only a condition that failed, alone: of one write, or with nothing but failed
// conditions in a cancelled transaction. Throttles, conflicts of transactions, time-outs, faults of the service and a token that met
// another body are unknown; what our own checks found before the write stays what it is.
func translateWrite(op string, err error) error {
	var invalid *handoff.InvalidError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, handoff.ErrUnknown), errors.Is(err, handoff.ErrTooLarge), errors.Is(err, handoff.ErrNotFound),
		errors.Is(err, handoff.ErrRefused), errors.As(err, &invalid): // judged where more was known
		return fmt.Errorf("%s: %w", op, err)
	}
	if _, failed := conditionFailed(err); failed || onlyConditions(reasonsOf(err)) {
		return fmt.Errorf("%s: %w: %w", op, handoff.ErrRefused, err)
	}
	return fmt.Errorf("%s: %w: %w", op, handoff.ErrUnknown, err)
}

// conditionFailed reports that the condition of a single write did not hold, and what stood there (nil if nothing did, or if it was
// not asked for).
func conditionFailed(err error) (old item, failed bool) {
	var e *types.ConditionalCheckFailedException
	if !errors.As(err, &e) {
		return nil, false
	}
	return e.Item, true
}

// reasonsOf gives the reasons of a cancelled transaction, one per item and in their order; nil for any other error.
func reasonsOf(err error) []types.CancellationReason {
	var e *types.TransactionCanceledException
	if !errors.As(err, &e) {
		return nil
	}
	return e.CancellationReasons
}

// onlyConditions reports that conditions failed and nothing else went wrong.
func onlyConditions(reasons []types.CancellationReason) bool {
	some := false
	for _, r := range reasons {
		switch codeOf(r) {
		case codeNone:
		case codeConditionFailed:
			some = true
		default:
			return false
		}
	}
	return some
}

// worthAnother reports a transaction that was cancelled, so that nothing of it was written, by what passes: others were writing the
// same items.
func worthAnother(reasons []types.CancellationReason) bool {
	for _, r := range reasons {
		switch codeOf(r) {
		case codeNone, codeConditionFailed, codeConflict:
		default:
			return false
		}
	}
	return len(reasons) > 0
}

// codeOf is a reason's code; the service writes "None" for an item that is not to blame, some write nothing.
func codeOf(r types.CancellationReason) string {
	if r.Code == nil {
		return codeNone
	}
	return *r.Code
}
