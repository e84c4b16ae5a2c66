package handoff

import (
	"context"
	"errors"
	"fmt"
)

// writeTries bounds how often one logical write is tried before its answer stays unknown. The next poll heals what is left.
const writeTries = 4

// casTries bounds how often a transition is tried again on a checkpoint that others keep changing.
const casTries = 8

// commit writes tx and resolves an unknown answer: read back by token, then the same conditional write again. A refusal is read
// back too, because an adapter's own retry may have been refused by its first, successful try.
func (e *Engine) commit(ctx context.Context, tx Tx) error {
	var err error
	for range writeTries {
		if err = e.State.Commit(ctx, tx); err == nil {
			return nil
		}
		if !errors.Is(err, ErrRefused) {
			e.observe(ctx, Observation{Step: "unknown", Stream: tx.Stream})
		}
		landed, readErr := e.landed(ctx, tx)
		if landed {
			return nil
		}
		if readErr != nil {
			// A refusal may be the echo of our own success: not read back, it is no refusal, so it is told as text only.
			return fmt.Errorf("read back: %w: %w (the write was answered: %s)", ErrUnknown, readErr, err.Error())
		}
		if errors.Is(err, ErrRefused) {
			e.observe(ctx, Observation{Step: "conflict", Stream: tx.Stream})
			return err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if !errors.Is(err, ErrUnknown) {
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return err
}

// landed looks for the token of tx on the item that keeps it longest: a page or a decision for ever, a receipt or a checkpoint
// until the next write of it.
func (e *Engine) landed(ctx context.Context, tx Tx) (bool, error) {
	var token string
	var err error
	switch {
	case tx.PagePut != nil:
		var p Page
		p, err = e.State.Page(ctx, tx.Stream, tx.PagePut.Version)
		token = p.Token
	case tx.Decision != nil:
		var d DecisionRecord
		d, err = e.State.Decision(ctx, tx.Stream, tx.Decision.ID)
		token = d.Token
	case tx.Checkpoint != nil && tx.Checkpoint.Put != nil:
		var c Checkpoint
		c, err = e.State.Checkpoint(ctx, tx.Stream)
		token = c.Token
	}
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && token == tx.Token, err
}

// transition is a step of the checkpoint: what it would become, and whether the step is still wanted. Pure.
type transition func(Checkpoint) (next Checkpoint, want bool)

// change carries a transition out as a compare-and-swap on rev, together with the other parts of tx. Refused, it reads again and
// asks the transition again, so a write that lost a race is judged on what stands now. done is false if the transition no
// longer wanted it; the checkpoint returned is then the one it judged.
func (e *Engine) change(ctx context.Context, cp Checkpoint, tx Tx, step transition) (after Checkpoint, done bool, err error) {
	for range casTries {
		next, want := step(cp)
		if !want {
			return cp, false, nil
		}
		tx.Token, tx.Stream = e.IDs.New(), cp.Stream
		next.Rev, next.Token, next.UpdatedAt = cp.Rev+1, tx.Token, e.now()
		tx.Checkpoint = &CheckpointWrite{If: Guard{Rev: cp.Rev}, Put: &next}
		if tx.PagePut != nil {
			page := *tx.PagePut
			page.Token = tx.Token
			tx.PagePut = &page
		}
		err = e.commit(ctx, tx)
		if err == nil {
			return next, true, nil
		}
		if !errors.Is(err, ErrRefused) {
			return cp, false, err
		}
		if cp, err = e.State.Checkpoint(ctx, cp.Stream); err != nil {
			return cp, false, err
		}
	}
	return cp, false, fmt.Errorf("checkpoint of %s is contended: %w", cp.Stream, ErrUnknown)
}
