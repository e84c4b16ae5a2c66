package handofftest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func cancelCases() []testCase {
	return []testCase{
		{"WritesWriteNothing", cancelledWrites},
		{"ReadsProveNothing", cancelledReads},
		{"MidwayTellsNoLies", cancelledMidway},
	}
}

// cancelledWrites: a call that is over before it begins is neither done nor refused, and leaves no trace.
func cancelledWrites(r *rig) {
	r.scene()
	r.done(r.state.PutSpool(r.ctx, sampleSpool(r.stream, 2)))
	_, err := r.state.AddStart(r.ctx, r.stream, 1, 0, handoff.Start{Token: "a", At: at(1)})
	r.done(err)
	before := r.snapshot()
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	s, st := r.stream, r.state
	for name, write := range map[string]func() error{
		"Commit":     func() error { tx := r.all(); tx.Stream = s; return st.Commit(ctx, tx) },
		"Settle":     func() error { return st.Settle(ctx, s, []handoff.Settlement{r.item("new", count("d"))})[0].Err },
		"MarkChunk":  func() error { _, err := st.MarkChunk(ctx, s, 1, 3); return err },
		"MarkDriven": func() error { return st.MarkDriven(ctx, s, 1, 0, 1, at(1)) },
		"AddStart": func() error {
			_, err := st.AddStart(ctx, s, 1, 0, handoff.Start{Token: "b", At: at(2)})
			return err
		},
		"RemoveStart": func() error { return st.RemoveStart(ctx, s, 1, 0, "a") },
		"PutSpool":    func() error { return st.PutSpool(ctx, handoff.SpoolEntry{Stream: s, Version: 3, FetchedAt: at(1)}) },
		"DropSpool":   func() error { return st.DropSpool(ctx, s, 2) },
	} {
		r.notJudged(name, write())
	}
	r.same("what is stored after cancelled writes", r.snapshot(), before)
	r.starts(1, 0, handoff.Start{Token: "a", At: at(1)}, "a")
}

// notJudged: a cancelled call must not claim to know.
func (r *rig) notJudged(name string, err error) {
	r.Helper()
	if err == nil || errors.Is(err, handoff.ErrRefused) || errors.Is(err, handoff.ErrNotFound) {
		r.Errorf("%s, cancelled: got %v, want an error that is neither refused nor not found", name, err)
	}
}

func cancelledReads(r *rig) {
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	s, st := r.stream, r.state
	for name, read := range map[string]func() error{
		"Checkpoint":   func() error { _, err := st.Checkpoint(ctx, s); return err },
		"Streams":      func() error { _, err := st.Streams(ctx); return err },
		"Page":         func() error { _, err := st.Page(ctx, s, 1); return err },
		"Directory":    func() error { _, err := st.Directory(ctx, s, 1); return err },
		"ListPages":    func() error { _, err := st.ListPages(ctx, s, 0, 1); return err },
		"Spool":        func() error { _, err := st.Spool(ctx, s, 1); return err },
		"Receipts":     func() error { _, err := st.Receipts(ctx, s, []handoff.ReceiptKey{key("e")}, false); return err },
		"HeldReceipts": func() error { _, _, err := st.HeldReceipts(ctx, s, "", 1); return err },
		"ListReceipts": func() error { _, _, err := st.ListReceipts(ctx, s, "", 1); return err },
		"Doc":          func() error { _, err := st.Doc(ctx, s, "d"); return err },
		"ListDocs":     func() error { _, _, err := st.ListDocs(ctx, s, "", 1); return err },
		"Decision":     func() error { _, err := st.Decision(ctx, s, "d"); return err },
		"Audits":       func() error { _, _, err := st.Audits(ctx, s, "", 1); return err },
	} {
		r.notJudged(name, read())
	}
}

// cancelledMidway: cancelled at any moment, done means stored, refused means not by us; and the store goes on working for others.
func cancelledMidway(r *rig) {
	ctx, cancel := context.WithCancel(r.ctx)
	var finished atomic.Int64
	results := make([]handoff.SettleResult, 4*racers)
	together(len(results), func(i int) {
		results[i] = r.state.Settle(ctx, r.stream, []handoff.Settlement{r.item(fmt.Sprintf("e%03d", i), count("d"))})[0]
		if finished.Add(1) == racers {
			cancel()
		}
	})
	cancel()
	stands := 0
	for i, res := range results {
		_, ok := r.receipt(key(fmt.Sprintf("e%03d", i)))
		if ok {
			stands++
		}
		switch {
		case res.Err == nil && !ok:
			r.Errorf("settlement %d is done, but nothing stands", i)
		case errors.Is(res.Err, handoff.ErrRefused):
			r.Errorf("settlement %d is refused, but nothing was in its way", i)
		}
	}
	r.fields("d", fmt.Sprintf(`{"n":%d}`, stands))
	r.settled(r.item("after", count("after")))
	r.fields("after", `{"n":1}`)
}
