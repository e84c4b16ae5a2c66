package model

// fetch finds an answer, judges which of its events are new, and opens or turns a page.
func (m *model) fetch(s *state, p *proc) {
	switch p.pc {
	case readSpool:
		p.pc = ask
		if e := s.spool; m.usable(e, p, s.resets) {
			p.pc, p.answer, p.bits = readRaw, e.answer, p.bits|cached
		}
	case readRaw:
		p.pc = replays
	case replays:
		m.hear(s, p)
	case archiveRaw:
		p.pc = archiveMeta
	case archiveMeta:
		p.pc, p.bits = archiveEvents, p.bits|rawKept
		if p.mask == 0 {
			p.pc = turn
		}
	case archiveEvents, open, openPage, openAgain, openSend, lateArchive:
		m.open(s, p)
	case turn, turnAgain, turnPage:
		m.turn(s, p)
	case unspool:
		if s.spool.version == p.v {
			s.spool = spoolEntry{}
		}
		*p = proc{}
	}
}

// usable: the cached answer was made for this version, this very cursor and this epoch.
func (m *model) usable(e spoolEntry, p *proc, epoch uint8) bool {
	return e.answer != 0 && e.version == p.v && (m.breaks.spoolAnyCursor || e.cursor == p.cursor && e.epoch == epoch)
}

// hear drops proven replays. What is left makes a page; nothing left, and the page is turned at once.
func (m *model) hear(s *state, p *proc) {
	p.mask = 0
	for e := uint8(1); e <= maxEvents; e++ {
		if m.answers[p.answer].events&(1<<(e-1)) != 0 && !s.receipt(e).outcome().terminal() {
			p.mask |= 1 << (e - 1)
		}
	}
	switch {
	case m.breaks.archiveLate && p.mask != 0:
		p.pc = open
	case !p.is(cached):
		p.pc = archiveRaw
	case p.mask != 0:
		p.pc, p.bits = archiveEvents, p.bits|rawKept
	default:
		p.pc, p.bits = turn, p.bits|rawKept
	}
}

// open is one transaction: page and directory where none is, while the checkpoint's rev stands. Refused, it looks who was faster.
func (m *model) open(s *state, p *proc) {
	switch p.pc {
	case archiveEvents:
		p.pc = open
	case open:
		if !(p.is(cpFresh) || m.breaks.openUnconditioned) || s.page(p.v).exists() {
			p.pc = openPage
			return
		}
		*s.page(p.v) = page{answer: p.answer, mask: p.mask}
		if p.is(rawKept) {
			s.page(p.v).flags |= archived
		}
		if s.cp.floorOpen { // the floor rises to the page's lowest: then, and only then, the checkpoint is written
			s.cp.floorOpen = false
			s.wroteCheckpoint(p)
		}
		*p = proc{pc: openSend, v: p.v, bits: p.bits & cached}
		if m.breaks.archiveLate {
			p.pc = lateArchive
		}
	case openPage:
		if p.pc = openAgain; s.page(p.v).exists() {
			p.finish()
		}
	case openAgain:
		if !p.current(s) {
			p.finish()
			return
		}
		p.pc, p.bits = open, p.bits|cpFresh
	case lateArchive:
		s.page(p.v).flags |= archived
		p.pc = openSend
	case openSend:
		m.send(s, p.v, 0)
		p.finish()
	}
}

// turn promotes a page of replays in one transaction.
func (m *model) turn(s *state, p *proc) {
	switch p.pc {
	case turn:
		if !p.is(cpFresh) || s.page(p.v).exists() {
			p.pc = turnAgain
			return
		}
		*s.page(p.v) = page{answer: p.answer, flags: archived}
		m.advance(s, p.answer)
		keep := p.bits & cached
		s.wroteCheckpoint(p)
		*p = proc{pc: promoteContinue, v: p.v, bits: keep}
		if m.answers[s.page(p.v).answer].end {
			p.finish()
		}
	case turnAgain:
		p.pc, p.bits = turnPage, p.bits|cpFresh
		if !p.current(s) {
			p.bits |= passed
		}
	case turnPage:
		if s.page(p.v).exists() || p.is(passed) {
			p.finish()
			return
		}
		p.pc = turn
	}
}

// advance is the checkpoint after an answer's page was turned.
func (m *model) advance(s *state, a uint8) {
	s.cp.cursor = m.answers[a].next
	s.cp.version++
	s.cp.applied = max(s.cp.applied, m.top(a))
}

// promote passes the barrier; polls and applies do the same.
func (m *model) promote(s *state, p *proc) {
	allowed := func() bool {
		return m.breaks.promoteAnyVersion || s.cp.version == p.v && s.cp.cursor == m.answers[s.page(p.v).answer].at
	}
	switch p.pc {
	case promoteRead:
		*p = proc{pc: promoteDirectory, v: p.v, bits: cpFresh}
		if s.cp.version != p.v {
			*p = proc{}
		}
	case promoteDirectory:
		p.pc = promoteWrite
	case promoteWrite:
		if !p.is(cpFresh) {
			p.pc = promoteAgain
			return
		}
		a := s.page(p.v).answer
		m.advance(s, a)
		s.wroteCheckpoint(p)
		*p = proc{pc: promoteContinue}
		if m.answers[a].end || s.cp.paused {
			*p = proc{}
		}
	case promoteAgain:
		p.bits |= cpFresh
		if p.pc = promoteWrite; !allowed() {
			*p = proc{}
		}
	case promoteContinue: // the message asks for nothing that a tick does not
		if p.is(cached) {
			p.finish()
			return
		}
		*p = proc{}
	}
}
