package random_test

import (
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// effect judges an effect that is happening, whatever its kind: the rules let it, and all that comes before it in its lane is settled.
func (m *model) effect(r handoff.Receipt) {
	verdict, freed := (policy{m.w.set}).verdict(r.EventID), m.released[r.EventID]
	if verdict == handoff.VerdictIgnore || verdict == handoff.VerdictQuarantine || verdict == handoff.VerdictHold && !freed[handoff.HoldPolicy] {
		m.fail("I5", "event %s had an effect, and its rule says %s", r.EventID, verdict)
	}
	l := m.leaves[r.PageVersion]
	if l == nil {
		return // said already
	}
	_, at := l.on(content{r.EventID, r.Digest})
	lane := l.laneAt(at, m.w.set)
	for i, o := range l.owed[:at] {
		if l.laneAt(i, m.w.set) == lane && !m.terminal(o.content) && !m.proven(l, o) {
			m.fail("I7", "event %s had an effect before event %s of its lane, which is %s", r.EventID, o.id, m.status(o.content))
		}
	}
}

// laneAt is the lane of the i-th event: a second content is in the lane of the first.
func (l *leaf) laneAt(i int, set setup) string {
	for _, o := range l.owed[:i] {
		if o.id == l.owed[i].id {
			return o.lane(set)
		}
	}
	return l.owed[i].lane(set)
}

// inOrder judges a projection's effect against those that its entity has had (I7).
func (m *model) inOrder(r handoff.Receipt) {
	l := m.leaves[r.PageVersion]
	if l == nil || m.w.set.Lanes == 2 {
		return
	}
	o, at := l.on(content{r.EventID, r.Digest})
	if o == nil || o.bad {
		return
	}
	// What was inserted among events of the near future cannot be known as late: the applied position never passes the time of the fetch.
	ahead := m.w.set.Order == orderTime && m.st.source.sneaked[numberOf(r.EventID)]
	now := mark{r.EventID, o.pos, l.v, at}
	for _, f := range m.order[r.Entity] {
		if f.v < m.resetAt || m.leaves[f.v].lost || ahead || m.wasLate(r.EventID) || below(o.pos, l.floor) || !m.before(now, f) {
			continue
		}
		m.fail("I7", "event %s of page %d had its effect after event %s of page %d", r.EventID, l.v, f.id, f.v)
	}
	m.order[r.Entity] = append(m.order[r.Entity], now)
}

// wasLate reports whether an event came late when it was first seen; on a page after that one it is known.
func (m *model) wasLate(id string) bool {
	for _, l := range m.leaves {
		if slices.ContainsFunc(l.owed, func(o owed) bool { return o.id == id && o.late }) {
			return true
		}
	}
	return false
}

// before reports whether a stands before b in the source's order.
func (m *model) before(a, b mark) bool {
	switch {
	case a.v == b.v:
		return a.index < b.index
	case m.w.set.Order == orderArrival:
		return a.v < b.v
	case m.leaves[a.v].disorder || m.leaves[b.v].disorder:
		return false
	}
	return below(a.pos, b.pos)
}

// called judges an outside call that the sink took. stuck: the process slept between its look at the clock and the call.
func (m *model) called(p *process, e handoff.Event, stuck bool) {
	r, ok := m.receipts[handoff.ReceiptKey{EventID: e.ID}]
	if made, free := len(m.st.sink.made[e.ID]), m.allowed[e.ID]; made > 1+free {
		m.fail("I4", "the sink has event %s %d times; %d unknown attempts were released", e.ID, made, free)
	}
	if stuck {
		return
	}
	if m.w.set.Effect == effectUnsafe && (!ok || r.Outcome != handoff.Claimed || r.Attempt == nil || m.owners[r.Attempt.Token] != p) {
		m.fail("I4", "event %s was sent without a claim of its own: %s", e.ID, r.Outcome)
	}
	// Within its window a call that comes after another one's settlement is harmless: the sink knows the key.
	if m.w.set.Effect == effectWindow && (!ok || r.Attempt == nil && !r.Outcome.Terminal()) {
		m.fail("I4", "event %s was sent without an attempt: %s", e.ID, r.Outcome)
	}
	at := handoff.Receipt{ReceiptKey: e.Key(), Digest: e.Digest, PageVersion: p.version}
	m.effect(at)
}
