package model

// What came of a call, as its claimant remembers it.
const (
	callDone  uint8 = 1 + iota
	callLost        // it happened or not: the answer never came
	callRetry       // surely not done
	callOver        // surely not done, and its page is passed: nobody would try it again
)

// ownAttempt goes on from a claim of the process's own: it is read back before the call, and its outcome is settled after it.
func (m *model) ownAttempt(s *state, p *proc) {
	e := m.lane(s, p.v, p.chunk)[p.at]
	switch {
	case p.pc == claimRead:
		switch {
		case !p.stands(e):
			*p = proc{} // somebody wrote in between: what stands stops the lane
		case p.is(passed): // it slept through its lease: no call
			p.pc, p.num, p.cursor, p.bits = settleOwn, callRetry, p.v, 0
		default:
			p.pc = call
		}
	case p.pc == ownCheckpoint:
		if p.pc = settleOwn; max(p.cursor, s.receipt(e).stamp()) < s.cp.version {
			p.num = callOver
		}
	case p.stands(e):
		m.settleAttempt(s, p, e)
	case p.is(failed):
		*p = proc{} // the attempt was decided
	default: // as long as it stands, it is its own: under a hold as ambiguous, taken over by a later page
		p.fresh |= 1 << (e - 1)
		p.cursor = max(p.cursor, s.receipt(e).stamp())
		if p.num == callRetry {
			p.pc = ownCheckpoint
		}
	}
}

// settleAttempt writes the outcome of a call over the receipt that carries the attempt. p.cursor is the stamp.
func (m *model) settleAttempt(s *state, p *proc, e uint8) {
	keep := s.receipt(e) & answered
	switch p.num {
	case callDone:
		s.put(e, newReceipt(applied, p.cursor)|keep)
		*p = proc{pc: settle, v: p.v, chunk: p.chunk, at: p.at + 1, known: p.known, fresh: p.fresh &^ (1 << (e - 1))}
		m.head(s, p)
		return
	case callLost:
		s.put(e, newReceipt(held, p.cursor)|attempt|keep)
	case callRetry:
		s.put(e, newReceipt(retrying, p.cursor)|keep)
		s.oldAtBirth(p, e)
		*p = proc{pc: sendAgain, v: p.v, chunk: p.chunk}
		return
	case callOver:
		s.put(e, newReceipt(superseded, p.cursor))
	}
	*p = proc{}
}

// call is the outside call. The clock was looked at right before it; a process that freezes between the two calls late, and that is
// no guarantee of ours.
func (m *model) call(s state, who slot, did emit) {
	e := m.lane(&s, s.procs[who].v, s.procs[who].chunk)[s.procs[who].at]
	say := func(what uint8, happens bool) {
		to := s
		p := &to.procs[who]
		p.pc, p.num, p.cursor, p.bits = settleOwn, what, p.v, p.bits&failed
		if happens {
			to.effect(e)
		}
		did(label{a: what}, to, true)
	}
	say(callDone, true)
	say(callLost, true)
	say(callLost, false)
	say(callRetry, false)
}

// later: every lease and every wait is over, that of a claim or a wait on its way to the store too. A claimant that has yet to look at
// the clock will see it.
func (m *model) later(s state, yield emit) {
	was := s
	for e := uint8(1); e <= maxEvents; e++ {
		if r := s.receipt(e); r.has(attempt) || r.outcome() == retrying {
			s.late |= 1 << (e - 1)
		}
	}
	for i := range s.procs {
		if p := &s.procs[i]; p.pc == claim || p.pc == claimRead || p.num == callRetry && (p.pc == settleOwn || p.pc == ownCheckpoint) {
			p.bits |= passed
		}
	}
	if s != was {
		yield(label{who: clock, step: later}, s, true)
	}
}

// oldAtBirth: what was just written took so long that its lease or wait is over.
func (s *state) oldAtBirth(p *proc, e uint8) {
	if p.is(passed) {
		s.late |= 1 << (e - 1)
	}
}
