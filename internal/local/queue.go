package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// ErrStopped is the answer to a message sent while the queue stops. The next start drives what is open, so nothing is lost.
var ErrStopped = errors.New("queue stopped")

// Work is what the queue delivers to. A nil error deletes the message; an error brings it back later with a greater receive
// count. Both are called from several goroutines, Poll never twice at a time for one stream.
type Work interface {
	Poll(ctx context.Context, m handoff.PollMessage) error
	Apply(ctx context.Context, m handoff.ChunkMessage, receives int) error
}

// QueueOptions are the limits of a Queue; zero values mean the defaults.
type QueueOptions struct {
	// Workers is how many chunks are applied at a time. Default 4.
	Workers int
	// Backoff is the wait before the second delivery; it doubles up to MaxBackoff. Defaults 200 ms and 30 s.
	Backoff    time.Duration
	MaxBackoff time.Duration
	// MaxReceives is how often a message is delivered before it is dropped. Default 10. A dropped message is healed by the
	// sweep of the next tick, as one in a dead-letter queue would be.
	MaxReceives int
}

func (o QueueOptions) withDefaults() QueueOptions {
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.Backoff <= 0 {
		o.Backoff = 200 * time.Millisecond
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = 30 * time.Second
	}
	if o.MaxReceives <= 0 {
		o.MaxReceives = 10
	}
	return o
}

// Queue is handoff.Queue in memory. It keeps nothing on disk, on purpose: messages are hints, the state is the truth, and after
// a death the first tick of every stream drives its open page again.
//
// mu guards every field below it. A message is in exactly one place: a timer, a ready list, or the hands of a worker.
type Queue struct {
	opt    QueueOptions
	work   Work
	ctx    context.Context // of the work in flight; cancelled when the grace of Stop is over
	cancel context.CancelFunc
	wg     sync.WaitGroup // workers, poll lanes, timers

	mu      sync.Mutex
	ready   *sync.Cond // a chunk is ready, or the queue stops
	chunks  []delivery
	queued  map[handoff.ChunkMessage]bool // what is in chunks, so that a duplicate joins it
	polls   map[handoff.Stream]*pollLane
	timers  map[*time.Timer]bool
	running int
	stopped bool
}

type delivery struct {
	handoff.ChunkMessage
	receives int
}

var _ handoff.Queue = (*Queue)(nil)

// NewQueue gives a queue that accepts messages at once and delivers them after Start.
func NewQueue(o QueueOptions) *Queue {
	q := &Queue{
		opt: o.withDefaults(), queued: map[handoff.ChunkMessage]bool{},
		polls: map[handoff.Stream]*pollLane{}, timers: map[*time.Timer]bool{},
	}
	q.ready = sync.NewCond(&q.mu)
	return q
}

// Start begins to deliver to w. The context's values reach the work; its end does not: only Stop ends the work.
func (q *Queue) Start(ctx context.Context, w Work) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
	q.work = w
	for range q.opt.Workers {
		q.wg.Go(q.worker)
	}
	for s, lane := range q.polls {
		q.startLane(s, lane)
	}
}

// Stop takes no more work, waits for what is in flight until ctx ends, then cancels it. When it returns no goroutine of the
// queue is left. Messages that wait are dropped; dying here is the same as kill -9.
func (q *Queue) Stop(ctx context.Context) {
	q.mu.Lock()
	q.stopped = true
	q.chunks, q.queued = nil, map[handoff.ChunkMessage]bool{}
	for t := range q.timers {
		if t.Stop() {
			q.wg.Done()
		}
	}
	clear(q.timers)
	for _, lane := range q.polls {
		lane.pending = nil
	}
	q.ready.Broadcast()
	cancel := q.cancel
	q.mu.Unlock()
	if cancel == nil {
		return
	}
	defer context.AfterFunc(ctx, cancel)()
	q.wg.Wait()
	cancel()
}

// SendChunks implements handoff.Queue. A chunk that is ready already is not queued twice.
func (q *Queue) SendChunks(_ context.Context, ms []handoff.ChunkMessage, delay time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return ErrStopped
	}
	for _, m := range ms {
		d := delivery{m, 1}
		q.after(delay, func() { q.push(d) })
	}
	return nil
}

// after runs f under the lock, at once or when the delay is over. The caller holds the lock.
func (q *Queue) after(delay time.Duration, f func()) {
	if delay <= 0 {
		f()
		return
	}
	q.wg.Add(1)
	var t *time.Timer
	t = time.AfterFunc(delay, func() {
		defer q.wg.Done()
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.timers, t)
		if !q.stopped {
			f()
		}
	})
	q.timers[t] = true
}

// push makes a chunk ready. The caller holds the lock.
func (q *Queue) push(d delivery) {
	if q.queued[d.ChunkMessage] {
		return
	}
	q.queued[d.ChunkMessage] = true
	q.chunks = append(q.chunks, d)
	q.ready.Signal()
}

// worker applies one chunk after the other until the queue stops.
func (q *Queue) worker() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.chunks) == 0 && !q.stopped {
			q.ready.Wait()
		}
		if q.stopped {
			return
		}
		d := q.chunks[0]
		q.chunks = q.chunks[1:]
		delete(q.queued, d.ChunkMessage)
		err := q.unlocked(func() error { return q.work.Apply(q.ctx, d.ChunkMessage, d.receives) })
		if err != nil && !q.stopped && d.receives < q.opt.MaxReceives {
			again := delivery{d.ChunkMessage, d.receives + 1}
			q.after(q.backoff(d.receives), func() { q.push(again) })
		}
	}
}

// unlocked runs f without the lock and counts it as running. The caller holds the lock before and after.
func (q *Queue) unlocked(f func() error) error {
	q.running++
	q.mu.Unlock()
	err := f()
	q.mu.Lock()
	q.running--
	return err
}

// backoff is the wait after the n-th failed delivery.
func (q *Queue) backoff(n int) time.Duration {
	d := q.opt.Backoff
	for ; n > 1 && d < q.opt.MaxBackoff; n-- {
		d *= 2
	}
	return min(d, q.opt.MaxBackoff)
}

// Idle reports that nothing runs, is ready, or waits for its time.
func (q *Queue) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running > 0 || len(q.chunks) > 0 || len(q.timers) > 0 {
		return false
	}
	for _, lane := range q.polls {
		if lane.running || len(lane.pending) > 0 {
			return false
		}
	}
	return true
}
