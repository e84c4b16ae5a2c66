package model

// canonical puts the two pollers, and the two appliers, in one order, and forgets what a process remembers in vain.
func (m *model) canonical(s state) state {
	if m.interleaveAll {
		return s
	}
	for i := range s.procs {
		m.forgetInVain(&s.procs[i], &s)
	}
	for _, i := range []slot{poll1, apply1} {
		if a, b := &s.procs[i], &s.procs[i+1]; a.before(b) {
			*a, *b = *b, *a
		}
	}
	return s
}

// forgetInVain: a write under a rev that does not stand any more will be refused, whatever it would have been; then what stands is
// judged anew.
func (m *model) forgetInVain(p *proc, s *state) {
	switch p.pc {
	case settle, claim:
		e := m.lane(s, p.v, p.chunk)[p.at]
		if p.known[e-1] != 0 && !p.stands(e) && !m.breaks.settleUnconditioned {
			p.known[e-1] = newReceipt(none, 7)
		}
		p.bits &= failed | passed
	case releaseCheckpoint:
		if !p.stands(p.at) {
			*p = proc{pc: releaseCheckpoint, at: p.at}
		}
	case decideWrite:
		if p.at != 0 && !(p.stands(p.at) && (p.word != release || p.is(cpFresh) || m.breaks.releaseUnchecked)) {
			*p = proc{pc: decideWrite, at: p.at}
		}
		if p.at == 0 && !p.is(cpFresh) {
			*p = proc{pc: decideWrite, word: p.word}
		}
		if p.at != 0 && p.stands(p.at) {
			p.known = [maxEvents]receipt{}
		}
	}
}
