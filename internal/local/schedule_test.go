package local

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// tickQueue notes when polls were asked for.
type tickQueue struct {
	Discard
	mu    sync.Mutex
	began time.Time
	at    []time.Duration
	drive []bool
}

func (q *tickQueue) SendPoll(_ context.Context, m handoff.PollMessage, _ time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.at = append(q.at, time.Since(q.began))
	q.drive = append(q.drive, m.Drive)
	return nil
}

func TestScheduleTicks(t *testing.T) {
	t.Parallel()
	s := time.Second
	for _, c := range []struct {
		name   string
		every  time.Duration
		sooner []time.Duration // when a fetch is allowed, told at the start
		during time.Duration
		want   []time.Duration
	}{
		{"at its own distance", 5 * s, nil, 16 * s, []time.Duration{0, 5 * s, 10 * s, 15 * s}},
		{"never faster than a second", 0, nil, 2500 * time.Millisecond, []time.Duration{0, s, 2 * s}},
		{"a slow stream is swept each minute", 24 * time.Hour, nil, 121 * s, []time.Duration{0, 60 * s, 120 * s}},
		{"earlier when a fetch is allowed earlier", 10 * s, []time.Duration{3 * s}, 14 * s, []time.Duration{0, 3 * s, 13 * s}},
		{"not later", 10 * s, []time.Duration{25 * s}, 11 * s, []time.Duration{0, 10 * s}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := &tickQueue{began: time.Now()}
				sched := newSchedule(q, time.Now)
				ctx, cancel := context.WithCancel(t.Context())
				go sched.run(ctx, "s", c.every)
				for _, at := range c.sooner {
					sched.noteNextPoll("s", time.Now().Add(at))
				}
				time.Sleep(c.during)
				cancel()
				synctest.Wait()
				if !slices.Equal(q.at, c.want) {
					t.Errorf("ticks at %v, want %v", q.at, c.want)
				}
				if !q.drive[0] || slices.Contains(q.drive[1:], true) {
					t.Errorf("drive now: %v, want the first tick only", q.drive)
				}
			})
		})
	}
}
