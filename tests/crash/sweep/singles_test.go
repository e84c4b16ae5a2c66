package sweep

import (
	"fmt"
	"slices"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// shards is into how many parallel parts a sweep is cut.
const shards = 4

// Every call of the long story is struck once with every outcome. Where the effect is an outside call, so is every call at the sites that an
// effect concerns, and of the others a quarter: what they do does not depend on it.
func TestSingles(t *testing.T) {
	t.Parallel()
	if replaying(t) {
		return
	}
	count := newTally()
	t.Run("all", func(t *testing.T) {
		for _, kind := range kinds {
			jobs := singles(t, long, kind)
			for shard := range shards {
				t.Run(fmt.Sprintf("%s/%d", kind, shard), func(t *testing.T) {
					t.Parallel()
					for i := shard; i < len(jobs); i += shards {
						playOne(t, jobs[i], count)
					}
				})
			}
		}
	})
	count.log(t, fmt.Sprintf("single faults, seed %d", seed()))
	count.complete(t)
}

// concerned are the sites where an outside effect makes a difference.
var concerned = []string{
	"apply/claim", "call", "apply/settle", "chunk", "send", "poison/count", "poison/uncount", "read/receipts", "decide", "close/settle", "close",
}

// singles plays the story without a fault, and gives a job for each of its calls and outcomes.
func singles(t *testing.T, s func() story, kind handoff.EffectKind) (jobs []job) {
	t.Helper()
	plain := job{story: s, kind: kind}
	p, err := plain.inMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.wrong) > 0 {
		plain.report(t, p)
		t.FailNow()
	}
	for _, c := range p.calls {
		for _, o := range outcomes(c) {
			j := job{s, kind, []strike{{n: c.N, outcome: o}}}
			if kind == handoff.Transactional || s().name == "short" || slices.Contains(concerned, c.Site) || all("TURNLEAF_SWEEP") || sampled(j, 4) {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// playOne plays a job and fails the test if it does not end as it should.
func playOne(t *testing.T, j job, count *tally) *player {
	t.Helper()
	p, err := j.inMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	count.add(p.struck)
	if len(p.wrong) > 0 {
		j.report(t, p)
		t.FailNow() // the first of a shard is enough to read
	}
	return p
}
