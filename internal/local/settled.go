package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// lastPolls remembers what the last poll of each stream did, since this start.
type lastPolls struct {
	mu sync.Mutex
	by map[handoff.Stream]handoff.PollReport
}

func (l *lastPolls) note(s handoff.Stream, r handoff.PollReport) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[handoff.Stream]handoff.PollReport{}
	}
	l.by[s] = r
}

func (l *lastPolls) of(s handoff.Stream) (handoff.PollReport, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.by[s]
	return r, ok
}

// untilSettled waits until every stream is caught up or blocked, with nothing in the queue's hands, and gives the blocked ones.
// A stream that was never started, and has no start in its definition, counts as caught up: nothing is to be done.
func untilSettled(ctx context.Context, q *Queue, last *lastPolls, engine stands, now func() time.Time, streams []stream) ([]handoff.StreamStatus, error) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.C:
		}
		if !q.Idle() {
			continue
		}
		blocked, settled, err := standings(ctx, last, engine, now(), streams)
		if err != nil {
			return nil, err
		}
		if settled && q.Idle() {
			return blocked, nil
		}
	}
}

// standings reads every stream once; settled is false as long as one of them still moves.
func standings(ctx context.Context, last *lastPolls, engine stands, now time.Time, streams []stream) (blocked []handoff.StreamStatus, settled bool, err error) {
	for _, known := range streams {
		s := known.name
		r, polled := last.of(s)
		if !polled {
			return nil, false, nil
		}
		st, err := engine.Status(ctx, s)
		if errors.Is(err, handoff.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		switch {
		case st.Blocked != nil:
			blocked = append(blocked, st)
		case st.Page != nil || !(atRest(r.Did) || st.Checkpoint.NextPollAt.After(now)):
			return nil, false, nil
		}
	}
	return blocked, true, nil
}

// atRest: the poll found nothing more to fetch for now. After the turn of a page that was the end, the checkpoint says so by when
// to ask again.
func atRest(did handoff.PollAct) bool {
	switch did {
	case handoff.ActCaughtUp, handoff.ActNotDue, handoff.ActNotStarted, handoff.ActPaused, handoff.ActHalted:
		return true
	}
	return false
}
