package random_test

import (
	"flag"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// census counts over all runs what they came by. Runs that never meet a halt, a hold or a site prove nothing about it.
type census struct {
	mu  sync.Mutex
	met map[string]int
}

func newCensus() *census { return &census{met: map[string]int{}} }

func (c *census) add(met map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for what, n := range met {
		c.met[what] += n
	}
}

// enough is how many runs a destination needs before the census must be complete.
const enough = 1000

// complete requires that everything was met, after enough runs.
func (c *census) complete(t *testing.T) {
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if t.Failed() || err != nil || checks < enough {
		return
	}
	for _, what := range worldly() {
		if c.met[what] == 0 {
			t.Errorf("no run met %s", what)
		}
	}
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(c.met)) {
		lines = append(lines, what+" "+strconv.Itoa(c.met[what]))
	}
	t.Logf("met: %s", strings.Join(lines, ", "))
}

// worldly lists what there is to meet.
func worldly() (list []string) {
	absent := []string{
		"site enlist", // the roll of streams is the schedule's, and is not played here
		"site spool",  // nobody reads ahead by himself yet; the runs put what a reader ahead would
		// Lists for people and for the audit:
		"site read/pages", "site read/held", "site read/ledger", "site read/documents", "site read/document", "site read/audits",
	}
	for _, s := range fault.Sites() {
		list = append(list, "site "+s.Name)
	}
	for _, o := range fault.Outcomes() {
		if o != fault.Frozen { // a frozen process is one that nobody lets go on
			list = append(list, "outcome "+string(o))
		}
	}
	for _, h := range []handoff.HaltReason{
		handoff.HaltOrderRegression, handoff.HaltPositionConflict, handoff.HaltGap, handoff.HaltTokenStalled, handoff.HaltTokenCycle,
		handoff.HaltCursorRejected, handoff.HaltPageUnreadable, handoff.HaltPageTooLarge, handoff.HaltConfig,
	} {
		list = append(list, "halt "+string(h))
	}
	for _, h := range []handoff.HoldReason{
		handoff.HoldInvalidEvent, handoff.HoldIdentityConflict, handoff.HoldLate, handoff.HoldAmbiguous, handoff.HoldEffectChanged,
		handoff.HoldEffectRefused, handoff.HoldCrashLoop, handoff.HoldPolicy,
	} {
		list = append(list, "hold "+string(h))
	}
	for _, d := range []handoff.DecisionKind{
		handoff.DecideRelease, handoff.DecideApplied, handoff.DecideIgnore, handoff.DecideQuarantine, handoff.DecideRetryNow,
		handoff.DecidePause, handoff.DecideResume, handoff.DecidePollNow, handoff.DecideReset, handoff.DecideAccept, handoff.DecideLost,
		handoff.DecideRetire,
	} {
		list = append(list, "decision "+string(d))
	}
	return slices.DeleteFunc(list, func(what string) bool { return slices.Contains(absent, what) })
}
