package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// call makes the outside call of an event that has no attempt under way.
//
//   - unsafe: a claim goes first. Dead between claim and answer: the claim expires and becomes held: ambiguous.
//   - idempotent for ever: the key makes a repeated call harmless, so nothing goes first.
//   - idempotent within a window: an attempt goes first, and starts the window. Each further call under it goes on the receipt first,
//     so that whoever made an earlier one knows that its own answer is not the last word.
func (a *application) call(ctx context.Context, ev Event, old *Receipt) step {
	traits := a.b.Effect.Traits()
	if traits.Kind == Idempotent && traits.KeyWindow == 0 {
		return a.finishCall(ctx, ev, old, a.ask(ctx, ev), true)
	}
	claim := a.receipt(ev, old, Claimed)
	claim.Put.Attempt = &Attempt{Token: a.IDs.New(), At: a.now(), EffectHash: a.b.Settings.Effect}
	return a.claim(ctx, ev, claim, true)
}

// claim writes a claim and makes its call. first: no call was made under its attempt before.
func (a *application) claim(ctx context.Context, ev Event, claim Settlement, first bool) step {
	st := a.settleOne(ctx, ev, claim)
	mine, err := a.holds(ctx, claim.Put)
	if err != nil { // nothing was called: end the claim, if it is ours
		return a.finishCall(ctx, ev, &claim.Put, CallResult{Kind: CallRetry, Detail: "the claim could not be read back"}, first)
	}
	if !mine {
		return st // refused: what stands was judged instead
	}
	return a.callClaimed(ctx, ev, claim.Put, first)
}

// holds reads back that the claim is ours, before anything outside happens.
func (a *application) holds(ctx context.Context, claim Receipt) (bool, error) {
	found, err := a.State.Receipts(ctx, a.d.Stream, []ReceiptKey{claim.ReceiptKey}, false)
	return err == nil && found[claim.ReceiptKey].Token == claim.Token, err
}

// callClaimed looks at the wall clock right before the call: a process that slept through its lease must not call.
func (a *application) callClaimed(ctx context.Context, ev Event, claim Receipt, first bool) step {
	traits := a.b.Effect.Traits()
	until := claim.Attempt.At.Add(a.Timing.FunctionLife)
	if traits.Kind == Idempotent {
		until = claim.Attempt.At.Add(traits.KeyWindow)
	}
	if a.now().Add(traits.Timeout + a.Timing.Margin).After(until) {
		if traits.Kind == Idempotent {
			return a.ambiguous(ctx, ev, claim, "its sink may have forgotten the key of the first call")
		}
		return a.finishCall(ctx, ev, &claim, CallResult{Kind: CallRetry, Detail: "the claim ran out before the call"}, first)
	}
	return a.finishCall(ctx, ev, &claim, a.ask(ctx, ev), first)
}

// ask makes the call, and tells of every answer but done.
func (a *application) ask(ctx context.Context, ev Event) CallResult {
	res := a.b.Effect.Call(ctx, ev, EffectKey(a.d.Stream, ev.ID))
	if res.Kind != CallDone {
		a.observe(ctx, Observation{Step: "sink_" + string(res.Kind), Stream: a.d.Stream, Version: a.d.Version, Chunk: a.d.Chunk, EventID: ev.ID})
	}
	return res
}

// EffectKey names an event at every sink, for ever: a digest, because ids may be long and hold any character.
func EffectKey(s Stream, id string) string { return DigestOf([]byte(string(s) + "\x00" + id)) }

// claimed goes on from somebody's claim.
func (a *application) claimed(ctx context.Context, ev Event, old Receipt) step {
	if a.b.Effect.Traits().Kind == Idempotent && old.Attempt != nil {
		return a.again(ctx, ev, old)
	}
	if old.Attempt == nil || a.now().Before(old.Attempt.At.Add(a.Timing.FunctionLife+a.Timing.Margin)) {
		return step{kind: stepStop} // its claimant may be at work
	}
	return a.ambiguous(ctx, ev, old, "whoever claimed it never said what came of the call")
}

// again calls an idempotent sink again, inside the window that the first call began, under the same effect.
func (a *application) again(ctx context.Context, ev Event, old Receipt) step {
	if a.b.Effect.Traits().Kind != Idempotent || old.Attempt.EffectHash != a.b.Settings.Effect {
		return a.ambiguous(ctx, ev, old, "the effect was changed while a call was under way")
	}
	return a.claim(ctx, ev, a.receipt(ev, &old, Claimed), false)
}

// ambiguous holds an event whose call may have happened. The attempt stays on it.
func (a *application) ambiguous(ctx context.Context, ev Event, old Receipt, detail string) step {
	return a.settleOne(ctx, ev, a.hold(ev, &old, HoldAmbiguous, detail))
}

// finishCall settles the answer of a call. claim is the receipt that the call was made under (nil: none). An answer that says "not done"
// speaks of this call alone: where an earlier one under the same attempt has no answer, the attempt stays.
func (a *application) finishCall(ctx context.Context, ev Event, claim *Receipt, res CallResult, first bool) step {
	kind := a.b.Effect.Traits().Kind
	var s Settlement
	switch {
	case res.Kind == CallDone:
		s = a.receipt(ev, claim, Applied)
		s.Put.Attempt = nil
	case res.Kind == CallRefused && !first:
		s = a.hold(ev, claim, HoldAmbiguous, "refused, after an earlier call that may have been done: "+res.Detail)
	case res.Kind == CallRefused:
		s = a.hold(ev, claim, HoldEffectRefused, res.Detail)
		s.Put.Attempt = nil
	case res.Kind == CallUnknown && kind == Unsafe:
		s = a.hold(ev, claim, HoldAmbiguous, res.Detail)
	default: // surely not done, or a key makes the next try harmless
		s = a.retry(ev, claim, res, kind == Unsafe || first && res.Kind == CallRetry)
	}
	if claim != nil && claim.Attempt != nil {
		return a.settleOwn(ctx, ev, s, claim.Attempt.Token)
	}
	return a.settleOne(ctx, ev, s)
}

// retry is a wait. Where surely nothing was done the attempt ends, and the next call begins another; else the window stays that it began.
func (a *application) retry(ev Event, claim *Receipt, res CallResult, nothingDone bool) Settlement {
	s := a.receipt(ev, claim, Retrying)
	s.Put.Attempts++
	s.Put.Error = res.Detail
	if nothingDone {
		s.Put.Attempt = nil
	}
	if a.b.MaxAttempts > 0 && s.Put.Attempts >= a.b.MaxAttempts && s.Put.Attempt == nil {
		s.Put.Outcome, s.Put.Reason, s.Put.HeldAt = Held, HoldEffectRefused, a.now()
		s.Put.Detail = fmt.Sprintf("given up after %d attempts: %s", s.Put.Attempts, res.Detail)
		return s
	}
	s.Put.NextAt = a.now().Add(max(res.After, a.backoff(a.d.Stream, s.Put.Attempts)))
	return s
}

// settleOwn settles an attempt whose token is ours, whatever became of its receipt meanwhile: a hold as ambiguous, a take-over by a
// greater page. Only a decision, which clears the attempt, ends that right.
func (a *application) settleOwn(ctx context.Context, ev Event, s Settlement, token string) step {
	var last error
	var check *CheckpointWrite
	for range casTries {
		res := a.settleUnder(ctx, s, check)
		if res.Err == nil {
			return a.written(ctx, s.Put)
		}
		last = res.Err
		a.doubt(ctx, res.Err)
		old, err := a.stands(ctx, s.Put.ReceiptKey, res)
		switch {
		case err != nil:
			return a.unknown(ev, err)
		case old != nil && old.Token == s.Put.Token:
			return a.written(ctx, s.Put)
		case old == nil || old.Outcome.Terminal() || old.Attempt == nil || old.Attempt.Token != token:
			return step{kind: stepStop} // decided by somebody; the next delivery sees it
		}
		if errors.Is(res.Err, ErrRefused) {
			if a.b.Effect.Traits().Kind == Idempotent && s.Put.Attempt == nil && s.Put.Outcome != Applied {
				return step{kind: stepStop} // another call was made under this attempt meanwhile: that ours did nothing is not the last word
			}
			// A greater page may have taken the receipt over: the stamp never decreases.
			s.If, s.Put.Rev = Guard{Rev: old.Rev}, old.Rev+1
			if s.Put.Outcome == Retrying {
				cp, err := a.State.Checkpoint(ctx, a.d.Stream)
				if err != nil {
					return a.unknown(ev, err)
				}
				check = &CheckpointWrite{If: Guard{Rev: cp.Rev}}                                  // no reset may pass between this read and the write
				if s.Put.Attempt == nil && max(old.PageVersion, s.Put.PageVersion) < cp.Version { // nobody would try it again
					s.Put.Outcome, s.Put.By, s.Put.HeldAt, s.Put.NextAt = Superseded, "close", a.now(), time.Time{}
					check = nil
				} else if s.Put.Attempt != nil && max(old.PageVersion, s.Put.PageVersion) < cp.Version {
					return step{kind: stepStop} // the hold as ambiguous stays
				}
			}
			if old.PageVersion > s.Put.PageVersion {
				s.Put.PageVersion, s.Put.Chunk, s.Put.Index = old.PageVersion, old.Chunk, old.Index
			}
		} else if ctx.Err() != nil {
			break
		}
	}
	return a.unknown(ev, last)
}

// settleUnder writes one receipt, while the checkpoint stays as it was seen if there is a check.
func (a *application) settleUnder(ctx context.Context, s Settlement, check *CheckpointWrite) SettleResult {
	if check == nil {
		return a.State.Settle(ctx, a.d.Stream, []Settlement{s})[0]
	}
	return SettleResult{Err: a.State.Commit(ctx, Tx{Token: s.Put.Token, Stream: a.d.Stream, Receipt: &s.ReceiptWrite, Checkpoint: check})}
}

// leaseEnd is when nobody can be at work on an attempt any more.
func (e *Engine) leaseEnd(at time.Time) time.Time {
	return at.Add(e.Timing.FunctionLife + e.Timing.Margin)
}
