package random_test

import (
	"context"
	"fmt"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// watch stands right before the store, behind the faults: it sees what is really done, whatever the process is told, and has the
// model judge it. A write that is adrift is not done when its process hears "unknown": it lands later, on whatever stands then.
type watch struct {
	handoff.State
	w *world
	p *process
}

// adrift sends a write on its way, if the script says so, and reports that nobody knows what came of it.
func (s *watch) adrift(land func(context.Context)) error {
	if !s.p.adrift {
		return nil
	}
	s.p.adrift = false
	s.w.afloat = append(s.w.afloat, land)
	return fmt.Errorf("on its way: %w", handoff.ErrUnknown)
}

// Commit tells the model of a transaction that was done.
func (s *watch) Commit(ctx context.Context, tx handoff.Tx) error {
	s.p.owns("I11", tx.Stream)
	if err := s.adrift(func(ctx context.Context) { _ = s.Commit(ctx, tx) }); err != nil {
		return err
	}
	err := s.State.Commit(ctx, tx)
	if err == nil {
		s.p.st.model.committed(s.p, tx)
	}
	return err
}

// Settle tells it of each receipt.
func (s *watch) Settle(ctx context.Context, stream handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	s.p.owns("I11", stream)
	if err := s.adrift(func(ctx context.Context) { s.Settle(ctx, stream, items) }); err != nil {
		out := make([]handoff.SettleResult, len(items))
		for i := range out {
			out[i].Err = err
		}
		return out
	}
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
	if err := s.adrift(func(ctx context.Context) { _, _ = s.MarkChunk(ctx, stream, v, k) }); err != nil {
		return handoff.Page{}, err
	}
	page, err := s.State.MarkChunk(ctx, stream, v, k)
	if err == nil {
		s.p.st.model.chunkDone(v, k)
	}
	return page, err
}

// actAdrift lets the next write of a process drift.
func (w *world) actAdrift(a, b int) {
	w.strike(a, 1+b%3, func(p *process) {
		p.adrift = true
		w.note("%s %s drifts", p.name, p.pending.Site)
		p.pass("")
		p.adrift = false // it was a write to something else
	})
}

// actLand lets one of the writes that are on their way arrive.
func (w *world) actLand(a, _ int) {
	if n := len(w.afloat); n > 0 {
		i := a % n
		land := w.afloat[i]
		w.afloat = append(w.afloat[:i:i], w.afloat[i+1:]...)
		w.note("a write lands")
		land(w.ctx)
	}
}
