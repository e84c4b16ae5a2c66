package model

// decideEvent is an operator's decision on one event that is listed, held or superseded. Seeing it and reading it again are one step: a
// write between the two only ends the decision.
func (m *model) decideEvent(s state, who slot, did emit) {
	p := &s.procs[who]
	switch p.pc {
	case idle:
		for e := uint8(1); e <= maxEvents; e++ {
			for _, w := range m.decisions {
				if r := s.receipt(e); m.possible(&s, w, e, r) {
					to := s
					q := &to.procs[who]
					*q = proc{pc: decideWrite, word: w, at: e}
					if q.know(e, r); w == release {
						q.pc = releaseCheckpoint
					}
					did(label{word: w, a: e}, to, true)
				}
			}
		}
		return
	case releaseCheckpoint:
		p.pc, p.bits = decideWrite, cpFresh
		if r := p.known[p.at-1]; (s.cp.version != r.stamp() || s.cp.closing != 0) && !m.breaks.releaseUnchecked {
			*p = proc{}
		}
	case decideWrite:
		if p.stands(p.at) && (p.word != release || p.is(cpFresh) || m.breaks.releaseUnchecked) {
			m.decided(&s, p)
			*p = proc{pc: decideContinue}
		} else {
			*p = proc{}
		}
	case decideContinue:
		*p = proc{}
	}
	did(label{}, s, true)
}

// possible: the word is possible on what is listed. While a call may be under way, none is.
func (m *model) possible(s *state, w word, e uint8, r receipt) bool {
	o := r.outcome()
	if o != held && o != superseded || r.has(attempt) && s.late&(1<<(e-1)) == 0 {
		return false
	}
	switch w {
	case release:
		return o == held
	case declare:
		return o == held && r.has(attempt)
	}
	return true
}

func (m *model) decided(s *state, p *proc) {
	e := p.at
	r := s.receipt(e)
	switch p.word {
	case release:
		if r.has(attempt) {
			s.excused |= 1 << (e - 1)
			r &^= attempt
		} else {
			r |= answered
		}
		r = r.with(released)
	case declare:
		r = r.with(applied) &^ attempt
	default:
		r = r.with(ignored) &^ attempt
	}
	s.put(e, r)
}

// decideStream is a decision on the stream: a compare-and-swap on the rev that was read. Pause needs no rev: refused, it is simply
// taken again.
func (m *model) decideStream(s state, who slot, did emit) {
	p := &s.procs[who]
	switch p.pc {
	case idle:
		for _, w := range m.stream {
			if w == pause && !s.cp.paused || w == resume && s.cp.paused {
				m.beginStream(s, who, w, 0, did)
			}
			room := s.cp.version+3 <= maxVersions // for two pages and the end
			if w == reset && s.cp.closing == 0 && s.resets < m.resets && room {
				for _, to := range m.resetTo {
					m.beginStream(s, who, w, to, did)
				}
			}
		}
	case decideWrite:
		if !p.is(cpFresh) {
			*p = proc{}
			did(label{}, s, true)
			return
		}
		m.decidedStream(&s, p)
		s.wroteCheckpoint(p)
		*p = proc{pc: decideContinue}
		did(label{}, s, true) // what an operator began, he ends
	case decideContinue:
		*p = proc{}
		did(label{}, s, true)
	}
}

// beginStream reads the checkpoint that a decision is based on.
func (m *model) beginStream(s state, who slot, w word, to uint8, did emit) {
	p := &s.procs[who]
	*p = proc{pc: decideWrite, word: w, num: to, bits: cpFresh}
	if s.page(min(s.cp.version, maxVersions)).exists() {
		p.done = 1
	}
	if !m.breaks.resetUnseen {
		p.done = 0
	}
	if w == reset && m.breaks.resetInOneStep {
		m.decidedStream(&s, p)
		s.wroteCheckpoint(p)
		*p = proc{}
		did(label{word: w, a: to}, s, false)
		return
	}
	did(label{word: w, a: to}, s, w == resume)
}

// decidedStream is the checkpoint after the word. A reset passes the page of its version whether or not one was seen open.
func (m *model) decidedStream(s *state, p *proc) {
	switch p.word {
	case pause:
		s.cp.paused = true
	case resume:
		s.cp.paused = false
	case reset:
		if !m.breaks.resetUnseen || p.done != 0 {
			s.cp.closing = s.cp.version
		}
		s.cp.version++
		s.cp.cursor, s.cp.floorOpen = p.num, true
		s.resets++
		s.skipped |= m.all &^ m.reachable(p.num)
	}
}

// reachable gives the events that the source still shows from a cursor on.
func (m *model) reachable(from uint8) (events uint8) {
	seen := uint8(0)
	for todo := uint8(1) << from; todo&^seen != 0; {
		for i, a := range m.answers {
			if i != 0 && todo&(1<<a.at) != 0 {
				seen |= 1 << a.at
				todo |= 1 << a.next
				events |= a.events
			}
		}
	}
	return events
}

// readAhead fetches with the pending cursor of the open page, once, and puts what it got a while later.
func (m *model) readAhead(s state, who slot, did emit) {
	p := &s.procs[who]
	switch p.pc {
	case idle:
		pg := *s.page(s.cp.version)
		if !pg.exists() || s.cp.closing != 0 {
			return
		}
		next := m.answers[pg.answer].next
		for i, a := range m.answers {
			if i != 0 && a.at == next && a.events != 0 {
				to := s
				to.procs[who] = proc{pc: aheadPut, v: s.cp.version + 1, cursor: next, num: s.resets, answer: uint8(i)}
				did(label{a: uint8(i)}, to, true)
			}
		}
		return
	case aheadPut:
		if s.spool.answer == 0 {
			s.spool = spoolEntry{p.v, p.cursor, p.num, p.answer}
		}
		*p = proc{pc: aheadDone}
	default:
		return
	}
	did(label{}, s, true)
}

// lose takes a message away.
func (m *model) lose(s state, yield emit) {
	for k := range uint8(maxChunks) {
		for v := uint8(1); v <= maxVersions; v++ {
			if s.messages[k]&(1<<v) != 0 {
				to := s
				to.messages[k] &^= 1 << v
				yield(label{who: queue, step: lose, a: v, b: k}, to, false)
			}
		}
	}
}
