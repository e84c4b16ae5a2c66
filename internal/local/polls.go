package local

import (
	"context"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// pollLane holds the poll messages of one stream: one is worked on at a time, and those that wait for the same version are one.
type pollLane struct {
	pending []pollDelivery
	running bool
}

type pollDelivery struct {
	handoff.PollMessage
	receives int
}

// SendPoll implements handoff.Queue. Messages of one stream and version that wait are merged: to drive wins over not to, and
// the greater page budget over the smaller.
func (q *Queue) SendPoll(_ context.Context, m handoff.PollMessage, delay time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return ErrStopped
	}
	q.after(delay, func() { q.pushPoll(pollDelivery{m, 1}) })
	return nil
}

// pushPoll makes a poll ready. The caller holds the lock.
func (q *Queue) pushPoll(d pollDelivery) {
	lane := q.polls[d.Stream]
	if lane == nil {
		lane = &pollLane{}
		q.polls[d.Stream] = lane
	}
	lane.add(d)
	q.startLane(d.Stream, lane)
}

func (l *pollLane) add(d pollDelivery) {
	for i, p := range l.pending {
		if p.Version == d.Version {
			p.Drive = p.Drive || d.Drive
			p.Drain = max(p.Drain, d.Drain)
			p.receives = max(p.receives, d.receives)
			l.pending[i] = p
			return
		}
	}
	l.pending = append(l.pending, d)
}

// startLane gives the stream its one goroutine if it has work and none yet. The caller holds the lock.
func (q *Queue) startLane(s handoff.Stream, lane *pollLane) {
	if lane.running || len(lane.pending) == 0 || q.work == nil {
		return
	}
	lane.running = true
	q.wg.Go(func() { q.drainLane(s, lane) })
}

// drainLane polls until nothing waits; then the goroutine ends. A slow source holds up its own stream only (I11).
func (q *Queue) drainLane(s handoff.Stream, lane *pollLane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(lane.pending) > 0 && !q.stopped {
		d := lane.pending[0]
		lane.pending = lane.pending[1:]
		err := q.unlocked(func() error { return q.work.Poll(q.ctx, d.PollMessage) })
		if err != nil && !q.stopped && d.receives < q.opt.MaxReceives {
			again := pollDelivery{d.PollMessage, d.receives + 1}
			q.after(q.backoff(d.receives), func() { q.pushPoll(again) })
		}
	}
	lane.running = false
	if len(lane.pending) == 0 {
		delete(q.polls, s)
	}
}

// Discard is the queue of a command that works on the state of a stopped process: its messages are dropped, because the next
// start drives every stream anyway.
type Discard struct{}

// SendChunks implements handoff.Queue.
func (Discard) SendChunks(context.Context, []handoff.ChunkMessage, time.Duration) error { return nil }

// SendPoll implements handoff.Queue.
func (Discard) SendPoll(context.Context, handoff.PollMessage, time.Duration) error { return nil }
