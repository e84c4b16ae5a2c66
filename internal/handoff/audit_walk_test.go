package handoff_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// What looks wrong once, because others wrote between two reads, is no finding.
func TestAuditLooksTwice(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	looks := 0
	found, _ := s.audited(&view{receipt: onReceipt(event(3), func(r *handoff.Receipt) {
		if looks++; looks == 1 {
			r.Outcome = handoff.Released
		}
	})}, handoff.AuditOptions{})
	if looks < 3 || len(found) > 0 {
		t.Errorf("after %d looks: %s", looks, names(found))
	}
}

// What is still wrong while the checkpoint moves at every look is told as changing, and is no violation.
func TestAuditSaysWhatKeptChanging(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	rev := uint64(1000)
	v := view{
		receipt:    onReceipt(event(3), becomes(handoff.Released)),
		checkpoint: func(cp *handoff.Checkpoint) { rev++; cp.Rev = rev },
	}
	found, sum := s.audited(&v, handoff.AuditOptions{})
	if names(found) != "unsettled_event v1 #3" || found[0].Level != handoff.Changed || sum.Changed != 1 || sum.Broken != 0 {
		t.Errorf("found %+v, %+v", found, sum)
	}
	v.T, v.State, v.shelf.Archive, v.shelf.T = t, s.state, s.shelf, t
	broken, err := handoff.New(s.deps(&v, &v.shelf)).CheckInvariants(t.Context(), auditStream)
	if err != nil || len(broken) > 0 {
		t.Errorf("CheckInvariants: %v, %v", broken, err)
	}
}

// Every kind of write that a stream does meanwhile is harmless: the audit begins on one state and ends on another.
func TestAuditOfALiveStream(t *testing.T) {
	t.Parallel()
	s := newTale(t)
	s.b.Policy = holding{}
	steps := 0
	opt := handoff.AuditOptions{Binding: &s.b, Deep: true, Progress: func(handoff.AuditProgress) {
		if steps++; steps%2 == 0 && steps < 40 {
			s.live(steps)
		}
	}}
	s.step()
	for range 12 {
		_, err := s.engine.Audit(t.Context(), auditStream, opt, func(f handoff.Finding) error {
			t.Errorf("%+v", f)
			return nil
		})
		s.must(err)
		s.live(1)
	}
}

// live does the next thing that a stream does: a poll, a delivery, a decision, or now and then a reset.
func (s *tale) live(n int) {
	s.Helper()
	cp, err := s.state.Checkpoint(s.Context(), auditStream)
	s.must(err)
	switch {
	case n%14 == 0 && cp.Closing == 0:
		s.decide(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c0"})
	case len(s.inbox.chunks) > 0:
		m := s.inbox.chunks[0]
		s.inbox.chunks = s.inbox.chunks[1:]
		_, err := s.engine.Apply(s.Context(), s.b, handoff.Delivery{ChunkMessage: m, Receives: 1})
		s.must(err)
	default:
		s.poll()
	}
	held, _, err := s.state.HeldReceipts(s.Context(), auditStream, "", 10)
	s.must(err)
	if n%3 == 0 && len(held) > 0 {
		s.decide(handoff.Decision{Kind: handoff.DecideQuarantine, Event: held[0].ReceiptKey})
	}
}

// What a rule of the archive or of the tables took in its time is no loss; before its time it is.
func TestAuditKnowsWhatMayBeForgotten(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	firstGone := view{noPage: 1, noDir: 1}
	for _, c := range []struct {
		name   string
		view   view
		timing func(*handoff.Timing)
		want   string
	}{
		{"a record that expires", firstGone, func(tm *handoff.Timing) { tm.RecordLife = time.Hour }, ""},
		{"one that never does", firstGone, nil,
			"reset_unrecorded v1; stamp_unknown v1 #1; stamp_unknown v1 #3; stamp_unknown v1 #2; stamp_unknown v1 #4"},
		{"one whose neighbours expire", view{noPage: 1, noDir: 1, page: on(2, func(p *handoff.Page) { p.ExpiresAt = s.clock.now.Add(time.Hour) })}, nil, ""},
		{"a directory that went before its page", view{noDir: 2, page: on(2, func(p *handoff.Page) { p.ExpiresAt = s.clock.now.Add(-time.Hour) })}, nil, ""},
		{"a directory that went too early", view{noDir: 2, page: on(2, func(p *handoff.Page) { p.ExpiresAt = s.clock.now.Add(time.Hour) })}, nil, "no_directory v2"},
		{"an archive that expires", view{shelf: shelf{gone: under("1")}}, func(tm *handoff.Timing) { tm.ArchiveLife = 2 * time.Hour }, ""},
		{"an archive that expires later", view{shelf: shelf{gone: under("1")}}, func(tm *handoff.Timing) { tm.ArchiveLife = 1000 * time.Hour }, "raw_gone v1; events_gone v1"},
		{"the open page's archive never expires", view{shelf: shelf{gone: under("7")}}, func(tm *handoff.Timing) { tm.ArchiveLife = time.Minute }, "raw_gone v7; events_gone v7"},
		{"receipts that expired", view{noReceipt: event(3), dir: onDir(1, func(d *handoff.Directory) { d.ReceiptRetention = time.Hour })}, nil, ""},
		{"receipts that expired too early", view{noReceipt: event(3), dir: onDir(1, func(d *handoff.Directory) { d.ReceiptRetention = 1000 * time.Hour })}, nil,
			"unsettled_event v1 #3"},
		{"receipts of a definition deployed while the page was open", view{noReceipt: event(3), dir: onDir(2, func(d *handoff.Directory) {
			d.ReceiptRetention = time.Hour
		})}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.view.timing = c.timing
			if found, _ := s.audited(&c.view, handoff.AuditOptions{Binding: &s.b}); names(found) != c.want {
				t.Errorf("found %s, want %q\n%+v", names(found), c.want, found)
			}
		})
	}
}

// A list of holds may be a moment behind its receipts: what was written just now is not held against it.
func TestAuditLeavesAListOfHoldsItsMoment(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	justNow := func(r *handoff.Receipt) { r.WrittenAt = s.clock.now.Add(-time.Second) }
	for name, v := range map[string]view{
		"not there yet": {receipt: onReceipt(event(13), justNow), listed: func(rs []handoff.Receipt) []handoff.Receipt {
			return slices.DeleteFunc(rs, func(r handoff.Receipt) bool { return r.EventID == "13" })
		}},
		"still there": {receipt: onReceipt(event(12), justNow), listed: func(rs []handoff.Receipt) []handoff.Receipt {
			return append(rs, handoff.Receipt{ReceiptKey: event(12), Stream: auditStream})
		}},
	} {
		if found, _ := s.audited(&v, handoff.AuditOptions{}); len(found) > 0 {
			t.Errorf("%s: %s", name, names(found))
		}
	}
}

// Machines whose clocks differ may put the record of decisions out of order; a reset is found all the same.
func TestAuditFindsResetsOutOfOrder(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	if found, _ := s.audited(&view{backwards: true}, handoff.AuditOptions{}); len(found) > 0 {
		t.Errorf("found %s", names(found))
	}
}

// Where positions are shared, one settled event at the applied position is enough.
func TestAuditOfSharedPositions(t *testing.T) {
	t.Parallel()
	s := newTale(t)
	s.b.Contract.Unique = false
	s.b.Policy = holding{"3": true}
	s.b.Source = scripted{"c0": {[]row{rowOf(1, "a"), {N: 2, Entity: "a", At: 5}, {N: 3, Entity: "b", At: 5}}, "c1"}}
	s.step()
	s.step()
	cp, err := s.state.Checkpoint(t.Context(), auditStream)
	s.must(err)
	if cp.AppliedPosition.String() != "5" {
		t.Fatalf("the applied position is %s", cp.AppliedPosition)
	}
	if found, _ := s.audited(&view{}, handoff.AuditOptions{Binding: &s.b, Deep: true}); len(found) > 0 {
		t.Errorf("found %s", names(found))
	}
}

// An event that writes no document leaves the position of the one before on it.
func TestAuditOfAnEventWithoutADocument(t *testing.T) {
	t.Parallel()
	s := newTale(t)
	s.b.Effect = tallies{"3": true, "4": true}
	s.step()
	for _, opt := range []handoff.AuditOptions{{}, {Binding: &s.b}} {
		if found, _ := s.audited(&view{}, opt); len(found) > 0 {
			t.Errorf("found %s", names(found))
		}
	}
}

// Documents are not held against receipts that move, nor against receipts that may have expired.
func TestAuditLeavesDocumentsItCannotExplain(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	far, _ := handoff.NumberPosition("777")
	moved := func(d *handoff.Doc) {
		if d.Entity == "b" {
			d.Position = far
		}
	}
	expiring := view{doc: moved, dir: onDir(1, func(d *handoff.Directory) { d.ReceiptRetention = 1000 * time.Hour })}
	if found, sum := s.audited(&expiring, handoff.AuditOptions{}); len(found) > 0 || sum.Moving {
		t.Errorf("expiring: %s, %+v", names(found), sum)
	}
	reads := uint64(0)
	moving := view{doc: moved, receipt: onReceipt(event(13), func(r *handoff.Receipt) { reads++; r.Rev += reads })}
	if found, sum := s.audited(&moving, handoff.AuditOptions{}); len(found) > 0 || !sum.Moving {
		t.Errorf("moving: %s, %+v", names(found), sum)
	}
}

// A limited audit looks at the pages it is told, at how the first of them was come to, and at receipts where they lead.
func TestAuditOfAPart(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	first := view{receipt: onReceipt(event(3), becomes(handoff.Released))}
	if found, sum := s.audited(&first, handoff.AuditOptions{From: 2}); len(found) > 0 || sum.Pages != 5 || sum.From != 2 {
		t.Errorf("from 2: %s, %+v", names(found), sum)
	}
	into := view{page: on(1, func(p *handoff.Page) { p.NextCursorHash = "0" })}
	if found, _ := s.audited(&into, handoff.AuditOptions{From: 2}); names(found) != "chain_broken v2" {
		t.Errorf("the way into 2: %s", names(found))
	}
	claim := view{receipt: onReceipt(event(13), becomes(handoff.Claimed))}
	if found, sum := s.audited(&claim, handoff.AuditOptions{Last: 1}); names(found) != "claim_without_call v7 #13" || sum.Pages != 1 {
		t.Errorf("the last: %s, %+v", names(found), sum)
	}
	if _, sum := s.audited(&view{}, handoff.AuditOptions{Last: 100}); sum.Pages != 6 || sum.From != 0 {
		t.Errorf("the last of more than there are: %+v", sum)
	}
}

func TestAuditTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	var told []handoff.AuditProgress
	_, sum := s.audited(&view{}, handoff.AuditOptions{Progress: func(p handoff.AuditProgress) { told = append(told, p) }})
	if told[0].Pages != 1 || told[0].Versions != 7 || told[5].Pages != 6 || told[5].Stage != "pages" {
		t.Errorf("told %+v", told)
	}
	if last := told[len(told)-1]; last.Stage != "documents" || last.Receipts != sum.Receipts {
		t.Errorf("at the end: %+v", last)
	}
}

// Whoever is told may end it.
func TestAuditEndsWhenNobodyListens(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	s.shelf.gone = func(string) bool { return true }
	deaf := errors.New("nobody listens")
	calls := 0
	_, err := s.engine.Audit(t.Context(), auditStream, handoff.AuditOptions{}, func(handoff.Finding) error { calls++; return deaf })
	if !errors.Is(err, deaf) || calls != 1 || !strings.Contains(err.Error(), "audit feed: version 1: ") {
		t.Errorf("%d calls, %v", calls, err)
	}
}
