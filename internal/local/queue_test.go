package local

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// fakeWork records deliveries; the funcs decide what a delivery does.
type fakeWork struct {
	mu      sync.Mutex
	polls   []handoff.PollMessage
	applies []delivery
	at      []time.Duration // since began, of applies
	began   time.Time
	poll    func(context.Context, handoff.PollMessage) error
	apply   func(context.Context, delivery) error
}

func (w *fakeWork) Poll(ctx context.Context, m handoff.PollMessage) error {
	w.mu.Lock()
	w.polls = append(w.polls, m)
	w.mu.Unlock()
	if w.poll != nil {
		return w.poll(ctx, m)
	}
	return nil
}

func (w *fakeWork) Apply(ctx context.Context, m handoff.ChunkMessage, receives int) error {
	w.mu.Lock()
	w.applies = append(w.applies, delivery{m, receives})
	w.at = append(w.at, time.Since(w.began))
	w.mu.Unlock()
	if w.apply != nil {
		return w.apply(ctx, delivery{m, receives})
	}
	return nil
}

func chunk(k int) handoff.ChunkMessage {
	return handoff.ChunkMessage{Stream: "s", Version: 1, Chunk: k}
}

// inBubble starts a queue with w inside a synctest bubble, runs body, and stops it: a goroutine left over fails the bubble.
func inBubble(t *testing.T, o QueueOptions, w *fakeWork, body func(q *Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w.began = time.Now()
		q := NewQueue(o)
		q.Start(t.Context(), w)
		body(q)
		q.Stop(context.Background())
	})
}

func TestQueueDeliversAfterTheDelay(t *testing.T) {
	t.Parallel()
	w := &fakeWork{}
	inBubble(t, QueueOptions{Workers: 1}, w, func(q *Queue) {
		_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(2)}, 3*time.Second)
		_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(1)}, 0)
		synctest.Wait()
		if q.Idle() {
			t.Error("idle while a message waits for its time")
		}
		time.Sleep(4 * time.Second)
		if !q.Idle() {
			t.Error("not idle after everything was delivered")
		}
	})
	if want := []delivery{{chunk(1), 1}, {chunk(2), 1}}; !slices.Equal(w.applies, want) {
		t.Errorf("delivered %v, want %v", w.applies, want)
	}
	if want := []time.Duration{0, 3 * time.Second}; !slices.Equal(w.at, want) {
		t.Errorf("at %v, want %v", w.at, want)
	}
}

func TestQueueRedeliversWithGrowingCountsAndWaits(t *testing.T) {
	t.Parallel()
	w := &fakeWork{apply: func(context.Context, delivery) error { return errors.New("not judged") }}
	o := QueueOptions{Workers: 1, Backoff: time.Second, MaxBackoff: 3 * time.Second, MaxReceives: 5}
	inBubble(t, o, w, func(q *Queue) {
		_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(0)}, 0)
		time.Sleep(time.Hour)
		if !q.Idle() {
			t.Error("a message outlived its greatest receive count")
		}
	})
	want := []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second, 9 * time.Second}
	if !slices.Equal(w.at, want) {
		t.Errorf("delivered at %v, want %v", w.at, want)
	}
	for i, d := range w.applies {
		if d.receives != i+1 {
			t.Errorf("delivery %d carries receive count %d", i+1, d.receives)
		}
	}
}

func TestQueueAppliesAtMostWorkersAtATime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most := 0, 0
	w := &fakeWork{apply: func(context.Context, delivery) error {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(time.Second)
		mu.Lock()
		now--
		mu.Unlock()
		return nil
	}}
	inBubble(t, QueueOptions{Workers: 3}, w, func(q *Queue) {
		for k := range 10 {
			_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(k)}, 0)
		}
		time.Sleep(time.Minute)
	})
	if len(w.applies) != 10 || most != 3 {
		t.Errorf("%d chunks applied, %d at a time; want 10, 3", len(w.applies), most)
	}
}

func TestQueueJoinsDuplicatesThatAreReady(t *testing.T) {
	t.Parallel()
	w := &fakeWork{apply: func(context.Context, delivery) error { time.Sleep(time.Second); return nil }}
	inBubble(t, QueueOptions{Workers: 1}, w, func(q *Queue) {
		_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(0)}, 0)
		synctest.Wait() // chunk 0 is in the worker's hands
		_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(0), chunk(1), chunk(0), chunk(1)}, 0)
		time.Sleep(time.Minute)
	})
	// The one that is being worked on may have read what came before the duplicate was sent, so one more delivery is owed.
	if want := []delivery{{chunk(0), 1}, {chunk(0), 1}, {chunk(1), 1}}; !slices.Equal(w.applies, want) {
		t.Errorf("delivered %v, want %v", w.applies, want)
	}
}

func TestQueuePollsAStreamOnceAtATimeAndMerges(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	running, overlap := map[handoff.Stream]int{}, false
	w := &fakeWork{}
	w.poll = func(_ context.Context, m handoff.PollMessage) error {
		mu.Lock()
		running[m.Stream]++
		overlap = overlap || running[m.Stream] > 1
		mu.Unlock()
		time.Sleep(time.Second)
		mu.Lock()
		running[m.Stream]--
		mu.Unlock()
		return nil
	}
	inBubble(t, QueueOptions{}, w, func(q *Queue) {
		_ = q.SendPoll(t.Context(), handoff.PollMessage{Stream: "a"}, 0)
		synctest.Wait()
		_ = q.SendPoll(t.Context(), handoff.PollMessage{Stream: "a", Version: 7, Drain: 2}, 0)
		_ = q.SendPoll(t.Context(), handoff.PollMessage{Stream: "a", Version: 7, Drive: true}, 0)
		_ = q.SendPoll(t.Context(), handoff.PollMessage{Stream: "a", Version: 8}, 0)
		_ = q.SendPoll(t.Context(), handoff.PollMessage{Stream: "b"}, 0)
		synctest.Wait()
		mu.Lock()
		if running["b"] != 1 {
			t.Error("stream b waits for stream a")
		}
		mu.Unlock()
		time.Sleep(time.Minute)
	})
	want := []handoff.PollMessage{
		{Stream: "a"}, {Stream: "b"}, {Stream: "a", Version: 7, Drive: true, Drain: 2}, {Stream: "a", Version: 8},
	}
	if !slices.Equal(w.polls, want) || overlap {
		t.Errorf("polled %+v (two at a time: %v), want %+v", w.polls, overlap, want)
	}
}

func TestQueueBringsAFailedPollBack(t *testing.T) {
	t.Parallel()
	w := &fakeWork{poll: func(context.Context, handoff.PollMessage) error { return errors.New("store is away") }}
	inBubble(t, QueueOptions{MaxReceives: 3}, w, func(q *Queue) {
		_ = q.SendPoll(t.Context(), handoff.PollMessage{Stream: "a", Drive: true}, 0)
		time.Sleep(time.Minute)
	})
	if len(w.polls) != 3 || !w.polls[2].Drive {
		t.Errorf("polled %+v, want the same message three times", w.polls)
	}
}

func TestQueueStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	finished := 0
	w := &fakeWork{apply: func(ctx context.Context, _ delivery) error {
		select {
		case <-time.After(2 * time.Second):
			finished++
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(QueueOptions{Workers: 1})
		q.Start(t.Context(), w)
		_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(0), chunk(1)}, 0)
		_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(2)}, time.Minute)
		synctest.Wait()
		grace, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		q.Stop(grace)
		if err := q.SendPoll(t.Context(), handoff.PollMessage{Stream: "a"}, 0); !errors.Is(err, ErrStopped) {
			t.Errorf("a message after Stop: %v, want ErrStopped", err)
		}
	})
	if finished != 1 || len(w.applies) != 1 {
		t.Errorf("%d finished of %d started, want 1 of 1", finished, len(w.applies))
	}
}

func TestQueueStopCancelsWhenTheGraceIsOver(t *testing.T) {
	t.Parallel()
	var took time.Duration
	w := &fakeWork{poll: func(ctx context.Context, _ handoff.PollMessage) error { <-ctx.Done(); return ctx.Err() }}
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(QueueOptions{})
		q.Start(t.Context(), w)
		_ = q.SendPoll(t.Context(), handoff.PollMessage{Stream: "a"}, 0)
		synctest.Wait()
		grace, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		q.Stop(grace)
		took = time.Since(began)
	})
	if took != 5*time.Second {
		t.Errorf("stopped after %v, want the whole grace of 5s", took)
	}
}

func TestQueueKeepsWhatWasSentBeforeStart(t *testing.T) {
	t.Parallel()
	w := &fakeWork{}
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(QueueOptions{})
		_ = q.SendPoll(t.Context(), handoff.PollMessage{Stream: "a"}, 0)
		_ = q.SendChunks(t.Context(), []handoff.ChunkMessage{chunk(0)}, 0)
		q.Start(t.Context(), w)
		synctest.Wait()
		q.Stop(t.Context())
	})
	if len(w.polls) != 1 || len(w.applies) != 1 {
		t.Errorf("%d polls, %d applies; want 1, 1", len(w.polls), len(w.applies))
	}
}
