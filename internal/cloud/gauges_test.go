package cloud

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// Each row is a stream as a poll may find it, and what its gauges must say at noon: worked out by hand.
func TestGauges(t *testing.T) {
	t.Parallel()
	const slow = 200 * time.Second
	open := func(opened, oldest time.Duration) *handoff.Page {
		p := &handoff.Page{Version: 7, OpenedAt: ago(opened)}
		if oldest > 0 {
			p.OldestAt = ago(oldest)
		}
		return p
	}
	halt := &handoff.Halt{Reason: handoff.HaltGap, At: ago(time.Hour)}
	for _, c := range []struct {
		name string
		did  handoff.PollAct
		cp   handoff.Checkpoint
		page *handoff.Page
		want tally // RetentionHeadroom is of a day
	}{
		{"caught up", handoff.ActCaughtUp, handoff.Checkpoint{}, nil, tally{}},
		{"caught up, and the store still says behind", handoff.ActCaughtUp, handoff.Checkpoint{Behind: ago(time.Hour)}, nil, tally{}},
		{"draining, between two pages", handoff.ActTurned, handoff.Checkpoint{Behind: ago(time.Hour), Anchor: handoff.Anchor{Count: 3}}, nil, tally{mUnapplied: 3600, mEmptyStreak: 3}},
		{"a young page of old events", handoff.ActOpened, handoff.Checkpoint{Behind: ago(9 * time.Hour)}, open(time.Second, time.Hour), tally{mUnapplied: 3600, mPageAge: 1}},
		{"a page that tells no time", handoff.ActBlocked, handoff.Checkpoint{}, open(100*time.Second, 0), tally{mUnapplied: 100, mPageAge: 100}},
		{"a page of the future", handoff.ActBlocked, handoff.Checkpoint{}, open(time.Minute, -time.Hour), tally{mUnapplied: 60, mPageAge: 60}},
		{"a page that was read before its events say they happened", handoff.ActBlocked, handoff.Checkpoint{}, open(time.Minute, time.Second), tally{mUnapplied: 60, mPageAge: 60}},
		{"a slow page", handoff.ActDriven, handoff.Checkpoint{}, open(201*time.Second, 0), tally{mUnapplied: 201, mPageAge: 201, mBlockedAge: 201}},
		{"halted", handoff.ActHalted, handoff.Checkpoint{Halt: halt}, nil, tally{mUnapplied: 3600, mHalted: 1, mBlockedAge: 3600}},
		{"halted in a backlog", handoff.ActHalted, handoff.Checkpoint{Halt: halt, Behind: ago(30 * time.Hour)}, nil,
			tally{mUnapplied: 30 * 3600, mHalted: 1, mBlockedAge: 3600}},
		{"paused over a halt", handoff.ActPaused, handoff.Checkpoint{Paused: true, PausedAt: ago(time.Minute), Halt: halt}, nil,
			tally{mUnapplied: 3600, mHalted: 1, mBlockedAge: 3600}},
		{"paused", handoff.ActPaused, handoff.Checkpoint{Paused: true, PausedAt: ago(time.Minute)}, nil, tally{mUnapplied: 60, mBlockedAge: 60}},
		{"failing", handoff.ActWaiting, handoff.Checkpoint{Failures: 2, FailingSince: ago(5 * time.Minute)}, nil, tally{mUnapplied: 300, mBlockedAge: 300}},
		{"refused", handoff.ActWaiting, handoff.Checkpoint{RefusedSince: ago(2 * time.Minute)}, nil, tally{mUnapplied: 120, mBlockedAge: 120}},
		{"closing", handoff.ActClosing, handoff.Checkpoint{Closing: 6, CursorSinceAt: ago(time.Minute)}, nil, tally{mUnapplied: 60, mBlockedAge: 60}},
		{"a clock that was ahead", handoff.ActPaused, handoff.Checkpoint{Paused: true, PausedAt: noon.Add(time.Hour)}, nil, tally{}},
	} {
		got := tally{}
		set := handoff.Settings{Contract: handoff.Contract{Retention: 24 * time.Hour}}
		r := handoff.PollReport{Did: c.did, Stands: &handoff.Standing{Checkpoint: c.cp, Page: c.page}}
		got.gauges(set, r, noon, slow)
		want := tally{mHalted: 0, mEmptyStreak: 0, mPageAge: 0, mBlockedAge: 0, mUnapplied: 0}
		for name, v := range c.want {
			want[name] = v
		}
		want[mHeadroom] = 24*3600 - want[mUnapplied]
		sameNumbers(t, c.name, got, want)
		delete(want, mHeadroom)
		got = tally{}
		got.gauges(handoff.Settings{}, r, noon, slow)
		sameNumbers(t, c.name+", no retention declared", got, want)
	}
}

// Only what is held counts, and the stream is blocked since the oldest hold of its open page; older holds of pages that a reset passed
// wait for a person and block nothing.
func TestHolds(t *testing.T) {
	t.Parallel()
	st := handoff.Standing{Checkpoint: handoff.Checkpoint{Version: 7}, Page: &handoff.Page{Version: 7, OpenedAt: ago(time.Minute)}}
	held := []handoff.Receipt{
		{Outcome: handoff.Superseded, PageVersion: 5, HeldAt: ago(9 * time.Hour)}, {Outcome: handoff.Held, PageVersion: 5, HeldAt: ago(2 * time.Hour)},
		{Outcome: handoff.Held, PageVersion: 7, HeldAt: ago(50 * time.Second)}, {Outcome: handoff.Held, PageVersion: 7, HeldAt: ago(40 * time.Second)},
	}
	got := tally{}
	got.holds(st, held, noon, time.Hour)
	sameNumbers(t, "holds", got, tally{mHeld: 3, mOldestHold: 7200, mBlockedAge: 50})
	got = tally{}
	got.holds(st, held[:1], noon, time.Hour)
	sameNumbers(t, "none held", got, tally{mHeld: 0, mBlockedAge: 0})
}
