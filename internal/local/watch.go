package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The distances of looking at a stream again, and of plain progress lines where no line can be rewritten.
const (
	lookEvery  = 250 * time.Millisecond
	lookAll    = 2 * time.Second // a page may come to a stop without any message
	plainEvery = 5 * time.Second
)

// stands reads what a person sees first. *handoff.Engine is one.
type stands interface {
	Status(ctx context.Context, s handoff.Stream) (handoff.StreamStatus, error)
}

// receipts reads what became of an event. A handoff.State is one.
type receipts interface {
	Receipts(ctx context.Context, s handoff.Stream, keys []handoff.ReceiptKey, proof bool) (map[handoff.ReceiptKey]handoff.Receipt, error)
}

// watch shows a person where the streams stand: one live line, and a block of text when one is blocked or goes on.
type watch struct {
	engine   stands
	receipts receipts
	screen   *screen
	hints    Hints
	now      func() time.Time

	mu      sync.Mutex // guards what follows
	streams map[handoff.Stream]*progress
	order   []*progress
	dirty   map[handoff.Stream]bool // something happened since the last look
	allAt   time.Time               // when all were looked at
	plainAt time.Time
	plain   string // the last plain line's counts, so that an idle run is quiet
}

func newWatch(engine stands, rs receipts, out *screen, hints Hints, now func() time.Time) *watch {
	return &watch{
		engine: engine, receipts: rs, screen: out, hints: hints, now: now,
		streams: map[handoff.Stream]*progress{}, dirty: map[handoff.Stream]bool{},
	}
}

// add begins to watch a stream.
func (w *watch) add(s handoff.Stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &progress{stream: s}
	w.streams[s] = p
	w.order = append(w.order, p)
	w.dirty[s] = true
}

func (w *watch) applied(s handoff.Stream, r handoff.ApplyReport) {
	w.note(s, func(p *progress) { p.applied(r, w.now()) })
}

func (w *watch) polled(s handoff.Stream, r handoff.PollReport) {
	w.note(s, func(p *progress) { p.polled(r) })
}

func (w *watch) note(s handoff.Stream, f func(*progress)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.streams[s]; p != nil {
		f(p)
		w.dirty[s] = true
	}
}

// run looks until ctx ends.
func (w *watch) run(ctx context.Context) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			w.look(ctx)
		}
	}
}

// look reads the streams in which something happened, tells what changed, and draws the line.
func (w *watch) look(ctx context.Context) {
	for s := range w.toLookAt() {
		st, err := w.engine.Status(ctx, s)
		switch {
		case err == nil:
			w.update(ctx, st)
		case !errors.Is(err, handoff.ErrNotFound): // a stream that is not started has nothing to show
			w.note(s, func(*progress) {}) // look again; the poll that meets the error reports it
		}
	}
	w.draw()
}

// lookAgain looks at every stream, whatever happened since the last look.
func (w *watch) lookAgain(ctx context.Context) {
	w.mu.Lock()
	w.allAt = time.Time{}
	w.mu.Unlock()
	w.look(ctx)
}

func (w *watch) toLookAt() map[handoff.Stream]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	dirty, now := w.dirty, w.now()
	w.dirty = map[handoff.Stream]bool{}
	if now.Sub(w.allAt) >= lookAll {
		w.allAt = now
		for s := range w.streams {
			dirty[s] = true
		}
	}
	return dirty
}

// update takes in where a stream stands, and announces what a person should know.
func (w *watch) update(ctx context.Context, st handoff.StreamStatus) {
	w.mu.Lock()
	p := w.streams[st.Stream]
	if p == nil {
		w.mu.Unlock()
		return
	}
	before, known := p.status, p.known
	p.status, p.known, p.version = st, true, max(p.version, st.Version)
	w.mu.Unlock()
	if known && sameBlock(before.Blocked, st.Blocked) {
		return
	}
	if known && before.Blocked != nil && needsPerson(before.Blocked) {
		w.screen.print(announceFreed(before, st, w.became(ctx, before), w.now()))
	}
	if text := w.hints.announceBlock(st, w.screen.strong); text != "" {
		w.screen.print(text)
	}
}

// became reads what a person made of the event that blocked.
func (w *watch) became(ctx context.Context, before handoff.StreamStatus) *handoff.Receipt {
	if before.Blocked.Event == nil {
		return nil
	}
	key := before.Blocked.Event.ReceiptKey
	found, err := w.receipts.Receipts(ctx, before.Stream, []handoff.ReceiptKey{key}, false)
	r, ok := found[key]
	if err != nil || !ok {
		return nil
	}
	return &r
}

// draw rewrites the live line, or now and then prints a plain one.
func (w *watch) draw() {
	w.mu.Lock()
	now := w.now()
	if len(w.order) == 0 {
		w.mu.Unlock()
		return
	}
	line := summary(w.order, now)
	changed := false
	if counts := w.counts(); !w.screen.live() && counts != w.plain && now.Sub(w.plainAt) >= plainEvery {
		w.plain, w.plainAt, changed = counts, now, true
	}
	w.mu.Unlock()
	switch {
	case w.screen.live():
		w.screen.draw(line)
	case changed:
		w.screen.print(line)
	}
}

// counts is what makes a plain line worth printing again: not the clock.
func (w *watch) counts() string {
	text := ""
	for _, p := range w.order {
		text += fmt.Sprintln(p.tally, p.status.Held, p.caughtUp)
		if p.status.Blocked != nil {
			text += blockedBy(p.status.Blocked)
		}
	}
	return text
}
