package handoff

import (
	"context"
	"fmt"
	"time"
)

// begin counts this start, before it touches a lane. Starts that are older than any invocation lives were never taken back: their
// delivery died. Enough of them and the chunk is poisoned. end takes the count back, at every orderly end.
func (a *application) begin(ctx context.Context) (end func(), poisoned bool, err error) {
	mine := Start{Token: a.IDs.New(), At: a.now()}
	starts, err := a.State.AddStart(ctx, a.d.Stream, a.d.Version, a.d.Chunk, mine)
	if err != nil {
		a.uncount(ctx, mine.Token) // it may have been counted all the same
		return nil, false, fmt.Errorf("count start: %w", err)
	}
	var dead []string
	for _, s := range starts {
		if s.Token != mine.Token && a.now().Sub(s.At) > a.Timing.FunctionLife+a.Timing.Margin {
			dead = append(dead, s.Token)
		}
	}
	poisoned = len(dead) >= a.Timing.PoisonStarts
	gone := []string{mine.Token}
	if poisoned { // the hold answers for them: after a release they count from nothing
		gone = append(gone, dead...)
	}
	return func() {
		a.uncount(ctx, gone...)
	}, poisoned, nil
}

func (a *application) uncount(ctx context.Context, tokens ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for _, token := range tokens {
		// A start that stays behind counts once towards a hold that a person can release.
		if err := a.State.RemoveStart(ctx, a.d.Stream, a.d.Version, a.d.Chunk, token); err != nil {
			a.observe(ctx, Observation{Step: "start", Stream: a.d.Stream, Version: a.d.Version, Chunk: a.d.Chunk, Err: err})
		}
	}
}

// holdHeads holds the first open event of each lane that is not at a hold, a wait or a claim already.
func (a *application) holdHeads(ctx context.Context, lanes [][]Event) error {
	for _, events := range lanes {
		for _, ev := range events {
			old, ok := a.known[a.key(ev)]
			if ok && old.Outcome.Terminal() {
				continue
			}
			if !ok || old.Attempt == nil && (old.Outcome == Released || old.Outcome == Superseded && old.PageVersion < a.d.Version) {
				var prior *Receipt
				if ok {
					prior = &old
				}
				a.settleOne(ctx, ev, a.hold(ev, prior, HoldCrashLoop, fmt.Sprintf("%d deliveries of its chunk died", a.Timing.PoisonStarts)))
			}
			break
		}
	}
	return a.failed
}
