package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// maxHeldCount bounds how many holds a status counts.
const maxHeldCount = 1000

// StreamStatus is what an operator sees first.
type StreamStatus struct {
	Stream     Stream     `json:"stream"`
	Status     Status     `json:"status"`
	Version    Version    `json:"version"`
	Rev        uint64     `json:"rev"`
	Blocked    *Blocked   `json:"blocked,omitempty"` // nil: nothing blocks
	Checkpoint Checkpoint `json:"checkpoint"`
	Page       *Page      `json:"page,omitempty"` // the open page
	Held       int        `json:"held"`
	HeldMore   bool       `json:"held_more,omitempty"` // there are more than were counted
	OldestHeld time.Time  `json:"oldest_held,omitzero"`
	Remedy     string     `json:"remedy,omitempty"`
}

// Blocked says what a stream waits for, and since when.
type Blocked struct {
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
	Detail string    `json:"detail,omitempty"`
	Event  *Receipt  `json:"event,omitempty"`
}

// Status reads where a stream stands and what blocks it.
func (e *Engine) Status(ctx context.Context, s Stream) (StreamStatus, error) {
	cp, err := e.State.Checkpoint(ctx, s)
	if err != nil {
		return StreamStatus{}, fmt.Errorf("status of %s: %w", s, err)
	}
	st := StreamStatus{Stream: s, Status: cp.Status(), Version: cp.Version, Rev: cp.Rev, Checkpoint: cp}
	page, err := e.State.Page(ctx, s, cp.Version)
	switch {
	case err == nil:
		st.Page = &page
	case !errors.Is(err, ErrNotFound):
		return st, fmt.Errorf("status of %s: %w", s, err)
	}
	hold, err := e.countHeld(ctx, &st)
	if err != nil {
		return st, fmt.Errorf("status of %s: %w", s, err)
	}
	st.Blocked = blockedBy(cp, st.Page, hold)
	if st.Blocked == nil && st.Page != nil && e.now().Sub(page.OpenedAt) > e.Timing.DriveLease {
		st.Blocked, err = e.slowPage(ctx, page)
	}
	if cp.Halt != nil {
		st.Remedy = cp.Halt.Reason.Remedy()
	}
	return st, err
}

// countHeld counts the listed receipts and finds the oldest one that the open page waits for.
func (e *Engine) countHeld(ctx context.Context, st *StreamStatus) (blocking *Receipt, err error) {
	after := ""
	for {
		rs, next, err := e.State.HeldReceipts(ctx, st.Stream, after, lookupBatch)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			if st.Held == 0 {
				st.OldestHeld = r.HeldAt
			}
			st.Held++
			if blocking == nil && r.Outcome == Held && r.PageVersion == st.Version {
				blocking = &r
			}
		}
		if after = next; after == "" {
			return blocking, nil
		}
		if st.Held >= maxHeldCount {
			st.HeldMore = true
			return blocking, nil
		}
	}
}

// blockedBy puts what a person must do something about first.
func blockedBy(cp Checkpoint, page *Page, hold *Receipt) *Blocked {
	switch {
	case cp.Closing != 0:
		return &Blocked{By: "closing", Since: cp.CursorSinceAt, Detail: fmt.Sprintf("superseding the events of version %d, which a reset passed", cp.Closing)}
	case hold != nil:
		return &Blocked{By: "hold: " + string(hold.Reason), Since: hold.HeldAt, Detail: hold.Detail, Event: hold}
	case cp.Halt != nil:
		return &Blocked{By: "halt: " + string(cp.Halt.Reason), Since: cp.Halt.At, Detail: cp.Halt.Detail}
	case cp.Paused:
		return &Blocked{By: "pause", Since: cp.PausedAt}
	case page != nil:
		return nil
	case !cp.RefusedSince.IsZero():
		return &Blocked{By: "failing: cursor_refused", Since: cp.RefusedSince, Detail: "the source refused the cursor; it is asked once more before the stream halts"}
	case cp.Failures > 0:
		return &Blocked{By: "failing: " + cp.FailureClass, Since: cp.FailingSince, Detail: fmt.Sprintf("%d failed fetches in a row", cp.Failures)}
	case cp.Stalls > 0:
		return &Blocked{By: "stalled", Since: cp.StalledSince, Detail: fmt.Sprintf("the same token and nothing new, %d ticks in a row", cp.Stalls)}
	}
	return nil
}

// slowPage finds what an open page without a hold waits for.
func (e *Engine) slowPage(ctx context.Context, page Page) (*Blocked, error) {
	dir, err := e.State.Directory(ctx, page.Stream, page.Version)
	if err != nil {
		return nil, err
	}
	events, err := e.pageEvents(ctx, dir)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDigest) {
		return &Blocked{By: "archive", Since: page.OpenedAt, Detail: "the page's events object is gone or damaged; it is rebuilt from the raw answer, or declared `lost`"}, nil
	}
	if err != nil {
		return nil, err
	}
	keys := make([]ReceiptKey, len(events))
	for i, ev := range events {
		keys[i] = ev.Key()
	}
	found, err := e.receipts(ctx, page.Stream, keys, false)
	if err != nil {
		return nil, err
	}
	for _, ev := range events {
		r, ok := found[ev.Key()]
		if ok && !r.Outcome.Terminal() {
			return &Blocked{By: string(r.Outcome), Since: page.OpenedAt, Detail: r.Error, Event: &r}, nil
		}
	}
	return &Blocked{By: "apply", Since: page.OpenedAt, Detail: fmt.Sprintf("%d of %d chunks are settled", page.ChunksDone.Len(), page.Chunks)}, nil
}
