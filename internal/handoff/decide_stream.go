package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// decideStream decides about a whole stream: a compare-and-swap on its checkpoint.
func (e *Engine) decideStream(ctx context.Context, d Decision) (DecisionAnswer, error) {
	switch d.Kind {
	case DecideStart:
		return e.decideStart(ctx, d)
	case DecideRetire:
		return e.decideRetire(ctx, d)
	}
	for range casTries {
		cp, err := e.State.Checkpoint(ctx, d.Stream)
		if err != nil {
			return DecisionAnswer{}, err
		}
		if d.Rev != 0 && d.Rev != cp.Rev {
			return DecisionAnswer{}, &ConflictError{Reason: "the stream changed since it was seen: it is " + standing(cp), Checkpoint: &cp}
		}
		tx := Tx{Token: e.IDs.New(), Stream: d.Stream}
		next, err := e.decidedStream(ctx, cp, d, &tx)
		if err != nil {
			return DecisionAnswer{}, err
		}
		next.Rev, next.Token, next.UpdatedAt = cp.Rev+1, tx.Token, e.now()
		tx.Checkpoint = &CheckpointWrite{If: Guard{Rev: cp.Rev}, Put: &next}
		answer := DecisionAnswer{Decision: d.ID, Status: next.Status(), Version: next.Version, Rev: next.Rev}
		var undo Cursor
		if d.Kind == DecideReset {
			undo = cp.ResumeCursor
		}
		err = e.commit(ctx, e.record(tx, d, answer, standing(cp), standing(next), undo))
		if err == nil || !errors.Is(err, ErrRefused) {
			return answer, err
		}
		if d.Rev != 0 {
			return e.lostRace(ctx, d, err)
		}
		if answer, again, err := e.repeated(ctx, d); again || err != nil {
			return answer, err
		}
	}
	return DecisionAnswer{}, fmt.Errorf("checkpoint of %s is contended: %w", d.Stream, ErrUnknown)
}

// standing says in words where a stream stands, without its token.
func standing(cp Checkpoint) string {
	s := fmt.Sprintf("%s at version %d, cursor %.8s", cp.Status(), cp.Version, cp.ResumeCursor.Hash())
	if cp.Halt != nil {
		s += ", halt " + string(cp.Halt.Reason)
	}
	if cp.Closing != 0 {
		s += fmt.Sprintf(", closing %d", cp.Closing)
	}
	return s
}

// decidedStream is the checkpoint after an operator's word, if the word is possible on it.
func (e *Engine) decidedStream(ctx context.Context, cp Checkpoint, d Decision, tx *Tx) (Checkpoint, error) {
	conflict := func(reason string) error { return &ConflictError{Reason: reason, Checkpoint: &cp} }
	switch d.Kind {
	case DecidePause:
		if !cp.Paused {
			cp.Paused, cp.PausedAt = true, e.now()
		}
	case DecidePollNow:
		cp.NextPollAt = time.Time{}
	case DecideResume:
		switch {
		case cp.Paused:
			cp.Paused, cp.PausedAt = false, time.Time{}
			return cp, e.unretire(ctx, cp.Stream, tx)
		case cp.Halt != nil:
			cp = calm(cp)
			cp.Halt, cp.Accepts, cp.Stalls, cp.StalledSince, cp.Anchor = nil, nil, 0, time.Time{}, Anchor{}
			cp.TokenRefusals, cp.NextPollAt = 0, time.Time{}
		default:
			return cp, conflict("the stream is active")
		}
	case DecideAccept:
		if cp.Halt == nil || cp.Halt.Reason != d.Check || cp.Halt.Answer.Digest != d.Answer || d.Answer == "" {
			return cp, conflict("the stream is not halted by this check over this answer")
		}
		if !cp.Halt.Reason.Acceptable() {
			return cp, &InvalidError{fmt.Sprintf("a halt by %s cannot be accepted: %s", cp.Halt.Reason, cp.Halt.Reason.Remedy())}
		}
		cp.Accepts = append(acceptsOf(cp, d.Answer), Accept{cp.Version, d.Check, cp.Halt.Answer})
		cp.Halt, cp.NextPollAt = nil, time.Time{}
	case DecideReset:
		if cp.Closing != 0 {
			return cp, conflict("an earlier reset is still closing its page; try again in a moment")
		}
		cp = reset(cp, d.Cursor, e.now())
	case DecideLost:
		return e.declareLost(ctx, cp, d, tx)
	}
	return cp, nil
}

// acceptsOf keeps earlier accepts of the same answer only.
func acceptsOf(cp Checkpoint, digest string) []Accept {
	var kept []Accept
	for _, a := range cp.Accepts {
		if a.Answer.Digest == digest && a.Version == cp.Version {
			kept = append(kept, a)
		}
	}
	return kept
}

// reset passes the page of this version, whether or not one is seen open: it may open between the read and this write, and cannot
// after it. Borders are forgotten; the pause is kept.
func reset(cp Checkpoint, to Cursor, now time.Time) Checkpoint {
	cp = calm(cp)
	cp.Closing = cp.Version
	cp.Version++
	cp.ResumeCursor, cp.CursorSince, cp.CursorSinceAt = to, cp.Version, now
	cp.Halt, cp.Accepts, cp.Border, cp.Anchor = nil, nil, Border{}, Anchor{}
	cp.Stalls, cp.StalledSince, cp.TokenRefusals, cp.NextPollAt = 0, time.Time{}, 0, time.Time{}
	cp.PrefixFloor, cp.FloorOpen, cp.Bootstrap = cp.AppliedPosition, true, true
	cp.Epoch++
	return cp
}

// declareLost gives up a page whose objects are gone for good: an open page is promoted, a closing one abandoned. Its receipts stay
// as they are. While the archive still has what is needed, the word is refused.
func (e *Engine) declareLost(ctx context.Context, cp Checkpoint, d Decision, tx *Tx) (Checkpoint, error) {
	dir, err := e.State.Directory(ctx, cp.Stream, d.Version)
	if err != nil {
		return cp, err
	}
	if _, err := e.pageEvents(ctx, dir); err == nil || !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrDigest) {
		return cp, errors.Join(&ConflictError{Reason: "the archive still has this page's events", Checkpoint: &cp}, err)
	}
	tx.PageMark = &PageMark{Version: d.Version, Lost: true, ExpiresAt: e.expiry()}
	switch d.Version {
	case cp.Closing:
		cp.Closing, tx.PageMark.Abandoned = 0, true
	case cp.Version:
		applied := cp.AppliedPosition // events without a receipt are not applied
		cp = promoted(cp, dir, e.now())
		cp.AppliedPosition = applied
	default:
		return cp, &ConflictError{Reason: "only the open or the closing page can be lost", Checkpoint: &cp}
	}
	return cp, nil
}

func (e *Engine) decideStart(ctx context.Context, d Decision) (DecisionAnswer, error) {
	tx, cp := e.startTx(d.Stream, d.Definition, d.Cursor)
	answer := DecisionAnswer{Decision: d.ID, Status: cp.Status(), Version: cp.Version, Rev: cp.Rev}
	err := e.commit(ctx, e.record(tx, d, answer, "not started", standing(cp), ""))
	if errors.Is(err, ErrRefused) {
		if now, readErr := e.State.Checkpoint(ctx, d.Stream); readErr == nil {
			return DecisionAnswer{}, &ConflictError{Reason: "the stream was started already: it is " + standing(now) + "; `reset` moves it", Checkpoint: &now}
		}
	}
	return answer, err
}

// decideRetire takes a stream off the list on purpose: its state stays, it is paused, and no tick starts it again. `resume` brings it
// back.
func (e *Engine) decideRetire(ctx context.Context, d Decision) (DecisionAnswer, error) {
	cp, err := e.State.Checkpoint(ctx, d.Stream)
	if err != nil {
		return DecisionAnswer{}, err
	}
	entry, err := e.entry(ctx, d.Stream)
	if err != nil {
		return DecisionAnswer{}, err
	}
	next := cp
	if !next.Paused {
		next.Paused, next.PausedAt = true, e.now()
	}
	entry.RetiredAt, entry.OrphanedAt = e.now(), time.Time{}
	tx := Tx{Token: e.IDs.New(), Stream: d.Stream, Entry: &entry}
	next.Rev, next.Token, next.UpdatedAt = cp.Rev+1, tx.Token, e.now()
	tx.Checkpoint = &CheckpointWrite{If: Guard{Rev: cp.Rev}, Put: &next}
	answer := DecisionAnswer{Decision: d.ID, Status: next.Status(), Version: next.Version, Rev: next.Rev}
	err = e.commit(ctx, e.record(tx, d, answer, standing(cp), "retired", ""))
	if errors.Is(err, ErrRefused) {
		return e.lostRace(ctx, d, err)
	}
	return answer, err
}

// unretire puts a retired stream back on the list, in the transaction of its resume.
func (e *Engine) unretire(ctx context.Context, s Stream, tx *Tx) error {
	entry, err := e.entry(ctx, s)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || entry.RetiredAt.IsZero() {
		return err
	}
	entry.RetiredAt = time.Time{}
	tx.Entry = &entry
	return nil
}
