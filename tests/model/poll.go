package model

// begin is what a poll remembers of the checkpoint that it goes on from.
func (p *proc) begin(s *state) {
	*p = proc{pc: sweepPage, v: s.cp.version, cursor: s.cp.cursor, num: s.cp.applied, bits: cpFresh}
	if s.cp.paused {
		p.bits |= paused
	}
}

// current: the checkpoint that was read again is what the fetch was made for (handoff.current).
func (p *proc) current(s *state) bool {
	return s.cp.version == p.v && s.cp.cursor == p.cursor && !s.cp.paused
}

// finish ends a fetch. A cached answer is dropped, whatever came of it.
func (p *proc) finish() {
	if p.is(cached) {
		*p = proc{pc: unspool, v: p.v}
		return
	}
	*p = proc{}
}

// poll is handoff.Engine.Poll: finish a reset, sweep the open page, or fetch one page. A tick comes at any time, and so do hints
// to poll, which it contains; a lease may be over at any time.
func (m *model) poll(s state, who slot, did emit) {
	p := &s.procs[who]
	switch p.pc {
	case idle:
		if s.cp.closing != 0 {
			*p = proc{pc: closePage, v: s.cp.closing, bits: cpFresh}
		} else {
			p.begin(&s)
		}
	case closePage, closeDirectory, closeChunk, closeReceipts, closeSettle, closeWrite, closeAgain:
		m.close(&s, p)
	case sweepPage:
		m.sweep(&s, p)
	case driveBegin, driveSend, driveEnd, prefixDirectory, prefixChunks, prefixReceipts, prefixWrite, prefixAgain:
		m.drive(&s, p)
	case promoteRead, promoteDirectory, promoteWrite, promoteAgain, promoteContinue:
		m.promote(&s, p)
	case ask:
		m.ask(s, who, did)
		return
	default:
		m.fetch(&s, p)
	}
	did(label{}, s, true)
}

// sweep looks for an open page: settled, it is promoted; else it may be driven. Without one, the source is asked.
func (m *model) sweep(s *state, p *proc) {
	pg := *s.page(p.v)
	switch {
	case pg.exists() && (m.settled(pg) || m.breaks.promoteUnsettled):
		*p = proc{pc: promoteRead, v: p.v}
		if pg.is(abandoned) {
			*p = proc{}
		}
	case pg.exists() && m.breaks.neverDrive:
		*p = proc{}
	case pg.exists():
		*p = proc{pc: driveBegin, v: p.v, num: p.num, done: pg.flags & doneBits, bits: p.bits&cpFresh | pageFresh}
	case p.is(paused):
		*p = proc{}
	default:
		*p = proc{pc: readSpool, v: p.v, cursor: p.cursor, bits: p.bits & cpFresh}
	}
}

// drive sends the open chunks again and then moves the prefix.
func (m *model) drive(s *state, p *proc) {
	switch p.pc {
	case driveBegin:
		if !p.is(pageFresh) { // another poll drives it
			*p = proc{pc: prefixDirectory, v: p.v, num: p.num, bits: p.bits & cpFresh}
			return
		}
		m.drove(s, p.v)
		*p = proc{pc: driveSend, v: p.v, num: p.num, done: p.done, bits: p.bits & cpFresh}
	case driveSend:
		m.send(s, p.v, p.done)
		*p = proc{pc: driveEnd, v: p.v, num: p.num, bits: p.bits & cpFresh}
	case driveEnd:
		p.pc = prefixDirectory
	case prefixDirectory:
		p.pc = prefixChunks
	case prefixChunks:
		p.pc = prefixReceipts
	case prefixReceipts:
		*p = proc{pc: prefixWrite, v: p.v, num: p.num, at: m.prefix(s, p.v, p.num), bits: p.bits & cpFresh}
		if p.at <= p.num {
			*p = proc{}
		}
	case prefixWrite:
		if !p.is(cpFresh) {
			p.pc = prefixAgain
			return
		}
		s.cp.applied = p.at
		*p = proc{}
		s.wroteCheckpoint(p)
		*p = proc{}
	case prefixAgain:
		p.pc, p.bits = prefixWrite, cpFresh
		if s.cp.version != p.v || s.cp.applied != p.num || s.cp.closing != 0 {
			*p = proc{}
		}
	}
}

// drove marks a page as sent more than once; polls that read it before are refused.
func (m *model) drove(s *state, v uint8) {
	s.page(v).flags |= driven
	for i := range s.procs {
		if q := &s.procs[i]; q.pc == driveBegin && q.v == v {
			q.bits &^= pageFresh
		}
	}
}

// send puts a message for each chunk of a page that was not done when it was looked at.
func (m *model) send(s *state, v, done uint8) {
	for k := range m.chunks(*s.page(v)) {
		if done&(1<<k) == 0 {
			s.messages[k] |= 1 << v
		}
	}
}

// prefix is the end of the contiguous settled beginning of page v.
func (m *model) prefix(s *state, v, from uint8) uint8 {
	for e := uint8(1); e <= maxEvents; e++ {
		if s.page(v).mask&(1<<(e-1)) == 0 {
			continue
		}
		if !s.receipt(e).outcome().terminal() && !m.breaks.prefixOverHolds {
			break
		}
		from = max(from, e)
	}
	return from
}

// ask is where the source says one thing or another.
func (m *model) ask(s state, who slot, did emit) {
	for i, a := range m.answers {
		if i == 0 || a.at != s.procs[who].cursor {
			continue
		}
		to := s
		p := &to.procs[who]
		if *p = (proc{pc: replays, v: p.v, cursor: p.cursor, answer: uint8(i), bits: p.bits & cpFresh}); a.events == 0 {
			*p = proc{} // caught up: nothing is written
		}
		did(label{a: uint8(i)}, to, true)
	}
}
