package handofftest

import "github.com/turnleaf/turnleaf/internal/handoff"

func commitCases() []testCase {
	return []testCase{
		{"PageAbsent", func(r *rig) {
			r.start()
			p := r.page(1)
			r.done(r.commit(handoff.Tx{Token: "t1", PageAbsent: 1}))
			r.done(r.commit(handoff.Tx{Token: p.Token, PagePut: &p}))
			r.refused(r.commit(handoff.Tx{Token: "t2", PageAbsent: 1}))
			r.done(r.commit(handoff.Tx{Token: "t3", PageAbsent: 2}))
		}},
		{"PageMarkOnMissingRefused", func(r *rig) {
			r.refused(r.commit(handoff.Tx{Token: "t1", PageMark: &handoff.PageMark{Version: 1, Abandoned: true}}))
			_, err := r.state.Page(r.ctx, r.stream, 1)
			r.notFound(err)
		}},
		{"MarkedAndAbsentRefused", func(r *rig) { // it cannot be both, and that is known before it is asked
			want := r.open(1)
			r.refused(r.commit(handoff.Tx{Token: "t2", PageAbsent: 1, PageMark: &handoff.PageMark{Version: 1, Lost: true}}))
			r.same("the page", r.readPage(1), want)
		}},
		{"PagePutTwiceRefused", func(r *rig) {
			want := r.open(1)
			other := want
			other.Token, other.Chunks = "t2", 3
			r.refused(r.commit(handoff.Tx{Token: "t2", PagePut: &other}))
			r.same("the page that stood", r.readPage(1), want)
		}},
		{"DirectoryTwiceRefused", func(r *rig) {
			want := handoff.Directory{Stream: r.stream, Version: 1, NextCursor: "c1"}
			r.done(r.commit(handoff.Tx{Token: "t1", Directory: &want}))
			r.refused(r.commit(handoff.Tx{Token: "t2", Directory: &handoff.Directory{Stream: r.stream, Version: 1, NextCursor: "other"}}))
			got, err := r.state.Directory(r.ctx, r.stream, 1)
			r.done(err)
			r.same("the directory that stood", got, want)
		}},
		{"DecisionTwiceRefused", func(r *rig) {
			want := handoff.DecisionRecord{ID: "d", Stream: r.stream, Token: "t1", At: at(1)}
			r.done(r.commit(handoff.Tx{Token: "t1", Decision: &want}))
			r.refused(r.commit(handoff.Tx{Token: "t2", Decision: &handoff.DecisionRecord{ID: "d", Stream: r.stream, Token: "t2", At: at(2)}}))
			got, err := r.state.Decision(r.ctx, r.stream, "d")
			r.done(err)
			r.same("the decision that stood", got, want)
			_, err = r.state.Decision(r.ctx, r.stream, "other")
			r.notFound(err)
		}},
		{"AuditTwiceRefused", auditTwice},
		{"EntryReplaced", func(r *rig) {
			r.done(r.commit(handoff.Tx{Token: "t1", Entry: &handoff.StreamEntry{Stream: r.stream, Definition: "one", StartedAt: at(1)}}))
			want := handoff.StreamEntry{Stream: r.stream, Definition: "two", StartedAt: at(2), RetiredAt: at(3)}
			r.done(r.commit(handoff.Tx{Token: "t2", Entry: &want}))
			r.same("entries", r.entries(), []handoff.StreamEntry{want})
		}},
		{"ReceiptGuards", commitReceiptGuards},
	}
}

// auditTwice: the key of an audit record is its time and its decision's id, both.
func auditTwice(r *rig) {
	first := handoff.AuditRecord{ID: "d", At: at(1), Stream: r.stream, Actor: "ada"}
	r.done(r.commit(handoff.Tx{Token: "t1", Audit: &first}))
	other := first
	other.Actor = "bob"
	r.refused(r.commit(handoff.Tx{Token: "t2", Audit: &other}))
	later, beside := first, first
	later.At, beside.ID = at(2), "e"
	r.done(r.commit(handoff.Tx{Token: "t3", Audit: &later}))
	r.done(r.commit(handoff.Tx{Token: "t4", Audit: &beside}))
	got, _, err := r.state.Audits(r.ctx, r.stream, "", 10)
	r.done(err)
	r.same("audits", got, []handoff.AuditRecord{first, beside, later})
}

func commitReceiptGuards(r *rig) {
	k := key(`"e"`)
	put := func(g handoff.Guard, rev uint64) error {
		return r.commit(handoff.Tx{Token: "t", Receipt: &handoff.ReceiptWrite{If: g, Put: r.receiptOf(k, rev)}})
	}
	r.refused(put(atRev(0), 1))
	r.refused(put(atRev(1), 2))
	if _, ok := r.receipt(k); ok {
		r.Fatal("a refused write made a receipt")
	}
	r.done(put(absent(), 1))
	r.refused(put(absent(), 9))
	r.refused(put(atRev(0), 9))
	r.refused(put(atRev(2), 9))
	got, _ := r.receipt(k)
	r.same("the receipt that stood", got, r.receiptOf(k, 1))
	r.done(put(atRev(1), 2))
	got, _ = r.receipt(k)
	r.same("the receipt after", got, r.receiptOf(k, 2))
}
