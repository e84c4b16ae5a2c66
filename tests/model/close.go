package model

// close supersedes what a reset passed, chunk by chunk, then marks the page abandoned and removes closing. p.v is the version closing.
func (m *model) close(s *state, p *proc) {
	v := p.v
	switch p.pc {
	case closePage:
		if p.pc = closeDirectory; !s.page(v).exists() {
			p.pc, p.bits = closeWrite, p.bits|passed // it cannot open any more
		}
	case closeDirectory:
		p.pc = closeChunk
	case closeChunk:
		p.pc = closeReceipts
	case closeReceipts:
		p.at, p.bits = 0, p.bits&^failed
		for _, e := range m.lane(s, v, p.chunk) {
			if m.supersedable(s.receipt(e), v) {
				p.done, p.fresh = p.done|1<<(e-1), p.fresh|1<<(e-1)
			}
		}
		m.nextSupersession(s, p)
	case closeSettle:
		m.supersede(s, p)
	case closeWrite:
		switch {
		case p.is(passed) && s.page(v).exists(): // refused for good: the next poll sees the page
			*p = proc{}
			return
		case !p.is(cpFresh):
			*p = proc{pc: closeAgain, v: v, bits: p.bits & passed}
			return
		}
		s.cp.closing = 0
		if s.page(v).exists() && !m.breaks.closeUnmarked {
			s.page(v).flags |= abandoned
		}
		s.wroteCheckpoint(p)
		p.begin(s)
	case closeAgain:
		switch {
		case s.cp.closing == v || s.cp.closing != 0 && m.breaks.closeAny:
			p.pc, p.bits = closeWrite, cpFresh|p.bits
		case s.cp.closing != 0:
			*p = proc{}
		default:
			p.begin(s)
		}
	}
}

// nextSupersession finds the next event of the chunk that needs a write; then the next chunk; then the closing write. A refused write is
// judged again on what stands.
func (m *model) nextSupersession(s *state, p *proc) {
	lane := m.lane(s, p.v, p.chunk)
	for ; int(p.at) < len(lane); p.at++ {
		if p.done&(1<<(lane[p.at]-1)) != 0 { // the read found that it needs a write; the rev may be stale by now
			p.pc = closeSettle
			return
		}
	}
	next := proc{v: p.v, bits: p.bits & cpFresh, chunk: p.chunk}
	switch {
	case p.is(failed):
		next.pc = closeReceipts
	case int(p.chunk)+1 < len(m.chunks(*s.page(p.v))):
		next.pc, next.chunk = closeChunk, p.chunk+1
	default:
		next.pc, next.chunk = closeWrite, 0
	}
	*p = next
}

// supersede is the write of one receipt.
func (m *model) supersede(s *state, p *proc) {
	e := m.lane(s, p.v, p.chunk)[p.at]
	if p.stands(e) {
		r := newReceipt(superseded, p.v)
		if old := s.receipt(e); old.has(attempt) && !m.breaks.supersedeAttempt { // its call may have happened
			r = newReceipt(held, p.v) | attempt
		}
		s.put(e, r)
	} else {
		p.bits |= failed
	}
	p.done, p.fresh, p.at = p.done&^(1<<(e-1)), p.fresh&^(1<<(e-1)), p.at+1
	m.nextSupersession(s, p)
}

// supersedable: closing page v still has something to write over a receipt.
func (m *model) supersedable(r receipt, v uint8) bool {
	o := r.outcome()
	switch {
	case o.terminal():
		return m.breaks.supersedeTerminal
	case r.stamp() > v && !m.breaks.overGreater:
		return false
	case o == superseded:
		return r.stamp() != v && (r.stamp() < v || m.breaks.overGreater)
	}
	return !(o == held && r.has(attempt))
}
