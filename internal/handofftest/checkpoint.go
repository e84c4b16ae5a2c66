package handofftest

import "github.com/turnleaf/turnleaf/internal/handoff"

func checkpointCases() []testCase {
	return []testCase{
		{"MissingIsNotFound", func(r *rig) {
			_, err := r.state.Checkpoint(r.ctx, r.stream)
			r.notFound(err)
		}},
		{"AbsentRefusedWhereOneStands", absentCheckpointRefused},
		{"RevRefusedWhereNoneStands", func(r *rig) {
			cp := handoff.Checkpoint{Stream: r.stream, Version: 1, Rev: 2}
			r.refused(r.commit(handoff.Tx{Token: "t", Checkpoint: &handoff.CheckpointWrite{If: atRev(1), Put: &cp}}))
			_, err := r.state.Checkpoint(r.ctx, r.stream)
			r.notFound(err)
		}},
		{"RevMovesAndStaleRefused", revMoves},
		{"TokenReadBack", tokenReadBack},
		{"CheckOnly", checkOnly},
		{"CheckOnlyAbsent", checkOnlyAbsent},
	}
}

func absentCheckpointRefused(r *rig) {
	cp := r.start()
	other := cp
	other.ResumeCursor, other.Token = "other", "t2"
	r.refused(r.commit(handoff.Tx{Token: "t2", Checkpoint: &handoff.CheckpointWrite{If: absent(), Put: &other}}))
	got, err := r.state.Checkpoint(r.ctx, r.stream)
	r.done(err)
	r.same("the checkpoint that stood", got, cp)
}

func revMoves(r *rig) {
	cp := r.start()
	next := cp
	next.Rev, next.Version, next.ResumeCursor = 2, 2, "c1"
	write := handoff.Tx{Token: "t2", Checkpoint: &handoff.CheckpointWrite{If: atRev(1), Put: &next}}
	r.done(r.commit(write))
	stale := next
	stale.ResumeCursor = "stale"
	for _, rev := range []uint64{0, 1, 3} {
		stale.Rev = rev + 1
		r.refused(r.commit(handoff.Tx{Token: "t3", Checkpoint: &handoff.CheckpointWrite{If: atRev(rev), Put: &stale}}))
	}
	r.refused(r.commit(write)) // the repeat after success
	got, err := r.state.Checkpoint(r.ctx, r.stream)
	r.done(err)
	r.same("the checkpoint after stale writes", got, next)
}

// tokenReadBack: after an unknown answer the token tells whose write stands, so it is there at once.
func tokenReadBack(r *rig) {
	cp := r.start()
	p := r.page(1)
	p.Token = "t-2"
	cp.Rev, cp.Token = 2, "t-2"
	d := handoff.DecisionRecord{ID: "d1", Stream: r.stream, Token: "t-2", RequestHash: "h", At: at(2)}
	rec := r.receiptOf(key(`"e"`), 1)
	rec.Token = "t-2"
	r.done(r.commit(handoff.Tx{
		Token: "t-2", Checkpoint: &handoff.CheckpointWrite{If: atRev(1), Put: &cp}, PagePut: &p, Decision: &d,
		Receipt: &handoff.ReceiptWrite{If: absent(), Put: rec},
	}))
	got, err := r.state.Checkpoint(r.ctx, r.stream)
	r.done(err)
	dec, err := r.state.Decision(r.ctx, r.stream, "d1")
	r.done(err)
	back, _ := r.receipt(rec.ReceiptKey)
	r.same("tokens", []string{got.Token, r.readPage(1).Token, dec.Token, back.Token}, []string{"t-2", "t-2", "t-2", "t-2"})
}

// checkOnly is a condition without a write: it lets the rest of the transaction pass or fail, and changes nothing itself.
func checkOnly(r *rig) {
	cp := r.start()
	one, two := r.page(1), r.page(2)
	r.done(r.commit(handoff.Tx{Token: "t-page", Checkpoint: &handoff.CheckpointWrite{If: atRev(1)}, PagePut: &one}))
	r.refused(r.commit(handoff.Tx{Token: "t-page", Checkpoint: &handoff.CheckpointWrite{If: atRev(2)}, PagePut: &two}))
	r.refused(r.commit(handoff.Tx{Token: "t-page", Checkpoint: &handoff.CheckpointWrite{If: absent()}, PagePut: &two}))
	got, err := r.state.Checkpoint(r.ctx, r.stream)
	r.done(err)
	r.same("the checkpoint that was only checked", got, cp)
	r.same("the page of the check that held", r.readPage(1), one)
	_, err = r.state.Page(r.ctx, r.stream, 2)
	r.notFound(err)
}

func checkOnlyAbsent(r *rig) {
	one, two := r.page(1), r.page(2)
	r.done(r.commit(handoff.Tx{Token: "t-page", Checkpoint: &handoff.CheckpointWrite{If: absent()}, PagePut: &one}))
	r.refused(r.commit(handoff.Tx{Token: "t-page", Checkpoint: &handoff.CheckpointWrite{If: atRev(0)}, PagePut: &two}))
	_, err := r.state.Checkpoint(r.ctx, r.stream)
	r.notFound(err)
	_, err = r.state.Page(r.ctx, r.stream, 2)
	r.notFound(err)
}
