package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lane is one order domain's progress through a chunk.
type lane struct {
	events  []Event
	at      int
	stopped bool
}

func (l *lane) head() Event { return l.events[l.at] }

// round moves every live lane on by at most one event: what needs only a write goes into one Settle, what needs an outside call is
// done by itself.
func (a *application) round(ctx context.Context, live []*lane) {
	var batch []Settlement
	var owners []*lane
	for _, l := range live {
		if a.outside() && a.atDeadline() {
			a.late = true
			break
		}
		ev := l.head()
		var old *Receipt
		if r, ok := a.known[a.key(ev)]; ok {
			old = &r
		}
		st := a.next(ctx, ev, old)
		switch st.kind {
		case stepWrite:
			batch, owners = append(batch, st.write), append(owners, l)
		default:
			a.finish(l, st)
		}
	}
	if len(batch) == 0 {
		return
	}
	for i, res := range a.State.Settle(ctx, a.d.Stream, batch) {
		a.finish(owners[i], a.resolve(ctx, owners[i].head(), batch[i], res))
	}
}

// finish moves a lane on or stops it.
func (a *application) finish(l *lane, st step) {
	if st.kind == stepDone {
		l.at++
		return
	}
	l.stopped = true
}

// settleOne writes one settlement to its end.
func (a *application) settleOne(ctx context.Context, ev Event, s Settlement) step {
	return a.resolve(ctx, ev, s, a.State.Settle(ctx, a.d.Stream, []Settlement{s})[0])
}

// resolve branches on the three answers of a settlement until it has one: done; refused, judged by what stands; unknown, read back
// by token and tried again.
func (a *application) resolve(ctx context.Context, ev Event, s Settlement, res SettleResult) step {
	for range casTries {
		var effect *EffectError
		switch {
		case res.Err == nil:
			return a.written(ctx, s.Put)
		case errors.Is(res.Err, ErrTooLarge):
			s = a.hold(ev, priorOf(s), HoldEffectRefused, "its receipt and effect exceed one transaction")
		case errors.As(res.Err, &effect):
			s = a.hold(ev, priorOf(s), HoldEffectRefused, "the projection cannot take it")
		default:
			a.doubt(ctx, res.Err)
			old, err := a.stands(ctx, s.Put.ReceiptKey, res)
			if err != nil {
				return a.unknown(ev, err)
			}
			if old != nil && old.Token == s.Put.Token {
				return a.written(ctx, s.Put)
			}
			if errors.Is(res.Err, ErrRefused) {
				st := a.next(ctx, ev, old)
				if st.kind != stepWrite {
					return st
				}
				s = st.write
			} else if ctx.Err() != nil {
				return a.unknown(ev, res.Err)
			}
		}
		res = a.State.Settle(ctx, a.d.Stream, []Settlement{s})[0]
	}
	return a.unknown(ev, res.Err)
}

// doubt counts a write that was not refused either.
func (a *application) doubt(ctx context.Context, err error) {
	if !errors.Is(err, ErrRefused) {
		a.observe(ctx, Observation{Step: "unknown", Stream: a.d.Stream, Version: a.d.Version, Chunk: a.d.Chunk})
	}
}

// stands is the receipt that a failed settlement met: what the refusal returned, or a strong read.
func (a *application) stands(ctx context.Context, key ReceiptKey, res SettleResult) (*Receipt, error) {
	if errors.Is(res.Err, ErrRefused) && res.Old != nil {
		return res.Old, nil
	}
	found, err := a.State.Receipts(ctx, a.d.Stream, []ReceiptKey{key}, false)
	if err != nil {
		return nil, fmt.Errorf("read back receipt: %w", errors.Join(res.Err, err))
	}
	if r, ok := found[key]; ok {
		return &r, nil
	}
	return nil, nil
}

// priorOf is as much of the receipt under a settlement as a hold in its place needs.
func priorOf(s Settlement) *Receipt {
	if s.If.Absent {
		return nil
	}
	prior := s.Put
	prior.Rev = s.If.Rev
	return &prior
}

// unknown stops the lane; the delivery then fails and comes again.
func (a *application) unknown(ev Event, err error) step {
	if a.failed == nil {
		a.failed = fmt.Errorf("settle event %d: %w: %w", ev.Index, ErrUnknown, err)
	}
	return step{kind: stepStop}
}

// written counts a receipt that is durable now.
func (a *application) written(ctx context.Context, r Receipt) step {
	switch r.Outcome {
	case Applied:
		a.report.Applied++
	case Ignored:
		a.report.Ignored++
	case Quarantined:
		a.report.Quarantined++
	case Held:
		a.report.Held++
		a.observe(ctx, Observation{Step: "hold", Stream: r.Stream, Version: a.d.Version, Chunk: a.d.Chunk, EventID: r.EventID, Detail: holdText(r)})
	case Retrying:
		a.report.Retrying++
		a.waitUntil(r.NextAt)
		a.observe(ctx, Observation{Step: "retry", Stream: r.Stream, Version: a.d.Version, Chunk: a.d.Chunk, EventID: r.EventID, Count: r.Attempts})
	}
	if r.Outcome.Terminal() {
		return step{kind: stepDone}
	}
	return step{kind: stepStop}
}

func holdText(r Receipt) string {
	if r.Detail == "" {
		return string(r.Reason)
	}
	return string(r.Reason) + ": " + r.Detail
}

func (a *application) waitUntil(t time.Time) {
	if a.wait.IsZero() || t.Before(a.wait) {
		a.wait = t
	}
}
