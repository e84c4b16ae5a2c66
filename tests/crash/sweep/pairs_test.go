package sweep

import (
	"fmt"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Pairs of faults on the short story: after each single fault, every later call, in whichever life, is struck as well. A tenth of them is
// played, and of those with an outside effect one in 160.
func TestPairs(t *testing.T) {
	t.Parallel()
	if replaying(t) {
		return
	}
	count := newTally()
	t.Run("all", func(t *testing.T) {
		for _, kind := range kinds {
			jobs, share := singles(t, short, kind), uint64(160)
			switch {
			case all("TURNLEAF_PAIRS"):
				share = 1
			case kind == handoff.Transactional:
				share = 10
			}
			for shard := range shards {
				t.Run(fmt.Sprintf("%s/%d", kind, shard), func(t *testing.T) {
					t.Parallel()
					for i := shard; i < len(jobs); i += shards {
						pairs(t, jobs[i], share, count)
					}
				})
			}
		}
	})
	count.log(t, fmt.Sprintf("pairs of faults, seed %d", seed()))
}

// pairs plays a job with one fault, and then with each second fault that it can meet.
func pairs(t *testing.T, first job, share uint64, count *tally) {
	t.Helper()
	one := playOne(t, first, newTally())
	for _, c := range one.calls[first.strikes[0].n:] {
		for _, o := range outcomes(c) {
			second := job{first.story, first.kind, []strike{first.strikes[0], {n: c.N, outcome: o}}}
			if sampled(second, share) {
				playOne(t, second, count)
			}
		}
	}
}
