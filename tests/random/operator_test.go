package random_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// decided is a decision as it was asked, so that it can be asked again.
type decided struct {
	st *stream
	d  handoff.Decision
}

// decide starts an operator's request as a process of its own.
func (w *world) decide(st *stream, d handoff.Decision) *process {
	d.Stream, d.Actor, d.Reason = st.name, "ada", "seen"
	if d.ID == "" {
		d.ID = fmt.Sprintf("d%d", len(w.decided))
		w.decided = append(w.decided, decided{st, d})
	}
	name := fmt.Sprintf("decide %s %s %s", d.ID, d.Kind, d.Event.EventID)
	return w.start(st, name, func(e *handoff.Engine, _ handoff.Binding, p *process) error {
		ctx, over := p.faults.Invocation(w.ctx)
		defer over()
		_, err := e.Decide(ctx, d)
		return err
	}, nil)
}

// listed gives receipts in a fixed order, those that are not settled first.
func (m *model) listed() []handoff.Receipt {
	list := slices.Collect(maps.Values(m.receipts))
	slices.SortFunc(list, func(a, b handoff.Receipt) int {
		done := func(r handoff.Receipt) int {
			if r.Outcome.Terminal() {
				return 1
			}
			return 0
		}
		return cmp.Or(done(a)-done(b), cmp.Compare(numberOf(a.EventID), numberOf(b.EventID)), cmp.Compare(a.EventID, b.EventID), cmp.Compare(a.Conflict, b.Conflict))
	})
	return list
}

// actDecide decides about an event as it stands now, or, now and then, as it stood before.
func (w *world) actDecide(a, b int) {
	st := w.pick(b / 5)
	list := st.model.listed()
	if len(list) == 0 {
		return
	}
	kinds := []handoff.DecisionKind{
		handoff.DecideRelease, handoff.DecideIgnore, handoff.DecideApplied, handoff.DecideQuarantine, handoff.DecideRetryNow,
	}
	r := list[a%len(list)]
	d := handoff.Decision{Kind: kinds[b%len(kinds)], Event: r.ReceiptKey, Rev: r.Rev}
	if b%7 == 6 && r.Rev > 1 {
		d.Rev--
	}
	w.spawn()
	w.decide(st, d)
}

// actOrder decides about a stream.
func (w *world) actOrder(a, b int) {
	st := w.pick(b)
	cp := st.model.cp
	if cp == nil {
		return
	}
	d := handoff.Decision{Rev: cp.Rev}
	switch a % 10 {
	case 0, 7, 8:
		d.Kind = handoff.DecideReset
		d.Cursor = st.source.place(b)
	case 1:
		d.Kind = handoff.DecideResume
	case 2:
		d.Kind, d.Rev = handoff.DecidePause, 0
	case 3:
		d.Kind, d.Rev = handoff.DecidePollNow, 0
	case 4, 5:
		d.Kind = handoff.DecideAccept
		if cp.Halt != nil {
			d.Check, d.Answer = cp.Halt.Reason, cp.Halt.Answer.Digest
		}
	case 6:
		d.Kind, d.Version = handoff.DecideLost, cp.Version
		if cp.Closing != 0 {
			d.Version = cp.Closing
		}
	default:
		d.Kind = handoff.DecideRetire
	}
	w.spawn()
	w.decide(st, d)
}

// place is a token that an operator may reset to: any place in the log, by its durable token or by a new one.
func (s *source) place(b int) handoff.Cursor {
	after := 0
	if i := b / 2 % (len(s.log) + 1); i > 0 {
		after = s.log[i-1].ord
	}
	if b%2 == 1 || s.set.once() {
		return s.freshToken(after)
	}
	return token(after, 0)
}

// actAgain repeats a request under its id.
func (w *world) actAgain(a, _ int) {
	if n := len(w.decided); n > 0 {
		again := w.decided[n-1-a%min(n, 3)]
		w.spawn()
		w.decide(again.st, again.d)
	}
}
