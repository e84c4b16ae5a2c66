package random_test

import (
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// settled judges one receipt that was written with its effect.
func (m *model) settled(p *process, s handoff.Settlement) {
	m.receipt(p, s.ReceiptWrite, nil)
	if len(s.Docs) == 0 {
		if s.Put.Outcome == handoff.Applied && m.w.set.Effect == effectProjection {
			m.fail("I4", "event %s is applied without an effect", s.Put.EventID)
		}
		return
	}
	if s.Put.Outcome != handoff.Applied {
		m.fail("I4", "event %s had an effect, and is %s", s.Put.EventID, s.Put.Outcome)
	}
	if m.counts[s.Put.EventID]++; m.counts[s.Put.EventID] > 1 {
		m.fail("I4", "event %s had its effect twice", s.Put.EventID)
	}
	m.effect(s.Put)
	m.inOrder(s.Put)
}

// receipt judges the step from the receipt that stood to the one that was put, by whoever did it.
func (m *model) receipt(p *process, w handoff.ReceiptWrite, audit *handoff.AuditRecord) {
	put := w.Put
	old, had := m.receipts[put.ReceiptKey]
	m.receipts[put.ReceiptKey] = put
	m.writes++
	l := m.leaves[put.PageVersion]
	switch {
	case had && old.Outcome.Terminal():
		m.fail("I6", "event %s was %s and became %s", put.EventID, old.Outcome, put.Outcome)
	case had && put.PageVersion < old.PageVersion:
		m.fail("I8", "the receipt of %s went from page %d back to %d", put.EventID, old.PageVersion, put.PageVersion)
	case l == nil:
		m.fail("I8", "the receipt of %s is of page %d, which never opened", put.EventID, put.PageVersion)
	case had && put.Rev != old.Rev+1:
		m.fail("I6", "the receipt of %s went from rev %d to %d", put.EventID, old.Rev, put.Rev)
	case put.Outcome == handoff.Superseded && put.Attempt != nil:
		m.fail("I4", "event %s is superseded with a call under way", put.EventID)
	case put.Outcome == handoff.Superseded && !l.abandoned && m.cp.Closing != put.PageVersion:
		m.fail("I5", "event %s is superseded, and no reset passed page %d", put.EventID, put.PageVersion)
	case audit != nil:
		m.decided(old, put, *audit)
	case had:
		m.goesOn(p, old, put)
	}
	m.attempts(p, old, put, audit != nil)
	m.reasons(l, put)
	if audit == nil && put.Outcome.Terminal() {
		m.verdict(put)
	}
}

// decided judges an operator's word on an event.
func (m *model) decided(old, put handoff.Receipt, audit handoff.AuditRecord) {
	if old.Attempt != nil && m.w.clock.now.Before(old.Attempt.At.Add(claimLife())) {
		m.fail("I4", "%s of %s while a call may be under way", audit.Kind, put.EventID)
	}
	m.decidedTo(old, put, audit.Kind)
	if audit.Kind != handoff.DecideRelease {
		return
	}
	l := m.leaves[old.PageVersion]
	if old.Outcome != handoff.Held || old.Conflict != "" || old.PageVersion != m.cp.Version || m.cp.Closing != 0 || l == nil || l.abandoned {
		m.fail("I5", "event %s (%s) of page %d was released at version %d, closing %d", put.EventID, old.Outcome, old.PageVersion, m.cp.Version, m.cp.Closing)
	}
	if m.released[put.EventID] == nil {
		m.released[put.EventID] = map[handoff.HoldReason]bool{}
	}
	m.released[put.EventID][old.Reason] = true
	if old.Attempt != nil {
		m.allowed[put.EventID]++
	}
}

// decidedTo requires the outcome that the word means.
func (m *model) decidedTo(old, put handoff.Receipt, kind handoff.DecisionKind) {
	want := map[handoff.DecisionKind]handoff.Outcome{
		handoff.DecideRelease: handoff.Released, handoff.DecideApplied: handoff.Applied, handoff.DecideIgnore: handoff.Ignored,
		handoff.DecideQuarantine: handoff.Quarantined, handoff.DecideRetryNow: handoff.Retrying,
	}[kind]
	switch {
	case put.Outcome != want:
		m.fail("decision", "%s made event %s %s", kind, put.EventID, put.Outcome)
	case kind == handoff.DecideApplied && (old.Reason != handoff.HoldAmbiguous || old.Attempt == nil):
		m.fail("I4", "event %s was declared applied, and nothing was attempted: %s %s", put.EventID, old.Outcome, old.Reason)
	case kind == handoff.DecideRetryNow && old.Outcome != handoff.Retrying:
		m.fail("decision", "event %s was told to try again, and is %s", put.EventID, old.Outcome)
	}
}

func claimLife() time.Duration {
	t := handoff.DefaultTiming()
	return t.FunctionLife + t.Margin
}

// goesOn judges what the protocol itself may make of an event that is not settled (I5).
func (m *model) goesOn(p *process, old, put handoff.Receipt) {
	owner := old.Attempt != nil && (m.w.set.Effect == effectWindow || m.owners[old.Attempt.Token] == p)
	switch {
	case put.By == "close" || owner:
	case old.Outcome == handoff.Held && put.Outcome != handoff.Held:
		m.fail("I5", "event %s was held (%s) and became %s by itself", put.EventID, old.Reason, put.Outcome)
	case old.Outcome == handoff.Held && (put.PageVersion <= old.PageVersion || put.Digest != old.Digest) && put.Reason != handoff.HoldAmbiguous:
		m.fail("I5", "event %s was held (%s) and held again (%s) on page %d", put.EventID, old.Reason, put.Reason, put.PageVersion)
	case old.Outcome == handoff.Superseded && put.PageVersion <= old.PageVersion:
		m.fail("I5", "event %s was superseded with page %d and became %s with it", put.EventID, old.PageVersion, put.Outcome)
	case old.Outcome == handoff.Claimed && m.w.set.Effect == effectUnsafe && m.w.clock.now.Before(old.Attempt.At.Add(claimLife())):
		m.fail("I4", "event %s was claimed by another process, and became %s before its lease was over", put.EventID, put.Outcome)
	case old.Outcome != handoff.Superseded && old.Digest != put.Digest:
		m.fail("I6", "event %s is %s with one content and was written with another", put.EventID, old.Outcome)
	}
}

// attempts: an attempt is begun by a claim, and cleared only by its own settlement or a decision.
func (m *model) attempts(p *process, old, put handoff.Receipt, decision bool) {
	begun := put.Attempt != nil && (old.Attempt == nil || old.Attempt.Token != put.Attempt.Token)
	gone := old.Attempt != nil && (put.Attempt == nil || put.Attempt.Token != old.Attempt.Token)
	if begun {
		m.owners[put.Attempt.Token] = p
		if put.Outcome != handoff.Claimed {
			m.fail("I4", "event %s got an attempt by becoming %s", put.EventID, put.Outcome)
		}
	}
	switch {
	case !gone || decision:
	case m.w.set.Effect == effectWindow:
		// Whoever says "not done" speaks of one call: the sink's own record tells whether another one was.
		if put.Outcome != handoff.Applied && m.st.sink.madeSince(put.EventID, old.Attempt.At) {
			m.fail("I4", "the attempt of %s is gone, it is %s, and the sink has it", put.EventID, put.Outcome)
		}
	case m.owners[old.Attempt.Token] != p:
		m.fail("I4", "the attempt of %s was taken away by %s", put.EventID, p.name)
	}
}

// reasons: a hold has the reason that it names.
func (m *model) reasons(l *leaf, put handoff.Receipt) {
	if put.Outcome != handoff.Held || l == nil {
		return
	}
	if put.Attempt != nil && put.Reason != handoff.HoldAmbiguous {
		m.fail("I4", "event %s carries an attempt, and is held for another reason: %s", put.EventID, put.Reason)
	}
	m.w.met["hold "+string(put.Reason)]++
	o, _ := l.on(content{put.EventID, put.Digest})
	switch put.Reason {
	case handoff.HoldAmbiguous:
		if put.Attempt == nil {
			m.fail("hold", "event %s is held as ambiguous without an attempt", put.EventID)
		}
	case handoff.HoldLate:
		if o != nil && !o.late && !m.wasHeld(put, handoff.HoldLate) {
			m.fail("hold", "event %s is held as late on page %d, and is not", put.EventID, l.v)
		}
	case handoff.HoldPolicy:
		if (policy{m.w.set}).verdict(put.EventID) != handoff.VerdictHold {
			m.fail("hold", "event %s is held by a rule that does not hold it", put.EventID)
		}
	case handoff.HoldInvalidEvent:
		if o != nil && !o.bad {
			m.fail("hold", "event %s is held as invalid, and is not", put.EventID)
		}
	case handoff.HoldIdentityConflict:
		if put.Conflict == "" && !m.onLostPage(put.EventID) { // a first content that a lost page left is listed again
			m.fail("hold", "event %s is held as a second content on its own receipt", put.EventID)
		}
	}
}

// wasHeld reports whether a hold was taken over from an earlier page with its reason.
func (m *model) wasHeld(put handoff.Receipt, why handoff.HoldReason) bool {
	return put.Rev > 1 && put.Reason == why
}

// verdict judges a terminal outcome that nobody decided: the policy's word, and holds that were released.
func (m *model) verdict(put handoff.Receipt) {
	verdict, freed := (policy{m.w.set}).verdict(put.EventID), m.released[put.EventID]
	l := m.leaves[put.PageVersion]
	var o *owed
	if l != nil {
		o, _ = l.on(content{put.EventID, put.Digest})
	}
	switch {
	case l == nil:
	case o == nil:
		m.fail("I9", "event %s is %s on page %d, which does not have it", put.EventID, put.Outcome, put.PageVersion)
	case put.Conflict != "":
		m.fail("I4", "the second content of %s became %s by itself", put.EventID, put.Outcome)
	case o.bad && !freed[handoff.HoldInvalidEvent]:
		m.fail("I5", "the unreadable event %s became %s by itself", put.EventID, put.Outcome)
	case o.late && m.w.set.Late == 0 && !freed[handoff.HoldLate]:
		m.fail("I5", "the late event %s became %s by itself", put.EventID, put.Outcome)
	case put.Outcome == handoff.Ignored && verdict != handoff.VerdictIgnore, put.Outcome == handoff.Quarantined && verdict != handoff.VerdictQuarantine:
		m.fail("I5", "event %s became %s, and its rule says %s", put.EventID, put.Outcome, verdict)
	case put.Outcome == handoff.Applied && m.w.set.Effect != effectProjection && len(m.st.sink.made[put.EventID]) == 0:
		m.fail("I4", "event %s is applied, and its sink has not got it", put.EventID)
	}
}
