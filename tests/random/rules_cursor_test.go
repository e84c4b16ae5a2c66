package random_test

import (
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// committed judges a transaction that was done. The model's own picture still is what stood before it.
func (m *model) committed(p *process, tx handoff.Tx) {
	if tx.Decision != nil {
		m.decision(tx)
	}
	if tx.PagePut != nil {
		m.opened(tx)
	}
	if tx.PageMark != nil {
		m.marked(tx)
	}
	if tx.Receipt != nil {
		m.receipt(p, *tx.Receipt, tx.Audit)
	}
	if tx.Checkpoint != nil && tx.Checkpoint.Put != nil {
		m.checkpoint(*tx.Checkpoint.Put, tx)
	}
}

// decision: each is taken once, and leaves its line in the record.
func (m *model) decision(tx handoff.Tx) {
	if m.decisions[tx.Decision.ID] {
		m.fail("decision", "%s was taken twice", tx.Decision.ID)
	}
	m.decisions[tx.Decision.ID] = true
	if tx.Audit != nil {
		m.w.met["decision "+string(tx.Audit.Kind)]++
	}
	if tx.Audit == nil || tx.Audit.Actor == "" || tx.Audit.Reason == "" || tx.Audit.ID != tx.Decision.ID {
		m.fail("decision", "%s leaves no line of who and why", tx.Decision.ID)
	}
}

// checkpoint judges the step from what stood to what was put.
func (m *model) checkpoint(put handoff.Checkpoint, tx handoff.Tx) {
	old := m.cp
	m.cp = &put
	if old == nil {
		if put.Version != 1 || put.ResumeCursor != token(0, 0) {
			m.fail("I3", "the stream starts at version %d, cursor %s", put.Version, put.ResumeCursor)
		}
		return
	}
	kind := handoff.DecisionKind("")
	if tx.Audit != nil {
		kind = tx.Audit.Kind
	}
	m.position(*old, put, kind)
	switch {
	case put.Version == old.Version:
		if put.ResumeCursor != old.ResumeCursor {
			m.fail("I3", "the cursor went from %s to %s under one version, %d", old.ResumeCursor, put.ResumeCursor, old.Version)
		}
	case put.Version != old.Version+1:
		m.fail("I3", "the version went from %d to %d", old.Version, put.Version)
	case kind == handoff.DecideReset:
		m.reset(*old, put)
	case kind == handoff.DecideLost:
		m.gaveUp(*old, put)
	default:
		m.turned(*old, put)
	}
	m.closing(*old, put, kind)
	m.stops(*old, put, kind, tx)
}

// turned judges a cursor that went on: I1 and I3 against what the source itself remembers of the page.
func (m *model) turned(old, put handoff.Checkpoint) {
	l := m.leaves[old.Version]
	switch {
	case l == nil:
		m.fail("I1", "version %d was turned without a page", old.Version)
		return
	case l.abandoned || l.lost || old.Closing != 0:
		m.fail("I1", "page %d was turned, and a reset had passed it or it was lost", old.Version)
	case old.ResumeCursor != l.gave.cursor:
		m.fail("I3", "the cursor stood at %s, the page was fetched under %s", old.ResumeCursor, l.gave.cursor)
	}
	if want := l.gave.leads(m.w.set); put.ResumeCursor != want {
		m.fail("I3", "page %d leads to cursor %s, the checkpoint went to %s", l.v, want, put.ResumeCursor)
	}
	for _, o := range l.owed {
		if !m.terminal(o.content) && !m.proven(l, o) {
			m.fail("I1", "page %d was turned, and event %s is %s", l.v, o.id, m.status(o.content))
		}
	}
}

// proven is a replay that the source's declared order proves, without a receipt: below the applied position, not below the floor.
func (m *model) proven(l *leaf, o owed) bool {
	return m.w.set.Order == orderWatermark && !o.bad && below(o.pos, l.applied) && !below(o.pos, l.floor)
}

// reset judges an operator's new beginning.
func (m *model) reset(old, put handoff.Checkpoint) {
	switch {
	case old.Closing != 0:
		m.fail("I8", "a reset was taken while version %d is closing", old.Closing)
	case put.Closing != old.Version:
		m.fail("I8", "a reset of version %d leaves closing at %d", old.Version, put.Closing)
	case put.Paused != old.Paused:
		m.fail("decision", "a reset changed the pause")
	case !put.AppliedPosition.Equal(old.AppliedPosition):
		m.fail("I2", "a reset moved the applied position")
	}
	m.resetAt, m.floor, m.floorOpen, m.from = put.Version, old.AppliedPosition, true, afterOf(put.ResumeCursor)
}

// gaveUp judges the word that a page is lost: something must have been, even if somebody has laid it out again meanwhile.
func (m *model) gaveUp(old, put handoff.Checkpoint) {
	l := m.leaves[old.Version]
	if l == nil || m.w.archive.lost == 0 {
		m.fail("I9", "page %d was declared lost, and nothing ever was", old.Version)
		return
	}
	if want := l.gave.leads(m.w.set); put.ResumeCursor != want {
		m.fail("I3", "lost page %d leads to cursor %s, the checkpoint went to %s", l.v, want, put.ResumeCursor)
	}
}

// position judges the applied position: it never falls, and everything up to it is settled (I2).
func (m *model) position(old, put handoff.Checkpoint, kind handoff.DecisionKind) {
	was, is := old.AppliedPosition, put.AppliedPosition
	if is.Equal(was) {
		return
	}
	if below(is, was) || kind != "" {
		m.fail("I2", "the applied position went from %s to %s %s", was, is, kind)
	}
	if t, ok := is.Time(); ok && t.After(m.w.clock.now) {
		m.fail("I2", "the applied position is %s, and it is %s", is, m.w.clock.now)
	}
	l := m.leaves[old.Version]
	if l == nil {
		m.fail("I2", "the applied position moved to %s without a page", is)
		return
	}
	seen := false
	for _, o := range l.owed {
		at := o.pos
		if m.w.set.Order == orderArrival {
			at = l.arrival(o.content)
		}
		if at.IsZero() || below(is, at) {
			continue
		}
		seen = seen || at.Equal(is)
		strict := m.w.set.Order != orderShared && !l.tied || below(at, is)
		if below(was, at) && strict && !o.second && !m.terminal(o.content) && !m.conflicting(o.content) {
			m.fail("I2", "the applied position is %s, and event %s at %s is %s", is, o.id, at, m.status(o.content))
		}
	}
	if !seen {
		m.fail("I2", "the applied position moved to %s, where no event of page %d stands", is, l.v)
	}
}

// conflicting: the id is settled with another content; the second one does not hold the position back.
func (m *model) conflicting(c content) bool {
	own, ok := m.receipts[handoff.ReceiptKey{EventID: c.id}]
	return ok && own.Outcome.Terminal() && own.Digest != c.digest
}

// arrival is where an event of a source without positions stands: its place among those that the page opened with.
func (l *leaf) arrival(c content) handoff.Position {
	index := 0
	for _, o := range l.owed {
		if !l.opened(o.content) {
			continue
		}
		if o.content == c {
			return handoff.ArrivalPosition(l.v, index)
		}
		index++
	}
	return handoff.Position{}
}

// opened reports whether an event is on the page, not dropped as a replay.
func (l *leaf) opened(c content) bool {
	return slices.ContainsFunc(l.chunks, func(chunk []content) bool { return slices.Contains(chunk, c) })
}
