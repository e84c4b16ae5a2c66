package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// promoted is the checkpoint after dir's page was turned.
func promoted(cp Checkpoint, dir Directory, now time.Time) Checkpoint {
	if cp.ResumeCursor != dir.NextCursor {
		cp.CursorSince, cp.CursorSinceAt = cp.Version+1, now
	}
	cp.Stalls, cp.StalledSince = 0, time.Time{}
	cp.ResumeCursor = dir.NextCursor
	cp.Version++
	cp.AppliedPosition = maxPosition(cp.AppliedPosition, dir.AppliedPosition)
	cp.NextPollAt, cp.Border, cp.Anchor, cp.TokenRefusals = dir.NextPollAt, dir.Border, dir.Anchor, dir.TokenRefusals
	cp.Accepts, cp.Bootstrap, cp.Behind = nil, false, dir.Behind
	return calm(cp)
}

// turn promotes a page with nothing to do in one transaction: checkpoint, and the page put as already done. Dying before it costs a
// fetch; dying after it costs the continuation, which the next tick replaces.
func (e *Engine) turn(ctx context.Context, b Binding, asked Checkpoint, c candidate, j judgement, m PollMessage) (PollReport, error) {
	raw, err := e.archived(ctx, asked, c)
	if err != nil {
		return PollReport{}, err
	}
	now, dir := e.now(), e.directory(b, asked, raw, j, m)
	page := Page{
		Stream: b.Stream, Version: asked.Version, RequestCursorHash: dir.RequestCursor.Hash(), NextCursorHash: dir.NextCursor.Hash(),
		Replays: j.replays, OpenedAt: now, EffectHash: b.Settings.Effect, ExpiresAt: e.expiry(),
	}
	tries, readErr := 0, error(nil)
	after, done, err := e.change(ctx, asked, Tx{PagePut: &page, Directory: &dir}, func(cp Checkpoint) (Checkpoint, bool) {
		if tries++; tries > 1 {
			if _, err := e.State.Page(ctx, cp.Stream, page.Version); !errors.Is(err, ErrNotFound) {
				readErr = err
				return cp, false
			}
		}
		return promoted(cp, dir, now), current(cp, asked)
	})
	if err = errors.Join(err, readErr); err != nil {
		return PollReport{}, fmt.Errorf("turn: %w", err)
	}
	if !done {
		return report(after, ActStale, "the stream changed meanwhile"), nil
	}
	e.observe(ctx, Observation{Step: "turn", Stream: b.Stream, Version: page.Version, Count: j.replays})
	r := report(after, ActTurned, "")
	r.Replays = j.replays
	return r, e.goOn(ctx, after, dir)
}

// promote passes the barrier: only when every chunk of the page is done, and only from the cursor and version that the page was
// opened under. The winner alone sends the continuation; if it dies before, the next tick goes on.
func (e *Engine) promote(ctx context.Context, page Page) (won bool, err error) {
	if !page.Settled() || page.Abandoned || page.Lost {
		return false, nil
	}
	cp, err := e.State.Checkpoint(ctx, page.Stream)
	if err != nil {
		return false, err
	}
	if cp.Version != page.Version {
		return false, nil // saves a read; the transition below is what guards
	}
	dir, err := e.State.Directory(ctx, page.Stream, page.Version)
	if err != nil {
		return false, fmt.Errorf("promote: %w", err)
	}
	now := e.now()
	after, won, err := e.change(ctx, cp, Tx{}, func(cp Checkpoint) (Checkpoint, bool) {
		return promoted(cp, dir, now), cp.Version == dir.Version && cp.ResumeCursor == dir.RequestCursor
	})
	if err != nil || !won {
		return false, err
	}
	e.observe(ctx, Observation{Step: "promote", Stream: page.Stream, Version: page.Version, Count: page.Events})
	e.forgetPage(ctx, page)
	return true, e.goOn(ctx, after, dir)
}

// forgetPage says when the record of a page that was turned may go. Only after the promote: before it, the page must never go. Dying
// between the two keeps the record for ever, which costs its storage and nothing else.
func (e *Engine) forgetPage(ctx context.Context, page Page) {
	at := e.expiry()
	if at.IsZero() {
		return
	}
	err := e.State.Commit(ctx, Tx{Token: e.IDs.New(), Stream: page.Stream, PageMark: &PageMark{Version: page.Version, ExpiresAt: at}})
	if err != nil {
		e.observe(ctx, Observation{Step: "expire", Stream: page.Stream, Version: page.Version, Err: err})
	}
}

// goOn sends the continuation, unless the answer was an end, the tick's budget is spent, or the stream may not go on.
func (e *Engine) goOn(ctx context.Context, cp Checkpoint, dir Directory) error {
	if dir.End || dir.Drain <= 0 || dir.NextCursor == dir.RequestCursor || cp.Status() != Active {
		return nil
	}
	m := PollMessage{Stream: cp.Stream, Version: cp.Version, Drain: dir.Drain}
	if err := e.Queue.SendPoll(ctx, m, 0); err != nil {
		// The page is turned; only the hint that there is more was lost.
		e.observe(ctx, Observation{Step: "continue", Stream: cp.Stream, Version: cp.Version, Err: err})
	}
	return nil
}
