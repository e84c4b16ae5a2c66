package random_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// standing says where a stream is, for messages.
func (m *model) standing() string {
	if m.cp == nil {
		return "never started"
	}
	text := fmt.Sprintf("version %d, cursor %s, %s, closing %d", m.cp.Version, m.cp.ResumeCursor, m.cp.Status(), m.cp.Closing)
	if m.cp.Halt != nil {
		text += fmt.Sprintf(", halt %s", m.cp.Halt.Reason)
	}
	if l := m.leaves[m.cp.Version]; l != nil {
		for _, o := range l.owed {
			if !m.terminal(o.content) {
				text += fmt.Sprintf(", %s is %s", o.id, m.status(o.content))
			}
		}
	}
	return text
}

// idle reports that nothing is open, nothing is stopped, and the source has nothing more to say.
func (m *model) idle() bool {
	return m.cp != nil && m.cp.Status() == handoff.Active && m.cp.Closing == 0 && m.leaves[m.cp.Version] == nil && m.atEnd()
}

// atEnd reports whether the source has nothing more to say behind the checkpoint's cursor: what it would answer is its end, and settled.
func (m *model) atEnd() bool {
	g := given{reply: m.st.source.page(m.cp.ResumeCursor, m.w.set.Page+1, 0), cursor: m.cp.ResumeCursor, at: m.w.clock.now}
	list, cut := g.owes(m.w.set)
	return g.End && !cut && !slices.ContainsFunc(list, func(o owed) bool { return !m.terminal(o.content) })
}

// covered: nothing was skipped. Every event that stands behind the last reset's place, and was not inserted or uncovered behind the
// reader's back, is settled.
func (m *model) covered() {
	for _, r := range m.st.source.log {
		if r.ord <= m.from || m.st.source.sneaked[r.n] {
			continue
		}
		id := eventOf(m.st.source.show(r), m.w.set).ID
		own, ok := m.receipts[handoff.ReceiptKey{EventID: id}]
		if !ok || !own.Outcome.Terminal() {
			if m.onLostPage(id) || m.w.set.Order == orderWatermark {
				continue
			}
			m.fail("I10", "event %s stands in the source behind %d, and is %q at rest", id, m.from, own.Outcome)
		}
	}
}

func (m *model) onLostPage(id string) bool {
	for _, l := range m.leaves {
		for _, o := range l.owed {
			if l.lost && o.id == id {
				return true
			}
		}
	}
	return false
}

// same: the store holds what the model saw being written, no more and no less (I6).
func (m *model) same() {
	after, n := "", 0
	for {
		rs, next, err := m.w.state.ListReceipts(m.w.ctx, m.st.name, after, 100)
		if err != nil {
			m.fail("store", "%v", err)
			return
		}
		for _, r := range rs {
			n++
			if !reflect.DeepEqual(r, m.receipts[r.ReceiptKey]) {
				m.fail("I6", "the receipt of %s is not what was written: %+v", r.EventID, r)
			}
		}
		if after = next; after == "" {
			break
		}
	}
	if n != len(m.receipts) {
		m.fail("I6", "%d receipts are stored, %d were written", n, len(m.receipts))
	}
	m.counted()
}

// counted compares the documents with the effects that were seen, and both with the receipts: each applied event once, no other at all.
func (m *model) counted() {
	if m.w.set.Effect != effectProjection {
		for id, made := range m.st.sink.made {
			if len(made) > 1+m.allowed[id] {
				m.fail("I4", "the sink has event %s %d times", id, len(made))
			}
		}
		return
	}
	total := 0
	for key, r := range m.receipts {
		applied := r.Outcome == handoff.Applied && r.By == "apply"
		if applied {
			total++
		}
		if key.Conflict == "" && applied != (m.counts[r.EventID] == 1) {
			m.fail("I4", "event %s is %s and was counted %d times", r.EventID, r.Outcome, m.counts[r.EventID])
		}
		doc, err := m.w.state.Doc(m.w.ctx, m.st.name, r.Entity)
		if err != nil && !errors.Is(err, handoff.ErrNotFound) {
			m.fail("store", "%v", err)
		}
		if got := string(doc.Fields["n"+r.EventID]); key.Conflict == "" && applied != (got == "1") {
			m.fail("I4", "event %s is %s, and its document counts %q", r.EventID, r.Outcome, got)
		}
	}
	doc, _ := m.w.state.Doc(m.w.ctx, m.st.name, "all") // absent counts as empty
	if got := string(doc.Fields["total"]); got != fmt.Sprint(total) && !(total == 0 && got == "") {
		m.fail("I4", "%d events are applied, the ledger counts %s", total, got)
	}
}
