package local

import (
	"context"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// standsOf answers per stream; a stream that is not there was never started.
type standsOf map[handoff.Stream]handoff.StreamStatus

func (s standsOf) Status(_ context.Context, name handoff.Stream) (handoff.StreamStatus, error) {
	st, ok := s[name]
	if !ok {
		return st, handoff.ErrNotFound
	}
	return st, nil
}

func TestOnceEndsWhenNothingMoves(t *testing.T) {
	t.Parallel()
	blocked := handoff.StreamStatus{Stream: "a", Blocked: &handoff.Blocked{By: "hold: late"}, Page: &handoff.Page{}}
	ended := handoff.StreamStatus{Stream: "a", Checkpoint: handoff.Checkpoint{NextPollAt: noon.Add(time.Second)}}
	due := handoff.StreamStatus{Stream: "a", Checkpoint: handoff.Checkpoint{NextPollAt: noon.Add(-time.Second)}}
	free, open := handoff.StreamStatus{Stream: "a"}, handoff.StreamStatus{Stream: "a", Page: &handoff.Page{}}
	for _, c := range []struct {
		name    string
		stands  standsOf
		polled  handoff.PollAct // "" for no poll yet
		settled bool
		blocked int
	}{
		{"not polled since the start", standsOf{"a": free}, "", false, 0},
		{"caught up", standsOf{"a": free}, handoff.ActCaughtUp, true, 0},
		{"the last page was turned a moment ago", standsOf{"a": free}, handoff.ActNotDue, true, 0},
		{"its last page was an end", standsOf{"a": ended}, handoff.ActOpened, true, 0},
		{"it is due again", standsOf{"a": due}, handoff.ActOpened, false, 0},
		{"never started", standsOf{}, handoff.ActNotStarted, true, 0},
		{"a page was turned, and there may be more", standsOf{"a": free}, handoff.ActTurned, false, 0},
		{"a page is open and works", standsOf{"a": open}, handoff.ActOpened, false, 0},
		{"an open page is driven", standsOf{"a": open}, handoff.ActCaughtUp, false, 0},
		{"blocked", standsOf{"a": blocked}, handoff.ActBlocked, true, 1},
	} {
		last := &lastPolls{}
		if c.polled != "" {
			last.note("a", handoff.PollReport{Did: c.polled})
		}
		got, settled, err := standings(t.Context(), last, c.stands, noon, []stream{{"a", time.Minute}})
		if err != nil || settled != c.settled || len(got) != c.blocked {
			t.Errorf("%s: settled %v, %d blocked, %v", c.name, settled, len(got), err)
		}
	}
}
