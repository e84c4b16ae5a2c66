package handofftest

import (
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// atomicCases break one part of a transaction that has them all: then nothing of the others may be written.
func atomicCases() []testCase {
	breaks := []struct {
		name  string
		spoil func(r *rig, tx *handoff.Tx)
	}{
		{"CheckpointRev", func(_ *rig, tx *handoff.Tx) { tx.Checkpoint.If = atRev(7) }},
		{"CheckpointAbsent", func(_ *rig, tx *handoff.Tx) { tx.Checkpoint.If = absent() }},
		{"CheckOnly", func(_ *rig, tx *handoff.Tx) { tx.Checkpoint = &handoff.CheckpointWrite{If: atRev(7)} }},
		{"PageAbsent", func(_ *rig, tx *handoff.Tx) { tx.PageAbsent = 5 }},
		{"PageMark", func(_ *rig, tx *handoff.Tx) { tx.PageMark.Version = 9 }},
		{"PagePut", func(r *rig, tx *handoff.Tx) { p := r.page(5); p.Token = "t-all"; tx.PagePut = &p }},
		{"Directory", func(r *rig, tx *handoff.Tx) {
			tx.Directory = &handoff.Directory{Stream: r.stream, Version: 5, NextCursor: "other"}
		}},
		{"ReceiptRev", func(_ *rig, tx *handoff.Tx) { tx.Receipt.If = atRev(7) }},
		{"ReceiptMissing", func(_ *rig, tx *handoff.Tx) { tx.Receipt.Put.EventID = `"none"` }},
		{"ReceiptAbsent", func(_ *rig, tx *handoff.Tx) { tx.Receipt.If = absent() }},
		{"Audit", func(r *rig, tx *handoff.Tx) { tx.Audit.ID, tx.Audit.At = "d0", at(0) }},
		{"Decision", func(_ *rig, tx *handoff.Tx) { tx.Decision.ID = "d0" }},
	}
	cases := []testCase{{"Whole", wholeIsWritten}}
	for _, b := range breaks {
		cases = append(cases, testCase{b.name, func(r *rig) {
			r.scene()
			before := r.snapshot()
			tx := r.all()
			b.spoil(r, &tx)
			r.refused(r.commit(tx))
			r.same("what is stored after a refusal", r.snapshot(), before)
		}})
	}
	return cases
}

// scene is what stands before the transaction: rev 1 of a checkpoint and a receipt, page 1 to be marked, and page 5, its directory,
// and decision d0, to collide with.
func (r *rig) scene() {
	r.Helper()
	r.start()
	r.open(1)
	five := r.page(5)
	r.done(r.commit(handoff.Tx{
		Token: five.Token, PagePut: &five, Directory: &handoff.Directory{Stream: r.stream, Version: 5, NextCursor: "c5"},
		Entry: &handoff.StreamEntry{Stream: r.stream, Definition: "old", StartedAt: at(0)},
		Audit: &handoff.AuditRecord{ID: "d0", At: at(0), Stream: r.stream, Actor: "ada"}, Decision: &handoff.DecisionRecord{ID: "d0", Stream: r.stream},
		Receipt: &handoff.ReceiptWrite{If: absent(), Put: r.receiptOf(key(`"e"`), 1)},
	}))
}

// all is a transaction with every part, of which each holds on the scene.
func (r *rig) all() handoff.Tx {
	p := r.page(3)
	p.Token = "t-all"
	rec := r.receiptOf(key(`"e"`), 2)
	rec.Token = "t-all"
	return handoff.Tx{
		Token: "t-all",
		Entry: &handoff.StreamEntry{Stream: r.stream, Definition: "new", StartedAt: at(0)},
		Checkpoint: &handoff.CheckpointWrite{If: atRev(1), Put: &handoff.Checkpoint{
			Stream: r.stream, ResumeCursor: "c1", Version: 2, Rev: 2, Token: "t-all", StartedAt: at(0), UpdatedAt: at(2),
		}},
		PageAbsent: 2, PageMark: &handoff.PageMark{Version: 1, Abandoned: true}, PagePut: &p,
		Directory: &handoff.Directory{Stream: r.stream, Version: 3, NextCursor: "c3"},
		Receipt:   &handoff.ReceiptWrite{If: atRev(1), Put: rec},
		Audit:     &handoff.AuditRecord{ID: "d1", At: at(1), Stream: r.stream, Actor: "bob"},
		Decision:  &handoff.DecisionRecord{ID: "d1", Stream: r.stream, Token: "t-all"},
	}
}

func wholeIsWritten(r *rig) {
	r.scene()
	tx := r.all()
	want := r.snapshot()
	marked := want.Pages[0]
	marked.Abandoned = true
	want.Checkpoint, want.Entries = *tx.Checkpoint.Put, []handoff.StreamEntry{*tx.Entry}
	want.Pages = []handoff.Page{marked, *tx.PagePut, want.Pages[1]}
	want.Directories = []handoff.Directory{*tx.Directory, want.Directories[0]}
	want.Receipts = []handoff.Receipt{tx.Receipt.Put}
	want.Audits = append(want.Audits, *tx.Audit)
	want.Decisions = append(want.Decisions, *tx.Decision)
	r.done(r.commit(tx))
	r.same("what is stored", r.snapshot(), want)
	r.refused(r.commit(tx))
	r.same("what is stored after the repeat", r.snapshot(), want)
}

// stored is what the ports show of one stream.
type stored struct {
	Checkpoint  handoff.Checkpoint
	Entries     []handoff.StreamEntry
	Pages       []handoff.Page
	Directories []handoff.Directory
	Spool       []handoff.SpoolEntry
	Receipts    []handoff.Receipt
	Docs        []handoff.Doc
	Audits      []handoff.AuditRecord
	Decisions   []handoff.DecisionRecord
}

// snapshot reads everything of the stream that the suites use: versions 1 to 9, decisions d0 and d1.
func (r *rig) snapshot() (s stored) {
	r.Helper()
	var err error
	if s.Checkpoint, err = r.state.Checkpoint(r.ctx, r.stream); !missing(err) {
		r.done(err)
	}
	s.Entries = r.entries()
	s.Pages, err = r.state.ListPages(r.ctx, r.stream, 0, 100)
	r.done(err)
	for v := handoff.Version(1); v < 10; v++ {
		d, err := r.state.Directory(r.ctx, r.stream, v)
		if !missing(err) {
			r.done(err)
			s.Directories = append(s.Directories, d)
		}
		entries, err := r.state.Spool(r.ctx, r.stream, v)
		r.done(err)
		s.Spool = append(s.Spool, entries...)
	}
	s.Receipts, _, err = r.state.ListReceipts(r.ctx, r.stream, "", 100)
	r.done(err)
	s.Docs, _, err = r.state.ListDocs(r.ctx, r.stream, "", 100)
	r.done(err)
	s.Audits, _, err = r.state.Audits(r.ctx, r.stream, "", 100)
	r.done(err)
	for _, id := range []string{"d0", "d1"} {
		d, err := r.state.Decision(r.ctx, r.stream, id)
		if !missing(err) {
			r.done(err)
			s.Decisions = append(s.Decisions, d)
		}
	}
	return s
}

// entries gives the listed streams that are this subtest's: a shared backend lists others too.
func (r *rig) entries() []handoff.StreamEntry {
	r.Helper()
	all, err := r.state.Streams(r.ctx)
	r.done(err)
	if !slices.IsSortedFunc(all, func(a, b handoff.StreamEntry) int { return strings.Compare(string(a.Stream), string(b.Stream)) }) {
		r.Errorf("streams are not in order of name")
	}
	var own []handoff.StreamEntry // nil for none, whether or not others share the store
	for _, e := range all {
		if strings.HasPrefix(string(e.Stream), string(r.stream)) {
			own = append(own, e)
		}
	}
	return own
}
