package model

// apply is handoff.Engine.Apply on one delivery. A message may be delivered as long as it is under way, at any time and again.
func (m *model) apply(s state, who slot, did emit) {
	p := &s.procs[who]
	switch p.pc {
	case idle:
		m.deliver(s, who, did)
		return
	case applyCheckpoint:
		if p.pc = applyDirectory; s.cp.version != p.v && !m.breaks.applyStale {
			*p = proc{}
		}
	case applyDirectory:
		p.pc = applyChunk
	case applyChunk:
		if p.is(redone) || m.outside || m.breaks.everybodyRecalls {
			p.pc = recall
		} else {
			m.head(&s, p)
		}
	case recall:
		for _, e := range m.lane(&s, p.v, p.chunk) {
			p.know(e, s.receipt(e))
		}
		m.head(&s, p)
	case settle, claim:
		m.settle(&s, p)
	case claimRead, settleOwn, ownCheckpoint:
		m.ownAttempt(&s, p)
	case call:
		m.call(s, who, did)
		return
	case chunkDone:
		pg := s.page(p.v)
		pg.flags |= 1 << p.chunk
		*p = proc{pc: promoteRead, v: p.v}
		if !m.settled(*pg) && !m.breaks.promoteUnsettled || pg.is(abandoned) {
			*p = proc{}
		}
	case sendAgain:
		s.messages[p.chunk] |= 1 << p.v
		*p = proc{}
	default:
		m.promote(&s, p)
	}
	did(label{}, s, true)
}

// deliver begins a delivery, unless its first read already ends it.
func (m *model) deliver(s state, who slot, did emit) {
	for k := range uint8(maxChunks) {
		for v := uint8(1); v <= maxVersions; v++ {
			if s.messages[k]&(1<<v) == 0 {
				continue
			}
			m.receive(s, who, v, k, false, did)
			if m.again {
				m.receive(s, who, v, k, true, did)
			}
		}
	}
}

func (m *model) receive(s state, who slot, v, k uint8, again bool, did emit) {
	pg, p := *s.page(v), &s.procs[who]
	switch {
	case pg.is(abandoned):
		return
	case pg.is(1 << k): // whoever marked it last may have died before the promote
		if !m.settled(pg) || again {
			return
		}
		*p = proc{pc: promoteRead, v: v}
	default:
		*p = proc{pc: applyCheckpoint, v: v, chunk: k}
		if again || pg.is(driven) {
			p.bits = redone
		}
	}
	did(label{a: v, b: k, again: again}, s, true)
}

// verdict is what is to be done about a lane's head.
type verdict uint8

const (
	done verdict = iota
	stop
	write
)

// judge is handoff.application.next: the receipt that stands, as far as the process knows, gives what is to be written.
func (m *model) judge(s *state, v, e uint8, r receipt) (verdict, receipt) {
	o := r.outcome()
	waits := s.late&(1<<(e-1)) == 0
	switch {
	case o.terminal():
		return done, 0
	case o == none:
		return m.attempt(v, e, r)
	case r.stamp() > v && !m.breaks.overGreater:
		return stop, 0 // a greater page works on it
	case o == superseded && r.stamp() < v, o == superseded && m.breaks.ownAbandoned:
		return m.attempt(v, e, r)
	case o == released, o == retrying && !waits:
		return m.attempt(v, e, r)
	case o == claimed && !waits && m.breaks.claimAgain:
		return m.attempt(v, e, r)
	case o == claimed && !waits: // whoever claimed it never said what came of the call
		return write, newReceipt(held, v) | attempt | r&answered
	case o == held && r.stamp() < v: // taken over by the later page
		return write, newReceipt(held, v) | r&(attempt|answered)
	}
	return stop, 0
}

// attempt: the policy first, then the effect, or the claim that goes before an outside one.
func (m *model) attempt(v, e uint8, r receipt) (verdict, receipt) {
	keep := r & answered
	switch {
	case m.holds&(1<<(e-1)) != 0 && keep == 0:
		return write, newReceipt(held, v)
	case m.outside:
		return write, newReceipt(claimed, v) | attempt | keep
	}
	return write, newReceipt(applied, v) | keep
}

// head goes down the lane to the first event that needs a write, to a stop, or to its end.
func (m *model) head(s *state, p *proc) {
	lane := m.lane(s, p.v, p.chunk)
	for ; int(p.at) < len(lane); p.at++ {
		e := lane[p.at]
		what, r := m.judge(s, p.v, e, p.known[e-1])
		if what == write {
			if p.pc = settle; r.outcome() == claimed {
				p.pc = claim
			}
			return
		}
		if !m.pass(what, p) {
			return
		}
		p.forget(e)
	}
	m.laneEnds(p)
}

// pass reports whether the lane goes on behind its head; if not, the delivery is over.
func (m *model) pass(what verdict, p *proc) bool {
	if what == done {
		return true
	}
	if m.breaks.laneGoesOn {
		p.bits |= failed
		return true
	}
	*p = proc{}
	return false
}

func (m *model) laneEnds(p *proc) {
	if p.is(failed) { // only a broken lane comes here
		*p = proc{}
		return
	}
	*p = proc{pc: chunkDone, v: p.v, chunk: p.chunk}
}

// settle is one transaction: receipt and effect, on absence or on the rev that was read. Refused, what stands is judged.
func (m *model) settle(s *state, p *proc) {
	e := m.lane(s, p.v, p.chunk)[p.at]
	_, r := m.judge(s, p.v, e, p.known[e-1])
	free := p.stands(e) || p.known[e-1] == 0 && s.receipt(e) == 0
	if !free && !m.breaks.settleUnconditioned {
		p.know(e, s.receipt(e))
		p.bits &^= passed
		m.head(s, p)
		return
	}
	s.put(e, r)
	switch r.outcome() {
	case claimed:
		s.oldAtBirth(p, e)
		*p = proc{pc: claimRead, bits: p.bits & passed, v: p.v, chunk: p.chunk, at: p.at, mask: 1 << (e - 1), fresh: 1<<(e-1) | p.fresh, known: p.known}
		p.known[e-1] = 0
		return
	case applied:
		s.effect(e)
	}
	p.forget(e)
	what := stop
	if r.outcome().terminal() || r.outcome() == held && m.breaks.holdIsTerminal {
		what = done
	}
	if m.pass(what, p) {
		p.at++
		m.head(s, p)
	}
}
