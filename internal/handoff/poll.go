package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// PollReport says what one poll did.
type PollReport struct {
	Did PollAct
	// Version is the checkpoint's afterwards.
	Version Version
	Events  int
	Replays int
	Detail  string
	// NextPollAt is when the source may be asked next; zero is now.
	NextPollAt time.Time
	// Stands is what was read on the way, for gauges; nil where it may be so no more.
	Stands *Standing
}

// Standing is a stream's checkpoint and its open page, if there is one.
type Standing struct {
	Checkpoint Checkpoint
	Page       *Page
}

// Blocked says what the stream waits for, as far as checkpoint, page and the oldest hold of that page (nil: none) tell. An open page
// without a hold may just be at work.
func (s Standing) Blocked(hold *Receipt) *Blocked { return blockedBy(s.Checkpoint, s.Page, hold) }

func report(cp Checkpoint, did PollAct, detail string) PollReport {
	r := PollReport{Did: did, Version: cp.Version, Detail: detail, NextPollAt: cp.NextPollAt}
	if did != ActStale && did != ActPromoted {
		r.Stands = &Standing{Checkpoint: cp}
	}
	return r
}

// Poll does one step of one stream: start it, finish a reset, sweep the open page, or fetch one page. It keeps nothing in memory,
// so dying anywhere in it costs a repetition and nothing else.
func (e *Engine) Poll(ctx context.Context, b Binding, m PollMessage) (PollReport, error) {
	cp, err := e.State.Checkpoint(ctx, b.Stream)
	if errors.Is(err, ErrNotFound) {
		if cp, err = e.startFromDefinition(ctx, b); errors.Is(err, ErrNotFound) {
			return PollReport{Did: ActNotStarted, Detail: "the definition has no start: `turnleaf streams start` begins it"}, nil
		}
	}
	if err != nil {
		return PollReport{}, fmt.Errorf("poll %s: %w", b.Stream, err)
	}
	if m.Version != 0 && m.Version != cp.Version {
		return report(cp, ActStale, "the message names another version"), nil
	}
	r, err := e.pollStarted(ctx, b, cp, m)
	if err != nil {
		return r, fmt.Errorf("poll %s at version %d: %w", b.Stream, cp.Version, err)
	}
	return r, nil
}

func (e *Engine) pollStarted(ctx context.Context, b Binding, cp Checkpoint, m PollMessage) (PollReport, error) {
	kept, err := e.keep(ctx, cp)
	if err != nil { // tried again at every poll, for a sixth of a life; meanwhile the page goes on
		e.observe(ctx, Observation{Step: "keep", Stream: b.Stream, Version: cp.Version, Err: err})
	} else if kept.Version != cp.Version {
		return report(kept, ActStale, "the stream changed meanwhile"), nil
	}
	cp = kept
	if cp.Closing != 0 {
		after, err := e.closePage(ctx, b, cp)
		if err != nil || after.Closing != 0 {
			return report(after, ActClosing, "superseding the events that a reset passed"), err
		}
		cp = after
	}
	page, err := e.State.Page(ctx, b.Stream, cp.Version)
	switch {
	case err == nil:
		return e.sweep(ctx, b, cp, page, m.Drive)
	case !errors.Is(err, ErrNotFound):
		return PollReport{}, err
	case cp.Paused:
		return report(cp, ActPaused, ""), nil
	case cp.Halt != nil:
		return report(cp, ActHalted, string(cp.Halt.Reason)), nil
	case cp.NextPollAt.After(e.now()):
		return report(cp, ActNotDue, ""), nil
	}
	return e.fetch(ctx, b, cp, m)
}

// startFromDefinition puts the first checkpoint if the definition says where to start and nobody retired the stream.
func (e *Engine) startFromDefinition(ctx context.Context, b Binding) (Checkpoint, error) {
	if b.Start == "" {
		return Checkpoint{}, ErrNotFound
	}
	entries, err := e.State.Streams(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	for _, entry := range entries {
		if entry.Stream == b.Stream && !entry.RetiredAt.IsZero() {
			return Checkpoint{}, ErrNotFound
		}
	}
	tx, cp := e.startTx(b.Stream, b.Definition, b.Start)
	if err := e.commit(ctx, tx); err != nil && !errors.Is(err, ErrRefused) {
		return Checkpoint{}, err
	} else if err != nil { // somebody else started it
		return e.State.Checkpoint(ctx, b.Stream)
	}
	e.observe(ctx, Observation{Step: "start", Stream: b.Stream, Version: cp.Version})
	return cp, nil
}

// startTx is the write that makes a stream exist.
func (e *Engine) startTx(s Stream, definition string, at Cursor) (Tx, Checkpoint) {
	now := e.now()
	cp := Checkpoint{
		Stream: s, ResumeCursor: at, Version: 1, Rev: 1, Token: e.IDs.New(), CursorSince: 1, CursorSinceAt: now,
		FloorOpen: true, Bootstrap: true, StartedAt: now, UpdatedAt: now,
	}
	return Tx{
		Token: cp.Token, Stream: s,
		Entry:      &StreamEntry{Stream: s, Definition: definition, StartedAt: now},
		Checkpoint: &CheckpointWrite{If: Guard{Absent: true}, Put: &cp},
	}, cp
}
