package local

import (
	"context"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The distance of ticks: a stream's own `every`, within these bounds. A stream that polls once an hour is still swept each minute.
const (
	minTick = time.Second
	maxTick = time.Minute
)

// schedule ticks each stream. Double and absent ticks change nothing but latency.
type schedule struct {
	queue handoff.Queue
	now   func() time.Time

	mu     sync.Mutex
	sooner map[handoff.Stream]chan time.Time
}

func newSchedule(q handoff.Queue, now func() time.Time) *schedule {
	return &schedule{queue: q, now: now, sooner: map[handoff.Stream]chan time.Time{}}
}

// run ticks one stream until ctx ends. The first tick is at once, and drives what is open whatever its lease says: the queue of
// this process is empty.
func (s *schedule) run(ctx context.Context, stream handoff.Stream, every time.Duration) {
	every = min(max(every, minTick), maxTick)
	sooner := s.channel(stream)
	_ = s.queue.SendPoll(ctx, handoff.PollMessage{Stream: stream, Drive: true}, 0) // refused only while stopping
	next := s.now().Add(every)
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case at := <-sooner:
			if at.Before(next) {
				next = at
				timer.Reset(max(at.Sub(s.now()), 0))
			}
		case <-timer.C:
			_ = s.queue.SendPoll(ctx, handoff.PollMessage{Stream: stream}, 0)
			next = s.now().Add(every)
			timer.Reset(every)
		}
	}
}

// noteNextPoll brings the next tick forward to when a fetch is allowed. Without it a tick that comes a millisecond early would
// double the distance between polls.
func (s *schedule) noteNextPoll(stream handoff.Stream, at time.Time) {
	if !at.After(s.now()) {
		return
	}
	select {
	case s.channel(stream) <- at:
	default: // one is noted already; the tick after it asks again
	}
}

func (s *schedule) channel(stream handoff.Stream) chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.sooner[stream]
	if !ok {
		c = make(chan time.Time, 1)
		s.sooner[stream] = c
	}
	return c
}
