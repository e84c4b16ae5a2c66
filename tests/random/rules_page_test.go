package random_test

import (
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// opened judges a page that was put: I8, I9, and that nothing of the answer was dropped unproven.
func (m *model) opened(tx handoff.Tx) {
	v, dir, cp := tx.PagePut.Version, *tx.Directory, m.cp
	switch {
	case m.leaves[v] != nil:
		m.fail("I8", "page %d was opened twice", v)
		return
	case cp == nil || v != cp.Version || tx.Checkpoint == nil || tx.Checkpoint.If.Rev != cp.Rev:
		m.fail("I8", "page %d was opened, and the checkpoint is not at it", v)
		return
	case cp.Closing != 0:
		m.fail("I8", "page %d was opened while version %d is closing", v, cp.Closing)
	case cp.Status() != handoff.Active:
		m.fail("decision", "page %d was opened while the stream is %s", v, cp.Status())
	case len(cp.Accepts) > 0 && dir.Raw.Digest != cp.Accepts[0].Answer.Digest:
		m.fail("decision", "page %d was opened on another answer than the accepted one", v)
	}
	g, err := m.answerOf(dir.Raw)
	if err != nil {
		m.fail("I9", "page %d was opened, and its answer is not in the archive: %v", v, err)
		return
	}
	if g.cursor != cp.ResumeCursor || dir.RequestCursor != g.cursor || dir.NextCursor != g.leads(m.w.set) {
		m.fail("I3", "page %d was opened from %s to %s, the answer leads from %s to %s", v, dir.RequestCursor, dir.NextCursor, g.cursor, g.leads(m.w.set))
	}
	l := &leaf{v: v, gave: g, applied: cp.AppliedPosition}
	l.owed, _ = g.owes(m.w.set)
	if l.chunks, err = m.chunksOf(dir); err != nil {
		m.fail("I9", "page %d was opened, and its events are not in the archive: %v", v, err)
	}
	m.floorOf(l)
	m.leaves[v] = l
	m.sorted(l)
	m.complete(l)
}

// floorOf: what lies below the applied position of the last reset, or below the first page after it, is a backfill.
func (m *model) floorOf(l *leaf) {
	if m.floorOpen && len(l.chunks) > 0 {
		var lowest handoff.Position
		for _, o := range l.owed {
			if !o.bad && !o.second && !o.pos.IsZero() && (lowest.IsZero() || below(o.pos, lowest)) {
				lowest = o.pos
			}
		}
		if !lowest.IsZero() {
			m.floorOpen = false
			if below(m.floor, lowest) {
				m.floor = lowest
			}
		}
	}
	l.floor = m.floor
}

// sorted notes whether the page goes backwards, and which of its events are late: unseen, at or below what is applied, and no backfill.
func (m *model) sorted(l *leaf) {
	var before handoff.Position
	for i := range l.owed {
		o := &l.owed[i]
		if o.bad || o.second || o.pos.IsZero() {
			continue
		}
		l.disorder, l.tied = l.disorder || below(o.pos, before), l.tied || o.pos.Equal(before)
		before = o.pos
		_, known := m.receipts[handoff.ReceiptKey{EventID: o.id}]
		passed := below(o.pos, l.applied) || m.w.set.Order != orderShared && o.pos.Equal(l.applied)
		o.late = passed && !known && !below(o.pos, l.floor)
	}
}

// complete requires that the page has each event of its answer once, in the order of its lanes, no lane on two chunks, and that
// what it lacks is proven settled.
func (m *model) complete(l *leaf) {
	chunkOf, seen := map[string]int{}, map[content]bool{}
	for k, chunk := range l.chunks {
		last := map[string]int{}
		for _, c := range chunk {
			o, i := l.on(c)
			if o == nil || seen[c] {
				m.fail("I9", "page %d has event %s, its answer has not, or not twice", l.v, c.id)
				return
			}
			seen[c] = true
			lane := o.lane(m.w.set)
			if at, ok := chunkOf[lane]; ok && at != k {
				m.fail("I7", "lane %q of page %d lies on chunks %d and %d", lane, l.v, at, k)
			}
			if i < last[lane] {
				m.fail("I7", "lane %q of page %d is not in source order", lane, l.v)
			}
			chunkOf[lane], last[lane] = k, i
		}
	}
	for _, o := range l.owed {
		if !seen[o.content] && !m.terminal(o.content) && !m.proven(l, o) {
			m.fail("I1", "page %d was opened without event %s, which is %s", l.v, o.id, m.status(o.content))
		}
	}
}

// chunkDone: a chunk is done when each of its events is terminal.
func (m *model) chunkDone(v handoff.Version, k int) {
	l := m.leaves[v]
	if l == nil || k >= len(l.chunks) {
		m.fail("I1", "chunk %d of page %d was called done, and does not exist", k, v)
		return
	}
	for _, c := range l.chunks[k] {
		if !m.terminal(c) && !l.abandoned {
			m.fail("I1", "chunk %d of page %d was called done, and event %s is %s", k, v, c.id, m.status(c))
		}
	}
}

// marked judges a page that was abandoned or lost.
func (m *model) marked(tx handoff.Tx) {
	mark := *tx.PageMark
	l := m.leaves[mark.Version]
	if l == nil {
		m.fail("I8", "page %d was marked, and never opened", mark.Version)
		return
	}
	if mark.Lost {
		m.w.met["lost"]++
	}
	if mark.Abandoned && !mark.Lost && m.cp.Closing != mark.Version {
		m.fail("I8", "page %d was abandoned, and closing is %d", mark.Version, m.cp.Closing)
	}
	if mark.Lost && (tx.Audit == nil || tx.Audit.Kind != handoff.DecideLost) {
		m.fail("decision", "page %d was marked lost, and nobody said so", mark.Version)
	}
	l.abandoned, l.lost = l.abandoned || mark.Abandoned, l.lost || mark.Lost
}

// closing judges the attribute that keeps everything shut while a reset is carried out.
func (m *model) closing(old, put handoff.Checkpoint, kind handoff.DecisionKind) {
	switch {
	case put.Closing == old.Closing:
		return
	case old.Closing == 0:
		if kind != handoff.DecideReset {
			m.fail("I8", "version %d began to close without a reset", put.Closing)
		}
		return
	case put.Closing != 0:
		m.fail("I8", "closing went from %d to %d", old.Closing, put.Closing)
	}
	l := m.leaves[old.Closing]
	if l == nil || l.lost {
		return
	}
	if !l.abandoned {
		m.fail("I8", "version %d was closed, and its page is not abandoned", old.Closing)
	}
	for _, o := range l.owed {
		if l.opened(o.content) && !m.passed(l, o) {
			m.fail("I5", "version %d was closed, and event %s is %s", l.v, o.id, m.status(o.content))
		}
	}
}

// passed reports whether a reset has dealt with an event: nothing that still wants to be done is left behind.
func (m *model) passed(l *leaf, o owed) bool {
	over := func(r handoff.Receipt) bool {
		return r.Outcome.Terminal() || r.Outcome == handoff.Superseded || r.Outcome == handoff.Held && r.Attempt != nil || r.PageVersion > l.v
	}
	own, ok := m.receipts[handoff.ReceiptKey{EventID: o.id}]
	second, has := m.receipts[handoff.ReceiptKey{EventID: o.id, Conflict: o.digest}]
	return has && over(second) || ok && own.Digest == o.digest && over(own) || ok && own.Digest != o.digest && !own.Outcome.Terminal()
}

// stops judges halts and pauses: who may set and clear them, and when.
func (m *model) stops(old, put handoff.Checkpoint, kind handoff.DecisionKind, tx handoff.Tx) {
	if put.Paused != old.Paused && !slices.Contains([]handoff.DecisionKind{handoff.DecidePause, handoff.DecideResume, handoff.DecideRetire}, kind) {
		m.fail("decision", "the pause changed without a word of anybody")
	}
	if old.Halt != nil && put.Halt == nil {
		allowed := []handoff.DecisionKind{handoff.DecideResume, handoff.DecideAccept, handoff.DecideReset}
		if !slices.Contains(allowed, kind) || kind == handoff.DecideResume && old.Paused {
			m.fail("decision", "the halt %s was cleared by %q", old.Halt.Reason, kind)
		}
	}
	if old.Halt != nil || put.Halt == nil {
		return
	}
	m.w.met["halt "+string(put.Halt.Reason)]++
	if old.Closing != 0 || m.leaves[old.Version] != nil || old.Paused || put.Version != old.Version || kind != "" {
		m.fail("halt", "%s at version %d, with a page open, closing %d, paused %v", put.Halt.Reason, old.Version, old.Closing, old.Paused)
	}
}
