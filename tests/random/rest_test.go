package random_test

import (
	"errors"
	"slices"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// rounds bounds how long a stream may take to come to rest once the faults are over. Each round is a tick, every message that is due,
// and a look at the lists by the operator.
const rounds = 160

// rest is I10: the faults stop, the source keeps its promises, a plain schedule and an operator with a simple book go on; the stream
// must come to its source's end by itself.
func (w *world) rest() {
	for _, p := range w.awake() {
		p.finish()
	}
	w.healthy = true
	for _, st := range w.streams {
		st.source.heal()
		st.sink.moods = nil
	}
	w.note("the faults are over")
	quiet := 0
	for n := range rounds {
		if len(w.broken) > 0 {
			return
		}
		if n%8 == 7 { // who slept through everything wakes in the middle of it
			w.actWake(0, 0)
			w.with(0, (*process).finish)
		}
		if n%8 == 3 {
			w.actLand(0, 0)
		}
		if w.round() || len(w.procs)+len(w.afloat) > 0 {
			quiet = 0
			w.wait(40 * time.Second)
		} else if quiet++; quiet > 2 {
			break
		} else {
			w.wait(16 * time.Minute)
		}
	}
	for _, st := range w.streams {
		w.atRest(st)
	}
}

// round reports whether anything moved.
func (w *world) round() (moved bool) {
	for _, st := range w.streams {
		before := st.model.writes
		w.strict(w.poll(st, handoff.PollMessage{}))
		for i := 0; i < len(w.queue.polls); i++ {
			m := w.queue.polls[i]
			w.strict(w.poll(w.stream(m.Stream), m))
		}
		w.queue.polls = nil
		for i := 0; i < len(w.queue.chunks); {
			m := w.queue.chunks[i]
			if m.due.After(w.clock.now) {
				i++
				moved = true
				continue
			}
			w.queue.chunks = slices.Delete(w.queue.chunks, i, i+1)
			w.strict(w.deliver(m, false))
		}
		w.book(st)
		moved = moved || st.model.writes != before || !st.model.idle()
	}
	return moved
}

// strict runs a process to its end and lets it fail for nothing but an object that is gone.
func (w *world) strict(p *process) {
	p.finish()
	if p.err == nil || len(w.broken) > 0 {
		return
	}
	gone := errors.Is(p.err, handoff.ErrNotFound) || errors.Is(p.err, handoff.ErrDigest)
	var conflict *handoff.ConflictError
	if !(gone && w.archive.lost > 0) && !errors.As(p.err, &conflict) {
		w.fail("I10", "%s failed in a world without faults: %v", p.name, p.err)
	}
}

// book is what the operator does about what is listed.
func (w *world) book(st *stream) {
	cp := st.model.cp
	if len(w.broken) > 0 || cp == nil {
		return
	}
	d := handoff.Decision{Rev: cp.Rev, Kind: handoff.DecideResume}
	switch {
	case cp.Paused:
	case cp.Halt != nil && cp.Closing == 0 && (cp.Halt.Reason == handoff.HaltCursorRejected):
		d.Kind, d.Cursor = handoff.DecideReset, st.source.freshToken(afterOf(cp.ResumeCursor))
	case cp.Halt != nil && cp.Halt.Reason.Acceptable() && st.resumed == cp.Version:
		d.Kind, d.Check, d.Answer = handoff.DecideAccept, cp.Halt.Reason, cp.Halt.Answer.Digest
	case cp.Halt != nil:
		st.resumed = cp.Version
	default:
		w.bookHeld(st)
		w.bookLost(st)
		return
	}
	w.strict(w.decide(st, d))
}

// bookHeld decides every hold that can be decided.
func (w *world) bookHeld(st *stream) {
	for _, r := range st.model.listed() {
		cp := st.model.cp
		// What a lost page left to be tried, and no later page shows again, nobody goes on with: it is decided once nothing is open.
		l := st.model.leaves[r.PageVersion]
		left := l != nil && l.lost && !r.Outcome.Terminal() && r.Outcome != handoff.Superseded && st.model.leaves[cp.Version] == nil
		if r.Outcome != handoff.Held && !left || r.Attempt != nil && w.clock.now.Before(r.Attempt.At.Add(claimLife())) {
			continue
		}
		d := handoff.Decision{Event: r.ReceiptKey, Rev: r.Rev, Kind: handoff.DecideRelease}
		open := r.PageVersion == cp.Version && cp.Closing == 0 && r.Conflict == ""
		switch {
		case r.Outcome == handoff.Held && r.Reason == handoff.HoldAmbiguous && len(st.sink.made[r.EventID]) > 0:
			d.Kind = handoff.DecideApplied
		case !open || numberOf(r.EventID)%3 == 0:
			d.Kind = handoff.DecideIgnore
		}
		w.strict(w.decide(st, d))
	}
}

// bookLost gives up a page whose objects are gone, once nothing else moves.
func (w *world) bookLost(st *stream) {
	cp := st.model.cp
	v := cp.Version
	if cp.Closing != 0 {
		v = cp.Closing
	}
	if st.stuck.v != v {
		st.stuck.v, st.stuck.rounds = v, 0
	}
	if st.stuck.rounds++; st.stuck.rounds < 12 || st.model.leaves[v] == nil || len(w.archive.gone) == 0 {
		return
	}
	w.decide(st, handoff.Decision{Rev: cp.Rev, Kind: handoff.DecideLost, Version: v}).finish()
}

// atRest requires the end: nothing open, nothing stopped, the cursor at the source's end, every event settled.
func (w *world) atRest(st *stream) {
	m := st.model
	if len(w.broken) > 0 {
		return
	}
	if !m.idle() {
		w.fail("I10", "%s is not at rest after %d rounds: %s", st.name, rounds, m.standing())
		return
	}
	for v, l := range m.leaves {
		for _, o := range l.owed {
			if !l.lost && !l.abandoned && !m.terminal(o.content) && !m.proven(l, o) {
				m.fail("I10", "event %s of page %d is %s at rest", o.id, v, m.status(o.content))
			}
		}
	}
	for _, r := range m.receipts {
		if !r.Outcome.Terminal() && r.Outcome != handoff.Superseded {
			m.fail("I10", "event %s is %s %s on page %d at rest", r.EventID, r.Outcome, r.Reason, r.PageVersion)
		}
	}
	m.covered()
	m.same()
	w.audit(st)
}

// audit has the protocol's own checker look too: it must agree that nothing is wrong.
func (w *world) audit(st *stream) {
	e := handoff.New(handoff.Deps{State: w.state, Archive: w.archive.Archive, Clock: w.clock, IDs: w.ids})
	found, err := e.CheckInvariants(w.ctx, st.name)
	if err != nil {
		w.fail("audit", "%v", err)
	}
	for _, v := range found {
		w.fail("audit", "%s at version %d, event %s: %s", v.Invariant, v.Version, v.EventID, v.Detail)
	}
}
