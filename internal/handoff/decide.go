package handoff

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxReason bounds an operator's reason.
const maxReason = 1000

// Decide carries out one operator decision, once: its record is put in the same transaction, so that a repeated request is answered
// as the first was. Dying after the transaction costs the hint to drive; repeating the request sends it again, and so does the
// next poll's sweep.
//
// Errors: *InvalidError (never possible as asked), ErrNotFound, *ConflictError (what it was based on changed), ErrUnknown (repeat it
// with the same ID).
func (e *Engine) Decide(ctx context.Context, d Decision) (DecisionAnswer, error) {
	if err := d.check(); err != nil {
		return DecisionAnswer{}, err
	}
	answer, repeated, err := e.repeated(ctx, d)
	if err == nil && !repeated {
		if d.Kind.OnEvent() {
			answer, err = e.decideEvent(ctx, d)
		} else {
			answer, err = e.decideStream(ctx, d)
		}
	}
	if err != nil {
		return DecisionAnswer{}, fmt.Errorf("%s %s: %w", d.Kind, d.Stream, err)
	}
	e.observe(ctx, Observation{Step: "decide", Stream: d.Stream, Version: answer.Version, EventID: d.Event.EventID, Detail: string(d.Kind)})
	if !d.Quiet {
		e.DriveNow(ctx, d.Stream)
	}
	return answer, nil
}

// DriveNow sends the hint that follows a decision, or several: drive the open chunks at once. Decisions are durable; without the hint
// the next tick does what it asks.
func (e *Engine) DriveNow(ctx context.Context, s Stream) {
	if err := e.Queue.SendPoll(ctx, PollMessage{Stream: s, Drive: true}, 0); err != nil {
		e.observe(ctx, Observation{Step: "continue", Stream: s, Err: err})
	}
}

func (d Decision) check() error {
	bad := func(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }
	reason := strings.TrimSpace(d.Reason)
	switch {
	case d.ID == "" || d.Stream == "":
		return bad("a decision needs an id and a stream")
	case d.Actor == "":
		return bad("a decision needs an actor")
	case reason == "" || len(d.Reason) > maxReason:
		return bad("a decision needs a reason of 1 to %d bytes", maxReason)
	case d.Kind.OnEvent() && d.Event.EventID == "":
		return bad("%s needs an event", d.Kind)
	case d.Kind.OnEvent() && d.Rev == 0:
		return bad("%s needs the rev of the receipt that was seen", d.Kind)
	}
	switch d.Kind {
	case DecideResume, DecideReset, DecideAccept, DecideLost:
		if d.Rev == 0 {
			return bad("%s needs the rev of the stream that was seen", d.Kind)
		}
	case DecideRelease, DecideApplied, DecideIgnore, DecideQuarantine, DecideRetryNow, DecidePause, DecidePollNow, DecideStart, DecideRetire:
	default:
		return bad("unknown decision %q", d.Kind)
	}
	if (d.Kind == DecideReset || d.Kind == DecideStart) && d.Cursor == "" {
		return bad("%s needs a cursor", d.Kind)
	}
	return nil
}

// hash tells two requests under one id apart.
func (d Decision) hash() string {
	b, _ := json.Marshal(d) // plain data always encodes
	return DigestOf(b)
}

// repeated gives the answer of an earlier request of the same id.
func (e *Engine) repeated(ctx context.Context, d Decision) (DecisionAnswer, bool, error) {
	rec, err := e.State.Decision(ctx, d.Stream, d.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		return DecisionAnswer{}, false, nil
	case err != nil:
		return DecisionAnswer{}, false, err
	case rec.RequestHash != d.hash():
		return DecisionAnswer{}, false, &ConflictError{Reason: "another decision was taken under this id"}
	}
	return rec.Answer, true, nil
}

// record adds the decision and its audit line to a transaction.
func (e *Engine) record(tx Tx, d Decision, answer DecisionAnswer, before, after string, undo Cursor) Tx {
	now := e.now()
	tx.Audit = &AuditRecord{
		ID: d.ID, At: now, Stream: d.Stream, Kind: d.Kind, Actor: d.Actor, Reason: d.Reason, Event: d.Event,
		Before: before, After: after, Undo: undo, ExpiresAt: e.expiry(),
	}
	tx.Decision = &DecisionRecord{ID: d.ID, Stream: d.Stream, Token: tx.Token, RequestHash: d.hash(), Answer: answer, At: now, ExpiresAt: e.expiry()}
	return tx
}

// decideEvent decides one event: a compare-and-swap on the receipt that the operator saw.
func (e *Engine) decideEvent(ctx context.Context, d Decision) (DecisionAnswer, error) {
	found, err := e.State.Receipts(ctx, d.Stream, []ReceiptKey{d.Event}, false)
	if err != nil {
		return DecisionAnswer{}, err
	}
	old, ok := found[d.Event]
	if !ok {
		return DecisionAnswer{}, fmt.Errorf("receipt %s: %w", d.Event.EventID, ErrNotFound)
	}
	if old.Rev != d.Rev {
		return DecisionAnswer{}, &ConflictError{Reason: "the event changed since it was seen: it is " + outcomeText(old), Receipt: &old}
	}
	put, err := e.decided(old, d)
	if err != nil {
		return DecisionAnswer{}, err
	}
	tx := Tx{Token: e.IDs.New(), Stream: d.Stream}
	put.Token = tx.Token
	answer := DecisionAnswer{Decision: d.ID, Outcome: put.Outcome, Version: put.PageVersion, Rev: put.Rev}
	tx.Receipt = &ReceiptWrite{If: Guard{Rev: old.Rev}, Put: put}
	if d.Kind == DecideRelease {
		if tx.Checkpoint, err = e.onOpenPage(ctx, d.Stream, old); err != nil {
			return DecisionAnswer{}, err
		}
	}
	err = e.commit(ctx, e.record(tx, d, answer, outcomeText(old), outcomeText(put), ""))
	if errors.Is(err, ErrRefused) {
		return e.lostRace(ctx, d, err)
	}
	return answer, err
}

// lostRace says who was faster, unless it was this very request.
func (e *Engine) lostRace(ctx context.Context, d Decision, refused error) (DecisionAnswer, error) {
	if answer, again, err := e.repeated(ctx, d); again || err != nil {
		return answer, err
	}
	conflict := &ConflictError{Reason: "it changed since it was seen; look again"}
	if found, err := e.State.Receipts(ctx, d.Stream, []ReceiptKey{d.Event}, false); err == nil && d.Kind.OnEvent() {
		if r, ok := found[d.Event]; ok {
			conflict.Receipt = &r
		}
	}
	if cp, err := e.State.Checkpoint(ctx, d.Stream); err == nil {
		conflict.Checkpoint = &cp
	}
	return DecisionAnswer{}, fmt.Errorf("%w (%w)", conflict, refused)
}

// onOpenPage is the check that goes into the transaction of a release: what is on no open page cannot be released.
func (e *Engine) onOpenPage(ctx context.Context, s Stream, r Receipt) (*CheckpointWrite, error) {
	cp, err := e.State.Checkpoint(ctx, s)
	if err != nil {
		return nil, err
	}
	if cp.Version != r.PageVersion || cp.Closing != 0 {
		return nil, &ConflictError{Reason: "its page is not open, so it cannot be attempted: ignore or quarantine it", Receipt: &r, Checkpoint: &cp}
	}
	return &CheckpointWrite{If: Guard{Rev: cp.Rev}}, nil
}

// decided is the receipt after an operator's word, if the word is possible on it.
func (e *Engine) decided(old Receipt, d Decision) (Receipt, error) {
	conflict := func(reason string) error { return &ConflictError{Reason: reason, Receipt: &old} }
	if old.Outcome.Terminal() {
		return old, conflict("it is settled already: " + outcomeText(old))
	}
	if old.Attempt != nil && e.now().Before(e.leaseEnd(old.Attempt.At)) {
		return old, conflict("a call may still be under way until " + e.leaseEnd(old.Attempt.At).Format("15:04:05Z"))
	}
	put := old
	put.Rev++
	put.By, put.WrittenAt, put.Attempt = d.Actor, e.now(), nil
	switch d.Kind {
	case DecideRelease:
		if old.Outcome != Held || old.Conflict != "" {
			return old, conflict("only a held event can be released, and a second content never: it is " + outcomeText(old))
		}
		put.Outcome, put.Answered = Released, append(slices.Clone(old.Answered), AnsweredHold{old.Reason, old.Detail})
	case DecideApplied:
		if old.Outcome != Held || old.Reason != HoldAmbiguous || old.Attempt == nil {
			return old, conflict("only an unknown attempt can be declared applied: it is " + outcomeText(old))
		}
		put.Outcome = Applied
	case DecideRetryNow:
		if old.Outcome != Retrying {
			return old, conflict("nothing waits: it is " + outcomeText(old))
		}
		put.NextAt, put.Attempt = e.now(), old.Attempt
	case DecideIgnore:
		put.Outcome = Ignored
	default:
		put.Outcome = Quarantined
	}
	return put, nil
}

func outcomeText(r Receipt) string {
	switch {
	case r.Outcome == Held:
		return "held (" + string(r.Reason) + ")"
	case r.By != "apply" && r.By != "close" && r.By != "":
		return string(r.Outcome) + " by " + r.By + " at " + r.WrittenAt.UTC().Format("2006-01-02 15:04:05Z")
	}
	return string(r.Outcome)
}
