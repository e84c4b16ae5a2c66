package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Delivery is one arrival of a chunk message.
type Delivery struct {
	ChunkMessage
	// Receives counts arrivals of this very message; 1 is the first.
	Receives int
	// Deadline is when this invocation is ended from outside; zero is never.
	Deadline time.Time
}

// ApplyReport counts what one delivery did.
type ApplyReport struct {
	Applied, Ignored, Quarantined, Held, Retrying, Replayed int
	ChunkDone, Promoted                                     bool
}

// application is the work on one delivery of one chunk.
type application struct {
	*Engine
	b      Binding
	d      Delivery
	page   Page
	redone bool // not the chunk's first delivery
	known  map[ReceiptKey]Receipt
	report ApplyReport
	wait   time.Time // the earliest wait that this delivery wrote
	failed error     // the first write whose outcome stayed unknown
	late   bool      // stopped before the deadline
	faded  bool      // receipts of this page may have expired: that there is none proves nothing
}

// Apply works on one delivery of one chunk: lane heads first, then down each lane, each event settled atomically with its effect,
// and each lane stopped at its first outcome that is not terminal. nil means that the message may be deleted; an error, that it
// could not be judged and should come again.
func (e *Engine) Apply(ctx context.Context, b Binding, d Delivery) (ApplyReport, error) {
	a := &application{Engine: e, b: b, d: d}
	page, err := e.State.Page(ctx, d.Stream, d.Version)
	if errors.Is(err, ErrNotFound) {
		return a.report, nil // a message of a page that never opened, or is long gone
	}
	if err != nil {
		return a.report, fmt.Errorf("apply %s: %w", d.Stream, err)
	}
	a.page, a.redone = page, page.Drives > 1 || d.Receives > 1
	if err := a.deliver(ctx); err != nil {
		return a.report, fmt.Errorf("apply %s at version %d chunk %d: %w", d.Stream, d.Version, d.Chunk, err)
	}
	return a.report, nil
}

func (a *application) deliver(ctx context.Context) error {
	switch {
	case a.page.Abandoned || a.page.Lost || a.d.Chunk < 0 || a.d.Chunk >= a.page.Chunks:
		return nil
	case a.page.ChunksDone.Has(a.d.Chunk): // a repetition; whoever marked it last may have died before the promote
		won, err := a.promote(ctx, a.page)
		a.report.Promoted = won
		return err
	}
	cp, err := a.State.Checkpoint(ctx, a.d.Stream)
	if err != nil {
		return err
	}
	if cp.Version != a.d.Version {
		return nil // promoted or passed by a reset
	}
	dir, err := a.State.Directory(ctx, a.d.Stream, a.d.Version)
	if err != nil {
		return err
	}
	events, err := a.chunkOrRebuild(ctx, a.b, dir, a.d.Chunk)
	if err != nil {
		return err
	}
	a.faded = a.Engine.faded(a.page, dir, a.b.Contract)
	return a.counted(ctx, events)
}

// counted wraps the work in the start count of deliveries that are not the first (see poison.go).
func (a *application) counted(ctx context.Context, events []Event) error {
	lanes := lanesOf(events)
	if a.redone || a.outside() {
		if err := a.recall(ctx, events); err != nil {
			return err
		}
	}
	if !a.redone {
		return a.work(ctx, lanes)
	}
	end, poisoned, err := a.begin(ctx)
	if err != nil {
		return err
	}
	if poisoned {
		err = a.holdHeads(ctx, lanes)
	} else {
		err = a.work(ctx, lanes)
	}
	end() // not deferred: a panic is no orderly end
	return err
}

// recall reads what stands, so that a redelivery does not pay for refused writes.
func (a *application) recall(ctx context.Context, events []Event) error {
	var keys []ReceiptKey
	for _, ev := range events {
		keys = append(keys, a.key(ev))
	}
	known, err := a.receipts(ctx, a.d.Stream, keys, false)
	a.known = known
	return err
}

func (a *application) key(ev Event) ReceiptKey {
	if ev.Conflict {
		return ev.conflictKey()
	}
	return ev.Key()
}

// work settles lane heads in rounds. What is written is written; dying between rounds loses nothing.
func (a *application) work(ctx context.Context, lanes [][]Event) error {
	open := make([]*lane, len(lanes))
	for i, events := range lanes {
		open[i] = &lane{events: events}
	}
	done := true
	for live := open; len(live) > 0; {
		if a.atDeadline() {
			a.late, done = true, false
			break
		}
		a.round(ctx, live)
		if a.late {
			done = false
			break
		}
		var next []*lane
		for _, l := range live {
			switch {
			case l.stopped:
				done = false
			case l.at < len(l.events):
				next = append(next, l)
			}
		}
		live = next
	}
	if done {
		return a.chunkDone(ctx)
	}
	return a.handOn(ctx)
}

// atDeadline keeps a margin, and the length of one outside call.
func (a *application) atDeadline() bool {
	if a.d.Deadline.IsZero() {
		return false
	}
	return !a.now().Add(a.Timing.Margin + a.b.Effect.Traits().Timeout).Before(a.d.Deadline)
}

// chunkDone marks the chunk, and promotes if it was the last. Dying in between leaves a page that the next sweep promotes.
func (a *application) chunkDone(ctx context.Context) error {
	page, err := a.State.MarkChunk(ctx, a.d.Stream, a.d.Version, a.d.Chunk)
	if err != nil {
		return fmt.Errorf("mark chunk: %w", err)
	}
	a.report.ChunkDone = true
	a.observe(ctx, Observation{Step: "chunk", Stream: a.d.Stream, Version: a.d.Version, Chunk: a.d.Chunk, Count: a.report.settled()})
	a.report.Promoted, err = a.promote(ctx, page)
	return err
}

func (r ApplyReport) settled() int { return r.Applied + r.Ignored + r.Quarantined }

// handOn leaves the chunk in order: a wait that this delivery wrote sends the chunk again, so does the deadline; a hold needs
// nobody; a write whose outcome stayed unknown is an error.
func (a *application) handOn(ctx context.Context) error {
	a.observe(ctx, Observation{Step: "stop", Stream: a.d.Stream, Version: a.d.Version, Chunk: a.d.Chunk, Count: a.report.settled()})
	var errs []error
	if !a.wait.IsZero() { // its writer sends it, however this delivery ends
		delay := min(max(a.wait.Sub(a.now()).Round(time.Second)+time.Second, 0), a.Timing.MaxDelay)
		errs = append(errs, a.sendChunks(ctx, a.page, []int{a.d.Chunk}, delay))
	}
	if a.late && a.failed == nil {
		errs = append(errs, a.sendChunks(ctx, a.page, []int{a.d.Chunk}, 0))
	}
	return errors.Join(append(errs, a.failed)...)
}
