package model

// The invariants of DESIGN §2, by name. I10 is checked by the explorer: the goal can be reached from every state. I11 (two streams never
// touch each other) has nothing to break here: the model has one stream.

// broken gives the invariant that a state breaks.
func (m *model) broken(s state) string {
	for v := uint8(1); v <= maxVersions; v++ {
		pg := *s.page(v)
		if !pg.exists() {
			continue
		}
		if pg.flags&archived == 0 {
			return "I9: a page is open whose events are not in the archive"
		}
		if v > s.cp.version {
			return "I8: a page is ahead of the checkpoint"
		}
		promoted := v < s.cp.version && v != s.cp.closing && !pg.is(abandoned)
		if promoted && (!m.settled(pg) || !m.terminal(&s, pg.mask)) {
			return "I1: a page was promoted with an event that is not terminal"
		}
		for k, lane := range m.chunks(pg) {
			for _, e := range lane {
				if pg.is(1<<k) && !s.receipt(e).outcome().terminal() {
					return "I5: a chunk counts as done with an event that is not terminal"
				}
			}
		}
	}
	return m.brokenEvent(&s)
}

func (m *model) brokenEvent(s *state) string {
	for e := uint8(1); e <= maxEvents; e++ {
		bit, o := uint8(1)<<(e-1), s.receipt(e).outcome()
		if m.all&bit == 0 {
			continue
		}
		if e <= s.cp.applied && !o.terminal() && o != superseded && s.skipped&bit == 0 {
			return "I2: the applied position passed an event that is not terminal"
		}
		if n := s.effects[e-1]; n > 1 && s.excused&bit == 0 {
			return "I4: an event took effect twice"
		}
	}
	return ""
}

func (m *model) terminal(s *state, mask uint8) bool {
	for e := uint8(1); e <= maxEvents; e++ {
		if mask&(1<<(e-1)) != 0 && !s.receipt(e).outcome().terminal() {
			return false
		}
	}
	return true
}

// brokenBy gives the invariant that a transition breaks.
func (m *model) brokenBy(from state, l label, to state) string {
	if to.cp.applied < from.cp.applied {
		return "I2: the applied position decreased"
	}
	if why := m.brokenFence(&from, l, &to); why != "" {
		return why
	}
	for v := uint8(1); v <= maxVersions; v++ {
		was, is := *from.page(v), *to.page(v)
		if was.exists() && (was.answer != is.answer || was.mask != is.mask) {
			return "I8: a second page was opened under one version"
		}
	}
	for e := uint8(1); e <= maxEvents; e++ {
		was, is := from.receipt(e), to.receipt(e)
		if was.outcome().terminal() && is.outcome() != was.outcome() {
			return "I6: a terminal receipt changed"
		}
		backfill := from.skipped&(1<<(e-1)) != 0 && is.stamp() == from.cp.version // what a reset passed over and another went back to
		if to.effects[e-1] > from.effects[e-1] && !m.outside && !backfill && m.overtaken(&from, e) {
			return "I7: an effect happened after a later one of its entity"
		}
	}
	return ""
}

// brokenFence: the cursor moves only with the version, by one, to where the page of that version leads, or by a reset.
func (m *model) brokenFence(from *state, l label, to *state) string {
	if from.cp.version == to.cp.version && from.cp.cursor == to.cp.cursor {
		return ""
	}
	if to.cp.version != from.cp.version+1 {
		return "I3: the cursor moved without the version"
	}
	if l.who == levers {
		return ""
	}
	if a := m.answers[to.page(from.cp.version).answer]; a.at != from.cp.cursor || a.next != to.cp.cursor {
		return "I3: the cursor moved by an answer that was made for another one"
	}
	return ""
}

// overtaken: a later event of the same entity took effect before.
func (m *model) overtaken(s *state, e uint8) bool {
	for f := e + 1; f <= maxEvents; f++ {
		if m.entity[f-1] == m.entity[e-1] && s.effects[f-1] > 0 {
			return true
		}
	}
	return false
}

// stuck names what it is if the goal cannot be reached any more.
const stuck = "I10: no way leads to the end"

// goal: the cursor is at the source's end, nothing is open, and every event is terminal, superseded, or was passed by a reset.
func (m *model) goal(s state) bool {
	if s.cp.cursor != m.end || s.cp.closing != 0 || s.cp.paused || s.page(min(s.cp.version, maxVersions)).exists() {
		return false
	}
	for e := uint8(1); e <= maxEvents; e++ {
		bit, o := uint8(1)<<(e-1), s.receipt(e).outcome()
		if m.all&bit != 0 && !o.terminal() && o != superseded && !(s.skipped&bit != 0 && o == none) {
			return false
		}
	}
	return true
}
