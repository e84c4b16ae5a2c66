package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// State decorates a store. Errors that a fault makes are ErrUnknown or ErrRefused, as the port promises.
func (p *Process) State(inner handoff.State) handoff.State {
	return state{reader{p, inner}, inner}
}

// state decorates the writes, reader the reads.
type state struct {
	reader
	to handoff.State
}

func (s state) Commit(ctx context.Context, tx handoff.Tx) error {
	return s.p.call(ctx, s.p.commitSite(tx), func(ctx context.Context) error {
		if tx.Checkpoint != nil && tx.Checkpoint.Put != nil {
			s.p.saw(*tx.Checkpoint.Put)
		}
		return s.to.Commit(ctx, tx)
	})
}

// Settle: a fault of the whole call is each item's answer, but items that were refused or impossible keep theirs.
func (s state) Settle(ctx context.Context, stream handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	out := make([]handoff.SettleResult, len(items))
	some := func(n int) func(context.Context) error {
		return func(ctx context.Context) error { copy(out, s.to.Settle(ctx, stream, items[:n])); return nil }
	}
	done := 0
	half := func(ctx context.Context) error {
		done = len(items) / 2
		return some(done)(ctx)
	}
	err := s.p.pass(ctx, work{site: settleSite(items), do: some(len(items)), half: half})
	if err == nil {
		return out
	}
	if !errors.Is(err, handoff.ErrRefused) && !errors.Is(err, handoff.ErrUnknown) {
		err = fmt.Errorf("%w: %w", handoff.ErrUnknown, err)
	}
	for i := range out {
		if i >= done && out[i].Err == nil {
			out[i].Err = err
			if errors.Is(err, handoff.ErrRefused) {
				out[i].Old = &items[i].Put // an echo meets what it wrote itself
			}
		}
	}
	return out
}

func (s state) MarkChunk(ctx context.Context, stream handoff.Stream, v handoff.Version, k int) (handoff.Page, error) {
	return fetch(ctx, s.p, "chunk", func(ctx context.Context) (handoff.Page, error) { return s.to.MarkChunk(ctx, stream, v, k) })
}

func (s state) MarkDriven(ctx context.Context, stream handoff.Stream, v handoff.Version, seen, drives int, at time.Time) error {
	return s.p.call(ctx, "drive", func(ctx context.Context) error { return s.to.MarkDriven(ctx, stream, v, seen, drives, at) })
}

func (s state) AddStart(ctx context.Context, stream handoff.Stream, v handoff.Version, chunk int, start handoff.Start) ([]handoff.Start, error) {
	return fetch(ctx, s.p, "poison/count", func(ctx context.Context) ([]handoff.Start, error) {
		return s.to.AddStart(ctx, stream, v, chunk, start)
	})
}

func (s state) RemoveStart(ctx context.Context, stream handoff.Stream, v handoff.Version, chunk int, token string) error {
	return s.p.call(ctx, "poison/uncount", func(ctx context.Context) error { return s.to.RemoveStart(ctx, stream, v, chunk, token) })
}

func (s state) PutSpool(ctx context.Context, e handoff.SpoolEntry) error {
	return s.p.call(ctx, "spool", func(ctx context.Context) error { return s.to.PutSpool(ctx, e) })
}

func (s state) DropSpool(ctx context.Context, stream handoff.Stream, v handoff.Version) error {
	return s.p.call(ctx, "unspool", func(ctx context.Context) error { return s.to.DropSpool(ctx, stream, v) })
}
