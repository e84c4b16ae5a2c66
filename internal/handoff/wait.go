package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// current reports whether cp still is what a fetch was made for: same page, same cursor, allowed to go on. A poll closes before it
// fetches, and a reset that closes again moves the version, so nothing is closing either.
func current(cp, asked Checkpoint) bool {
	return cp.Version == asked.Version && cp.ResumeCursor == asked.ResumeCursor && cp.Status() == Active &&
		len(cp.Accepts) == len(asked.Accepts)
}

// calm clears what bad answers left behind, after a good one.
func calm(cp Checkpoint) Checkpoint {
	cp.Failures, cp.FailingSince, cp.FailureClass = 0, time.Time{}, ""
	cp.Unreadable, cp.RefusedSince = 0, time.Time{}
	return cp
}

func troubled(cp Checkpoint) bool {
	return cp.Failures > 0 || cp.Unreadable > 0 || !cp.RefusedSince.IsZero()
}

// note writes a small change of a checkpoint that is still current, and reports it.
func (e *Engine) note(ctx context.Context, asked Checkpoint, did PollAct, detail string, edit func(*Checkpoint)) (PollReport, error) {
	after, done, err := e.change(ctx, asked, Tx{}, func(cp Checkpoint) (Checkpoint, bool) {
		if !current(cp, asked) {
			return cp, false
		}
		edit(&cp)
		return cp, true
	})
	if err != nil {
		return PollReport{}, err
	}
	if !done {
		return report(after, ActStale, "the stream changed meanwhile"), nil
	}
	e.observe(ctx, Observation{Step: string(did), Stream: asked.Stream, Version: asked.Version, Detail: detail})
	return report(after, did, detail), nil
}

// wait puts the next fetch off after a source that did not answer or asked to be left alone. The wait is durable, so a cold start
// keeps it.
func (e *Engine) wait(ctx context.Context, cp Checkpoint, class, detail string, asked time.Duration) (PollReport, error) {
	return e.note(ctx, cp, ActWaiting, class+": "+detail, func(cp *Checkpoint) { e.failed(cp, class, asked) })
}

func (e *Engine) failed(cp *Checkpoint, class string, asked time.Duration) {
	now := e.now()
	if cp.Failures == 0 {
		cp.FailingSince = now
	}
	cp.Failures++
	cp.FailureClass = class
	cp.NextPollAt = now.Add(max(asked, e.backoff(cp.Stream, cp.Failures)))
}

// unreadable keeps the answer for a person. Gateways show maintenance pages: only an answer that stays unreadable halts.
func (e *Engine) unreadable(ctx context.Context, cp Checkpoint, c candidate, class, detail string, b Binding) (PollReport, error) {
	if cp.Unreadable+1 >= e.Timing.UnreadableTicks || len(c.accepted) > 0 {
		return e.halt(ctx, cp, c, HaltPageUnreadable, class+": "+detail)
	}
	if _, err := e.archived(ctx, cp, c); err != nil {
		return PollReport{}, err
	}
	return e.note(ctx, cp, ActWaiting, class+": "+detail, func(cp *Checkpoint) {
		cp.Unreadable++
		e.failed(cp, class, 0)
	})
}

// archived makes sure that the answer is in the archive and says where.
func (e *Engine) archived(ctx context.Context, cp Checkpoint, c candidate) (ObjectRef, error) {
	if c.raw.Key != "" || c.answer.FetchedAt.IsZero() {
		return c.raw, nil
	}
	return e.archiveRaw(ctx, cp.Stream, cp.Version, c.answer)
}

// halt stops the stream: the answer is kept, then one write that holds only while the stream is what it was and no page is open.
// Dying between the two leaves an answer nobody names, and the source is asked again.
func (e *Engine) halt(ctx context.Context, asked Checkpoint, c candidate, why HaltReason, detail string) (PollReport, error) {
	raw, err := e.archived(ctx, asked, c)
	if err != nil {
		return PollReport{}, err
	}
	var readErr error
	after, done, err := e.change(ctx, asked, Tx{PageAbsent: asked.Version}, func(cp Checkpoint) (Checkpoint, bool) {
		_, err := e.State.Page(ctx, cp.Stream, cp.Version)
		if !errors.Is(err, ErrNotFound) {
			readErr = err
			return cp, false // a page opened meanwhile: what we saw is not what is being turned
		}
		if !current(cp, asked) {
			return cp, false
		}
		cp.Halt = &Halt{Reason: why, Detail: detail, At: e.now(), Answer: raw}
		return cp, true
	})
	if err = errors.Join(err, readErr); err != nil {
		return PollReport{}, fmt.Errorf("halt (%s): %w", why, err)
	}
	if !done {
		return report(after, ActStale, "the stream changed meanwhile"), nil
	}
	e.observe(ctx, Observation{Step: "halt", Stream: asked.Stream, Version: asked.Version, Detail: string(why) + ": " + detail})
	return report(after, ActHalted, string(why)), nil
}

// cursorRefused: a poll may have died after using up a single-use token, so an archived answer to this very cursor comes first.
// Then the source gets a second chance one lease later, and only then a person is asked.
func (e *Engine) cursorRefused(ctx context.Context, b Binding, cp Checkpoint, c candidate, r Reading, m PollMessage) (PollReport, error) {
	adopted, err := e.findRaw(ctx, cp, b.FetchHash)
	if err != nil {
		return PollReport{}, err
	}
	if report, used, err := e.tryCached(ctx, b, cp, adopted, m); used || err != nil {
		return report, err
	}
	now := e.now()
	if !cp.RefusedSince.IsZero() && now.Sub(cp.RefusedSince) >= e.Timing.DriveLease {
		return e.halt(ctx, cp, c, HaltCursorRejected, r.Detail)
	}
	return e.note(ctx, cp, ActWaiting, "cursor refused: "+r.Detail, func(cp *Checkpoint) {
		if cp.RefusedSince.IsZero() {
			cp.RefusedSince = now
		}
		cp.NextPollAt = cp.RefusedSince.Add(e.Timing.DriveLease)
	})
}

// tokenRefused goes back to the bookmark with an empty page; a second time without a new event between is the bookmark's fault.
func (e *Engine) tokenRefused(ctx context.Context, b Binding, cp Checkpoint, c candidate, r Reading, m PollMessage) (PollReport, error) {
	if cp.TokenRefusals > 0 || r.Bookmark == "" || r.Bookmark == cp.ResumeCursor {
		return e.halt(ctx, cp, c, HaltCursorRejected, "the page token was refused again after going back to the bookmark: "+r.Detail)
	}
	return e.turn(ctx, b, cp, c, judgement{
		act: ActTurned, next: r.Bookmark, refused: cp.TokenRefusals + 1, applied: cp.AppliedPosition, floor: cp.PrefixFloor,
	}, m)
}

// stall counts a tick that asked the source and got nothing: same token, no new event, not an end.
func (e *Engine) stall(ctx context.Context, cp Checkpoint, c candidate) (PollReport, error) {
	if cp.Stalls > 0 && e.now().Before(cp.StalledSince.Add(time.Duration(cp.Stalls)*e.Timing.Tick)) {
		return report(cp, ActStalled, "the same token and nothing new"), nil // polls between ticks do not count
	}
	if cp.Stalls+1 >= e.Timing.StallTicks {
		return e.halt(ctx, cp, c, HaltTokenStalled, fmt.Sprintf("the same token and nothing new, %d ticks in a row", cp.Stalls+1))
	}
	return e.note(ctx, cp, ActStalled, "the same token and nothing new", func(cp *Checkpoint) {
		if cp.Stalls == 0 {
			cp.StalledSince = e.now()
		}
		cp.Stalls++
		cp.Accepts = nil
		*cp = calm(*cp)
	})
}

// caughtUp writes nothing, unless the next fetch is due later than the next tick or an earlier trouble is over.
func (e *Engine) caughtUp(ctx context.Context, cp Checkpoint, j judgement) (PollReport, error) {
	late := j.pollAt.After(e.now().Add(e.Timing.Tick))
	if !late && !troubled(cp) && cp.Stalls == 0 && cp.Anchor == (Anchor{}) && len(cp.Accepts) == 0 && cp.Behind.IsZero() {
		e.observe(ctx, Observation{Step: string(ActCaughtUp), Stream: cp.Stream, Version: cp.Version})
		r := report(cp, ActCaughtUp, "")
		r.Replays, r.NextPollAt = j.replays, j.pollAt
		return r, nil
	}
	return e.note(ctx, cp, ActCaughtUp, "", func(cp *Checkpoint) {
		*cp = calm(*cp)
		cp.Stalls, cp.StalledSince, cp.Anchor, cp.Accepts, cp.Behind = 0, time.Time{}, Anchor{}, nil, time.Time{}
		if late {
			cp.NextPollAt = j.pollAt
		}
	})
}
