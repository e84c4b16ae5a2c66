package cloud

import (
	"context"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Holds lists what waits for a person. A handoff.State is one.
type Holds interface {
	HeldReceipts(ctx context.Context, s handoff.Stream, after string, limit int) (rs []handoff.Receipt, next string, err error)
}

// lookedAt is how many receipts of the list of holds a tick reads on a blocked stream: enough to find the oldest, and to tell one hold
// from many. A stream that nothing blocks is not asked at all.
const lookedAt = 100

// blockedOnPage tells whether a poll met an open page that it could not turn: then, at a tick, its holds are worth a read.
func blockedOnPage(m handoff.PollMessage, r handoff.PollReport) bool {
	return m.Version == 0 && (r.Did == handoff.ActBlocked || r.Did == handoff.ActDriven) && r.Stands != nil
}

// gauges takes from what a poll read where its stream stands now.
func (t tally) gauges(set handoff.Settings, r handoff.PollReport, now time.Time, slow time.Duration) {
	st := *r.Stands
	halted := 0.0
	if st.Checkpoint.Halt != nil { // also below a pause
		halted = 1
	}
	t.set(mHalted, halted)
	t.set(mEmptyStreak, float64(st.Checkpoint.Anchor.Count))
	var page time.Duration
	if st.Page != nil {
		page = since(now, st.Page.OpenedAt)
	}
	t.seconds(mPageAge, page)
	unapplied := oldestUnapplied(st, r.Did, now)
	t.seconds(mUnapplied, unapplied)
	if set.Contract.Retention > 0 {
		t.seconds(mHeadroom, set.Contract.Retention-unapplied)
	}
	t.blocked(st, nil, now, slow)
}

// holds takes in the holds of a blocked stream.
func (t tally) holds(st handoff.Standing, held []handoff.Receipt, now time.Time, slow time.Duration) {
	var oldest, blocking *handoff.Receipt
	n := 0
	for _, r := range held { // oldest first
		if r.Outcome != handoff.Held { // superseded ones block nothing
			continue
		}
		if n++; oldest == nil {
			oldest = &r
		}
		if blocking == nil && r.PageVersion == st.Checkpoint.Version {
			blocking = &r
		}
	}
	t.set(mHeld, float64(n))
	if oldest != nil {
		t.seconds(mOldestHold, since(now, oldest.HeldAt))
	}
	t.blocked(st, blocking, now, slow)
}

// blocked keeps since when the stream stands still: the same answer as every view gives first. An open page without a hold counts once
// it is slow.
func (t tally) blocked(st handoff.Standing, hold *handoff.Receipt, now time.Time, slow time.Duration) {
	var age time.Duration
	switch b := st.Blocked(hold); {
	case b != nil:
		age = since(now, b.Since)
	case st.Page != nil && since(now, st.Page.OpenedAt) > slow:
		age = since(now, st.Page.OpenedAt)
	}
	t.seconds(mBlockedAge, age)
}

// oldestUnapplied is how old the oldest event that is not settled may be, from what a poll reads anyhow:
//
//   - on an open page, the oldest of its events, settled or not;
//   - with more known to come, the last one that was read;
//   - on a stream that stands still, whatever came since it does;
//   - else nothing waits.
//
// Where a definition declares no time, an event's age begins when it was read.
func oldestUnapplied(st handoff.Standing, did handoff.PollAct, now time.Time) time.Duration {
	if p := st.Page; p != nil {
		if !p.OldestAt.IsZero() && p.OldestAt.Before(p.OpenedAt) {
			return since(now, p.OldestAt)
		}
		return since(now, p.OpenedAt)
	}
	var age time.Duration
	if behind := st.Checkpoint.Behind; !behind.IsZero() && did != handoff.ActCaughtUp {
		age = since(now, behind)
	}
	if b := st.Blocked(nil); b != nil {
		age = max(age, since(now, b.Since))
	}
	return age
}

// since is an age; a clock that runs ahead gives none.
func since(now, then time.Time) time.Duration {
	if then.IsZero() {
		return 0
	}
	return max(now.Sub(then), 0)
}
