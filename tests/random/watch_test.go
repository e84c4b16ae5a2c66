package random_test

import (
	"context"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// watch stands right before the store, behind the faults: it sees what is really done, whatever the process is told, and has the
// model judge it.
type watch struct {
	handoff.State
	w *world
	p *process
}

// Commit tells the model of a transaction that was done.
func (s *watch) Commit(ctx context.Context, tx handoff.Tx) error {
	s.p.owns("I11", tx.Stream)
	err := s.State.Commit(ctx, tx)
	if err == nil {
		s.p.st.model.committed(s.p, tx)
	}
	return err
}

// Settle tells it of each receipt.
func (s *watch) Settle(ctx context.Context, stream handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	s.p.owns("I11", stream)
	out := s.State.Settle(ctx, stream, items)
	for i, r := range out {
		if r.Err == nil {
			s.p.st.model.settled(s.p, items[i])
		}
	}
	return out
}

// MarkChunk tells it that a chunk was called done.
func (s *watch) MarkChunk(ctx context.Context, stream handoff.Stream, v handoff.Version, k int) (handoff.Page, error) {
	s.p.owns("I11", stream)
	page, err := s.State.MarkChunk(ctx, stream, v, k)
	if err == nil {
		s.p.st.model.chunkDone(v, k)
	}
	return page, err
}
