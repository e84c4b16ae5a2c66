package handofftest

import "github.com/turnleaf/turnleaf/internal/handoff"

func roundTripCases() []testCase {
	return []testCase{
		{"Checkpoint", eachKind(func(r *rig, p handoff.Position) {
			want := sampleCheckpoint(r.stream, p)
			r.filled(want)
			r.done(r.commit(handoff.Tx{Token: want.Token, Checkpoint: &handoff.CheckpointWrite{If: absent(), Put: &want}}))
			got, err := r.state.Checkpoint(r.ctx, r.stream)
			r.done(err)
			r.same("checkpoint", got, want)
		})},
		{"Directory", eachKind(func(r *rig, p handoff.Position) {
			want := sampleDirectory(r.stream, 12, p)
			r.filled(want)
			r.done(r.commit(handoff.Tx{Token: "t1", Directory: &want}))
			got, err := r.state.Directory(r.ctx, r.stream, 12)
			r.done(err)
			r.same("directory", got, want)
		})},
		{"Receipt", eachKind(receiptComesBack)},
		{"Document", eachKind(documentComesBack)},
		{"Page", func(r *rig) {
			want := samplePage(r.stream, 12)
			r.filled(want)
			r.done(r.commit(handoff.Tx{Token: want.Token, PagePut: &want}))
			r.same("page", r.readPage(12), want)
			list, err := r.state.ListPages(r.ctx, r.stream, 0, 10)
			r.done(err)
			r.same("listed pages", list, []handoff.Page{want})
		}},
		{"StreamEntry", entryComesBack},
		{"Spool", func(r *rig) {
			want := sampleSpool(r.stream, 12)
			r.filled(want)
			r.done(r.state.PutSpool(r.ctx, want))
			got, err := r.state.Spool(r.ctx, r.stream, 12)
			r.done(err)
			r.same("spool", got, []handoff.SpoolEntry{want})
		}},
		{"Start", func(r *rig) {
			want := handoff.Start{Token: oddText, At: at(1)}
			r.filled(want)
			r.open(1)
			got, err := r.state.AddStart(r.ctx, r.stream, 1, 99, want)
			r.done(err)
			r.same("starts", got, []handoff.Start{want})
		}},
		{"DecisionAndAudit", recordsComeBack},
	}
}

// eachKind runs a case once per kind of position, each on a stream of its own.
func eachKind(run func(*rig, handoff.Position)) func(*rig) {
	return func(r *rig) {
		for name, p := range positionKinds(r) {
			r.sub(name, func(r *rig) { run(r, p) })
		}
	}
}

// receiptComesBack on each way that a receipt is read, whole.
func receiptComesBack(r *rig, p handoff.Position) {
	want := sampleReceipt(r.stream, p)
	r.filled(want)
	r.done(r.commit(handoff.Tx{Token: want.Token, Receipt: &handoff.ReceiptWrite{If: absent(), Put: want}}))
	got, _ := r.receipt(want.ReceiptKey)
	r.same("receipt after Commit", got, want)

	want.EventID = `"settled"`
	write := handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: absent(), Put: want}}
	r.settled(write)
	got, _ = r.receipt(want.ReceiptKey)
	r.same("receipt after Settle", got, want)
	old := r.settle(write)[0].Old
	if old == nil {
		r.Fatal("a refusal over a receipt comes without it")
	}
	r.same("receipt that refused", *old, want)

	held, _, err := r.state.HeldReceipts(r.ctx, r.stream, "", 10)
	r.done(err)
	listed, _, err := r.state.ListReceipts(r.ctx, r.stream, "", 10)
	r.done(err)
	for _, list := range [][]handoff.Receipt{held, listed} {
		if len(list) != 2 {
			r.Fatalf("%d receipts are listed, want 2", len(list))
		}
		for _, got := range list {
			want.EventID = got.EventID
			r.same("listed receipt", got, want)
		}
	}
}

func documentComesBack(r *rig, p handoff.Position) {
	want := sampleDoc(r.stream, p)
	r.filled(want)
	r.settled(r.item(`"e"`, sampleChange(p)))
	got, err := r.state.Doc(r.ctx, r.stream, want.Entity)
	r.done(err)
	r.same("document", got, want)
	list, _, err := r.state.ListDocs(r.ctx, r.stream, "", 10)
	r.done(err)
	r.same("listed documents", list, []handoff.Doc{want})
}

func entryComesBack(r *rig) {
	want := sampleEntry(r.stream)
	r.filled(want)
	r.done(r.commit(handoff.Tx{Token: "t1", Entry: &want}))
	r.same("stream entries", r.entries(), []handoff.StreamEntry{want})
}

func recordsComeBack(r *rig) {
	decision, audit := sampleDecision(r.stream), sampleAudit(r.stream)
	r.filled(decision)
	r.filled(audit)
	r.done(r.commit(handoff.Tx{Token: "t1", Decision: &decision, Audit: &audit}))
	got, err := r.state.Decision(r.ctx, r.stream, decision.ID)
	r.done(err)
	r.same("decision", got, decision)
	audits, _, err := r.state.Audits(r.ctx, r.stream, "", 10)
	r.done(err)
	r.same("audits", audits, []handoff.AuditRecord{audit})
}
