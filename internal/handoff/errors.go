package handoff

import (
	"errors"
	"fmt"
)

// Every write has one of three answers. A nil error is done. The other two are these sentinels; adapters wrap them with %w
// around the cause, and translate their own errors in one place.
var (
	// ErrRefused: a condition of the write did not hold, so nothing of it was written by this call. After an unknown
	// answer, a refusal of the same write may be the echo of our own earlier success: compare tokens first.
	ErrRefused = errors.New("refused")
	// ErrUnknown: the write may or may not have happened (time-out, throttle, conflict of transactions, lost answer).
	// Read back; a token found proves it happened, absence proves nothing, so the same conditional write is tried again.
	ErrUnknown = errors.New("outcome unknown")
	// ErrNotFound: the item or object does not exist, by a strongly consistent read.
	ErrNotFound = errors.New("not found")
	// ErrTooLarge: one event's receipt and effect alone exceed what the store takes in a transaction. Nothing was written,
	// and no retry will help.
	ErrTooLarge = errors.New("too large for one transaction")
	// ErrDigest: archived bytes are not the bytes that were recorded.
	ErrDigest = errors.New("archived bytes do not match their digest")
	// ErrConfig: the definition cannot work as deployed (a missing secret, an address that is not allowed).
	ErrConfig = errors.New("configuration")
)

// EffectError says that a projection write can never succeed as defined, for instance an add to a field that is text.
// Nothing was written.
type EffectError struct {
	Entity string
	Reason string
}

func (e *EffectError) Error() string { return fmt.Sprintf("projection of %q: %s", e.Entity, e.Reason) }

// ConflictError is the refusal of an operator's decision: what it was based on is no longer so.
type ConflictError struct {
	Reason string
	// Receipt and Checkpoint are what stands now, where known: who decided what, and when.
	Receipt    *Receipt
	Checkpoint *Checkpoint
}

func (e *ConflictError) Error() string { return e.Reason }

// Is makes a ConflictError a refusal.
func (e *ConflictError) Is(target error) bool { return target == ErrRefused }

// InvalidError is a request that can never be carried out as it stands.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }
