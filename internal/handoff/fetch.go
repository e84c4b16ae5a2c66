package handoff

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"
)

// fetch finds an answer to the checkpoint's cursor and carries out what it amounts to. An operator's accepted answer is judged
// alone; then the caches are tried, which may only open or promote; then the source is asked.
func (e *Engine) fetch(ctx context.Context, b Binding, cp Checkpoint, m PollMessage) (PollReport, error) {
	if len(cp.Accepts) > 0 {
		return e.judgeAccepted(ctx, b, cp, m)
	}
	cached, err := e.spooled(ctx, b, cp)
	if err != nil {
		return PollReport{}, err
	}
	if b.Contract.OnceToken { // whoever asked before may have died with the only answer there will ever be
		adopted, err := e.findRaw(ctx, cp, b.FetchHash)
		if err != nil {
			return PollReport{}, err
		}
		cached = append(cached, adopted...)
	}
	if r, used, err := e.tryCached(ctx, b, cp, cached, m); used || err != nil {
		return r, err
	}
	answer, err := b.Source.Ask(ctx, cp.ResumeCursor, e.now())
	if err != nil {
		if errors.Is(err, ErrConfig) {
			return e.halt(ctx, cp, candidate{}, HaltConfig, err.Error())
		}
		return e.wait(ctx, cp, "unreachable", err.Error(), 0)
	}
	answer.Cursor, answer.FetchHash, answer.Epoch = cp.ResumeCursor, b.FetchHash, cp.Epoch
	c, r := candidate{answer: answer}, b.Source.Read(answer)
	// A token that works once is spent now: its answer is kept before it is even judged. One that came back as it was is not.
	if b.Contract.OnceToken && r.Kind == ReadPage && (r.Next != "" && r.Next != cp.ResumeCursor || len(r.Events) > 0) {
		if c.raw, err = e.archiveRaw(ctx, b.Stream, cp.Version, answer); err != nil {
			return PollReport{}, err
		}
	}
	return e.carryOut(ctx, b, cp, c, r, m)
}

// judgeAccepted judges the one archived answer that an operator let pass, and fetches nothing.
func (e *Engine) judgeAccepted(ctx context.Context, b Binding, cp Checkpoint, m PollMessage) (PollReport, error) {
	c := candidate{raw: cp.Accepts[0].Answer}
	for _, a := range cp.Accepts {
		c.accepted = append(c.accepted, a.Check)
	}
	var err error
	c.answer, err = e.readRaw(ctx, c.raw)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDigest) { // the leave was for this answer alone, and it is gone: ask again
		return e.note(ctx, cp, ActWaiting, "the accepted answer is gone from the archive", func(cp *Checkpoint) { cp.Accepts = nil })
	}
	if err != nil {
		return PollReport{}, fmt.Errorf("accepted answer: %w", err)
	}
	return e.carryOut(ctx, b, cp, c, b.Source.Read(c.answer), m)
}

// spooled gives the cached answer for this version, if it was made for this very cursor, epoch and definition.
func (e *Engine) spooled(ctx context.Context, b Binding, cp Checkpoint) ([]candidate, error) {
	entries, err := e.State.Spool(ctx, b.Stream, cp.Version)
	if err != nil {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	var found []candidate
	for _, entry := range entries {
		if entry.Walk != 0 || entry.N != 0 || entry.RequestCursor != cp.ResumeCursor || entry.Epoch != cp.Epoch {
			continue
		}
		a, err := e.readRaw(ctx, entry.Raw)
		switch {
		case errors.Is(err, ErrNotFound) || errors.Is(err, ErrDigest):
			// A cache that lost its answer costs one fetch.
		case err != nil:
			return nil, err
		case a.FetchHash == b.FetchHash:
			found = append(found, candidate{answer: a, raw: entry.Raw, cached: true})
		}
	}
	return found, nil
}

// tryCached uses the first cached answer that opens or promotes. One that would halt, or says "nothing new", is dropped: it tells
// what the source was, not what it is.
func (e *Engine) tryCached(ctx context.Context, b Binding, cp Checkpoint, cached []candidate, m PollMessage) (PollReport, bool, error) {
	for _, c := range cached {
		r := b.Source.Read(c.answer)
		if r.Kind != ReadPage {
			continue
		}
		j, err := e.hear(ctx, b, cp, c, r)
		if err != nil {
			return PollReport{}, false, err
		}
		if j.act == ActOpened || j.act == ActTurned && j.next != cp.ResumeCursor {
			report, err := e.act(ctx, b, cp, c, j, m)
			if err == nil {
				// The spool item has done its work; dying before this leaves an item of a version that never comes again.
				err = e.State.DropSpool(ctx, b.Stream, cp.Version)
			}
			return report, true, err
		}
	}
	return PollReport{}, false, nil
}

// carryOut branches on what kind of answer it is.
func (e *Engine) carryOut(ctx context.Context, b Binding, cp Checkpoint, c candidate, r Reading, m PollMessage) (PollReport, error) {
	switch r.Kind {
	case ReadPage:
		j, err := e.hear(ctx, b, cp, c, r)
		if err != nil {
			return PollReport{}, err
		}
		return e.act(ctx, b, cp, c, j, m)
	case ReadUnavailable:
		return e.wait(ctx, cp, r.Class, r.Detail, r.RetryAfter)
	case ReadUnreadable:
		return e.unreadable(ctx, cp, c, r.Class, r.Detail, b)
	case ReadTooLarge:
		return e.halt(ctx, cp, c, HaltPageTooLarge, r.Detail)
	case ReadCursorRefused:
		return e.cursorRefused(ctx, b, cp, c, r, m)
	case ReadTokenRefused:
		return e.tokenRefused(ctx, b, cp, c, r, m)
	}
	return e.halt(ctx, cp, c, HaltConfig, r.Detail)
}

// act carries a judgement out.
func (e *Engine) act(ctx context.Context, b Binding, cp Checkpoint, c candidate, j judgement, m PollMessage) (PollReport, error) {
	switch j.act {
	case ActOpened:
		return e.open(ctx, b, cp, c, j, m)
	case ActTurned:
		return e.turn(ctx, b, cp, c, j, m)
	case ActHalted:
		return e.halt(ctx, cp, c, j.halt, j.detail)
	case ActWaiting:
		return e.unreadable(ctx, cp, c, j.class, j.detail, b)
	case ActStalled:
		return e.stall(ctx, cp, c)
	}
	return e.caughtUp(ctx, cp, j)
}

// backoff is the persisted wait after n failures in a row, spread by the stream's name so that streams do not fail in step.
func (e *Engine) backoff(s Stream, n int) time.Duration {
	d := e.Timing.RetryBase << min(n-1, 20)
	if d <= 0 || d > e.Timing.RetryMax {
		d = e.Timing.RetryMax
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // hash.Hash never fails
	return d + d*time.Duration(h.Sum32()%16)/64
}
