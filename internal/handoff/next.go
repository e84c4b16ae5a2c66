package handoff

import (
	"context"
	"slices"
	"time"
)

// stepKind is what is to be done about a lane's head.
type stepKind int

const (
	stepDone  stepKind = iota // terminal: the lane goes on
	stepStop                  // not terminal, and nothing to be done by this delivery
	stepWrite                 // one settlement decides
)

type step struct {
	kind  stepKind
	write Settlement
}

// next judges the head of a lane by the receipt that stands (nil: none that we know of; the write will tell).
func (a *application) next(ctx context.Context, ev Event, old *Receipt) step {
	if ev.Conflict || old != nil && old.Conflict != "" {
		return a.nextConflict(ev, old)
	}
	if old == nil {
		return a.attempt(ctx, ev, nil)
	}
	v := a.d.Version
	switch {
	case old.Outcome.Terminal():
		if sameContent(*old, ev, a.b.Identity) {
			a.report.Replayed++
			return step{kind: stepDone}
		}
		return a.secondContent(ctx, ev)
	case old.PageVersion > v:
		return step{kind: stepStop} // a greater page works on it
	case old.Outcome == Superseded && old.Attempt == nil:
		if old.PageVersion < v {
			return a.attempt(ctx, ev, old)
		}
		return step{kind: stepStop} // our own page is abandoned
	case old.Digest != ev.Digest && old.PageVersion < v && (old.Outcome == Released || old.Outcome == Retrying):
		return a.write(a.stranded(*old))
	case old.Digest != ev.Digest:
		return step{kind: stepStop} // until the first content is decided; then it is a conflict
	}
	return a.nextOpen(ctx, ev, *old)
}

// nextOpen goes on from a receipt of this very content that is not terminal.
func (a *application) nextOpen(ctx context.Context, ev Event, old Receipt) step {
	switch old.Outcome {
	case Released:
		return a.attempt(ctx, ev, &old)
	case Retrying:
		if old.NextAt.After(a.now()) {
			return step{kind: stepStop} // whoever wrote the wait sends the chunk again
		}
		return a.attempt(ctx, ev, &old)
	case Claimed:
		return a.claimed(ctx, ev, old)
	case Held, Superseded:
		if old.PageVersion < a.d.Version {
			return a.takeOver(ev, old)
		}
	}
	return step{kind: stepStop}
}

// nextConflict: a second content under one id is held on a receipt of its own, to be ignored or quarantined.
func (a *application) nextConflict(ev Event, old *Receipt) step {
	switch {
	case old == nil:
		return a.write(a.hold(ev, nil, HoldIdentityConflict, "the same id came with another content"))
	case old.Outcome.Terminal():
		a.report.Replayed++
		return step{kind: stepDone}
	case old.PageVersion > a.d.Version || old.Outcome == Superseded && old.PageVersion == a.d.Version:
		return step{kind: stepStop}
	case old.Outcome == Superseded:
		return a.write(a.hold(ev, old, HoldIdentityConflict, "the same id came with another content"))
	case old.PageVersion < a.d.Version:
		return a.takeOver(ev, *old)
	}
	return step{kind: stepStop}
}

// secondContent turns to the conflict's own receipt, whether or not one exists.
func (a *application) secondContent(ctx context.Context, ev Event) step {
	ev.Conflict = true
	return a.settleOne(ctx, ev, a.hold(ev, nil, HoldIdentityConflict, "the id was settled with another content"))
}

// stranded lists a first content again that nobody will attempt: its page was given up as lost while it was to be tried, and a second
// content now waits for it to be decided.
func (a *application) stranded(old Receipt) Settlement {
	put := old
	put.Outcome, put.Reason, put.Detail = Held, HoldIdentityConflict, "its page was lost before it could be attempted, and the same id came with another content"
	put.Rev, put.Token, put.By, put.NextAt, put.HeldAt, put.WrittenAt = old.Rev+1, a.IDs.New(), "apply", time.Time{}, a.now(), a.now()
	return Settlement{ReceiptWrite: ReceiptWrite{If: Guard{Rev: old.Rev}, Put: put}}
}

// takeOver moves a hold to the later page that its event turned up on: page version, chunk and index together, still held.
func (a *application) takeOver(ev Event, old Receipt) step {
	put := old
	put.PageVersion, put.Chunk, put.Index = a.d.Version, a.d.Chunk, ev.Index
	put.Outcome, put.Rev, put.Token, put.By, put.WrittenAt = Held, old.Rev+1, a.IDs.New(), "apply", a.now()
	return a.write(Settlement{ReceiptWrite: ReceiptWrite{If: Guard{Rev: old.Rev}, Put: put}})
}

func (a *application) write(s Settlement) step { return step{kind: stepWrite, write: s} }

// receipt is a fresh one over what stands, which it never forgets: attempts, an attempt under way, the hold that was answered.
func (a *application) receipt(ev Event, old *Receipt, o Outcome) Settlement {
	key := ev.Key()
	if ev.Conflict {
		key = ev.conflictKey()
	}
	put := a.receiptFor(a.b.Settings, ev, a.d.Version, a.d.Chunk, key)
	put.Outcome = o
	if o.Terminal() && a.b.Contract.ReceiptRetention > 0 {
		put.ExpiresAt = a.now().Add(a.b.Contract.ReceiptRetention)
	}
	w := ReceiptWrite{If: Guard{Absent: true}}
	if old != nil {
		w.If = Guard{Rev: old.Rev}
		put.Rev = old.Rev + 1
		if old.Digest == ev.Digest {
			put.Attempts, put.Attempt, put.Answered = old.Attempts, old.Attempt, old.Answered
		}
	}
	w.Put = put
	return Settlement{ReceiptWrite: w}
}

// hold is a receipt that waits for a person.
func (a *application) hold(ev Event, old *Receipt, why HoldReason, detail string) Settlement {
	s := a.receipt(ev, old, Held)
	s.Put.Reason, s.Put.Detail, s.Put.HeldAt = why, detail, a.now()
	return s
}

// holdsFor gives the hold that stands in the way of an event, before any policy or effect. A release suppresses only the hold it
// answered.
func (a *application) holdsFor(ev Event, old *Receipt) (HoldReason, string) {
	checks := []struct {
		if_    bool
		why    HoldReason
		detail string
	}{
		{ev.Invalid != "", HoldInvalidEvent, ev.Invalid},
		{ev.Unproven, HoldReceiptExpired, "it lies below the applied position and its receipt may have expired"},
		{old == nil && a.faded, HoldReceiptExpired, fadedDetail},
		{ev.Late && !a.b.Contract.ApplyLate, HoldLate, "it lies below the applied position and was never seen"},
		{old == nil && a.redone && a.outside() && a.page.EffectHash != a.b.Settings.Effect, HoldEffectChanged,
			"the effect was changed after its page opened, and an earlier delivery may have called it"},
	}
	for _, c := range checks {
		if c.if_ && !answered(old, c.why, c.detail) {
			return c.why, c.detail
		}
	}
	return "", ""
}

func answered(old *Receipt, why HoldReason, detail string) bool {
	return old != nil && slices.ContainsFunc(old.Answered, func(a AnsweredHold) bool {
		return a.Reason == why && (why != HoldPolicy || a.Detail == detail)
	})
}

func (a *application) outside() bool { return a.b.Effect.Traits().Kind != Transactional }

// attempt judges an event and settles it, or calls its sink.
func (a *application) attempt(ctx context.Context, ev Event, old *Receipt) step {
	if old != nil && old.Attempt != nil { // a call is under way or unknown: no other hold may hide it
		return a.again(ctx, ev, *old)
	}
	if why, detail := a.holdsFor(ev, old); why != "" {
		return a.write(a.hold(ev, old, why, detail))
	}
	ruling, err := a.b.Policy.Judge(ev)
	if err != nil {
		ruling = Ruling{VerdictHold, "cannot be judged: " + err.Error()}
	}
	switch ruling.Verdict {
	case VerdictIgnore, VerdictQuarantine:
		s := a.receipt(ev, old, Outcome(ruling.Verdict))
		s.Put.Detail = ruling.Rule
		return a.write(s)
	case VerdictHold:
		if !answered(old, HoldPolicy, ruling.Rule) {
			return a.write(a.hold(ev, old, HoldPolicy, ruling.Rule))
		}
	}
	if a.outside() {
		return a.call(ctx, ev, old)
	}
	docs, err := a.b.Effect.Plan(ev)
	if err != nil {
		return a.write(a.hold(ev, old, HoldEffectRefused, err.Error()))
	}
	s := a.receipt(ev, old, Applied)
	s.Put.NextAt = time.Time{}
	for i := range docs {
		docs[i] = withPosition(docs[i], ev, s.Put.Position)
	}
	s.Docs = docs
	return a.write(s)
}

// withPosition keeps the event's position on its own document.
func withPosition(c DocChange, ev Event, p Position) DocChange {
	if c.Entity == ev.Entity {
		c.Position = p
	}
	return c
}
