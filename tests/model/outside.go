package model

// ownAttempt goes on from a claim: it is read back before the call, and its outcome is settled after it.
func (m *model) ownAttempt(s *state, p *proc) {
	e := m.lane(s, p.v, p.chunk)[p.at]
	if p.pc == claimRead {
		if p.pc = call; !p.stands(e) {
			*p = proc{} // somebody decided, or closed, in between
		}
		return
	}
	old := s.receipt(e)
	if !p.stands(e) {
		// Whatever became of its receipt, the attempt is its own as long as it stands there: a hold as ambiguous, a take-over.
		if old.outcome().terminal() || !old.has(attempt) || p.num != 0 {
			*p = proc{}
			return
		}
		p.fresh |= 1 << (e - 1)
		p.v = max(p.v, old.stamp())
		return
	}
	m.ownOutcome(s, p, e, old)
}

func (m *model) ownOutcome(s *state, p *proc, e uint8, old receipt) {
	_ = old
	_ = p
	_ = s
	_ = e
}

func (m *model) call(s state, who slot, did emit) { _ = who; did(label{}, s, true) }
