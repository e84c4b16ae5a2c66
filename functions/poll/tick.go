package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// inline is how many streams a tick polls by itself. Two would already be one too many: a source that uses up this invocation's time, at
// every tick, would keep the next one from ever being asked (I11). So more get a message each.
const inline = 1

// side is how many streams a tick looks at side by side: a thousand streams, two reads and a message each, take a second or two.
const side = 16

// tick is the scheduler's event: all due streams, or the one it names.
type tick struct {
	Stream handoff.Stream `json:"stream"`
}

// streamsOf gives the streams of a tick. Orphans are polled by nobody, so a tick keeps alive what they wait for. One poll by name is no tick.
func (h *handler) streamsOf(ctx context.Context, in *cloud.Invocation, t tick) ([]handoff.Stream, error) {
	if t.Stream != "" {
		return []handoff.Stream{t.Stream}, nil
	}
	roll, err := h.engine.Enlist(ctx, h.defined)
	if err != nil {
		return nil, fmt.Errorf("tick: %w", err)
	}
	for _, e := range roll.Orphans {
		h.rec.Observe(ctx, handoff.Observation{Step: "orphan", Stream: e.Stream})
		if err := h.engine.Keep(ctx, e.Stream); err != nil {
			h.rec.Observe(ctx, handoff.Observation{Step: "keep", Stream: e.Stream, Err: err})
		}
	}
	in.Tick(len(roll.Poll), len(roll.Orphans))
	return roll.Poll, nil
}

// fanOut polls a sole stream here, and sends each of several that is due a message. One stream's failure stops no other.
func (h *handler) fanOut(ctx context.Context, in *cloud.Invocation, streams []handoff.Stream) (map[string]string, error) {
	if len(streams) <= inline {
		return h.pollHere(ctx, in, streams)
	}
	var (
		mu   sync.Mutex // guards the rest
		done = map[string]string{}
		errs []error
		all  sync.WaitGroup
		free = make(chan struct{}, side)
	)
	for _, s := range streams {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			did, err := h.hint(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			done[string(s)] = did
			if err != nil {
				in.Failed(err)
				errs = append(errs, err)
			}
		})
	}
	all.Wait()
	return done, errors.Join(errs...)
}

// hint sends a due stream its message. A stream that cannot be looked at is taken for due.
func (h *handler) hint(ctx context.Context, s handoff.Stream) (string, error) {
	due, err := h.engine.Due(ctx, s)
	if err == nil && !due {
		return "not due", nil
	}
	if err := errors.Join(err, h.queue.SendPoll(ctx, handoff.PollMessage{Stream: s}, 0)); err != nil {
		return "failed", err
	}
	return "sent", nil
}

func (h *handler) pollHere(ctx context.Context, in *cloud.Invocation, streams []handoff.Stream) (map[string]string, error) {
	done := map[string]string{}
	var errs []error
	for _, s := range streams {
		did, err := h.poll(ctx, in, handoff.PollMessage{Stream: s})
		if done[string(s)] = string(did); err != nil {
			done[string(s)] = "failed"
			errs = append(errs, err)
		}
	}
	return done, errors.Join(errs...)
}
