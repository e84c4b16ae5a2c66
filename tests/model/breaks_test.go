package model

import (
	"strings"
	"testing"
)

// broken is a guard taken out, the scope in which that shows, and the invariant that falls.
var brokenGuards = []struct {
	guard    string
	scope    config
	breaks   breaks
	violates string
}{
	{"promote only with all chunks done", feed("", 1, 1), breaks{promoteUnsettled: true}, "I1"},
	{"promote only from the version and cursor of its page", feed("", 2, 1), breaks{promoteAnyVersion: true}, "I3"},
	{"open only while the checkpoint stands", feed("", 2, 1).resetting(1, 1), breaks{openUnconditioned: true}, "I1"},
	{"a reset always closes", feed("", 1, 1).resetting(1, 1), breaks{resetUnseen: true}, "I1"},
	{"the closing write marks the page abandoned", feed("", 1, 1).resetting(1, 1), breaks{closeUnmarked: true}, "I1"},
	{"closing goes only by a write of the version that is closing", feed("", 2, 1).resetting(2, 1), breaks{closeAny: true}, "I1"},
	{"a release checks that the page is open", apart("", 1, 1).calling(release, ignore).resetting(1, 2).immortal(), breaks{releaseUnchecked: true}, "I10"},
	{"nobody touches a receipt of a greater page", lane("", 2, 1).resetting(2, 1, 2), breaks{overGreater: true}, "I7"},
	{"superseded by the reset of its own page is a stop", feed("", 1, 2).resetting(1, 2), breaks{ownAbandoned: true}, "I7"},
	{"a hold is not terminal", feed("", 1, 1).holding(0b010, release), breaks{holdIsTerminal: true}, "I5"},
	{"a hold stops its lane", lane("", 1, 1).holding(0b001, release), breaks{laneGoesOn: true}, "I7"},
	{"a receipt is written on absence, or on the rev that was read", feed("", 1, 2), breaks{settleUnconditioned: true}, "I4"},
	{"nothing supersedes what is terminal", feed("", 1, 1).resetting(1, 1), breaks{supersedeTerminal: true}, "I6"},
	{"an attempt is never superseded", single("", 1, 1).calling(ignore).resetting(1, 1), breaks{supersedeAttempt: true}, "I4"},
	{"an expired claim is not attempted again", single("", 1, 1).calling(ignore), breaks{claimAgain: true}, "I4"},
	{"archived before it opens", feed("", 1, 1), breaks{archiveLate: true}, "I9"},
	{"a spooled answer is for its own cursor and epoch", feed("", 1, 1).spooling().resetting(1, 1), breaks{spoolAnyCursor: true}, "I3"},
	{"the prefix ends at what is not terminal", feed("", 1, 1), breaks{prefixOverHolds: true}, "I2"},
	{"an open page is driven again", feed("", 1, 1).loses(), breaks{neverDrive: true}, "I10"},
}

func TestEveryGuardIsMissed(t *testing.T) {
	t.Parallel()
	for _, c := range brokenGuards {
		t.Run(c.guard, func(t *testing.T) {
			t.Parallel()
			c.scope.breaks = c.breaks
			r := explore(newModel(c.scope), 5_000_000, stuck)
			if got, _, _ := strings.Cut(r.violated, ":"); got != c.violates {
				t.Fatalf("without this guard %q falls, want %s (%d states, complete: %v)", r.violated, c.violates, r.states, r.complete)
			}
			t.Logf("%s, after %d steps (%d states):", r.violated, len(r.trace), r.states)
			for i, move := range r.trace {
				t.Logf("%3d %v", i+1, move.label)
			}
		})
	}
}

// What is left out here is an optimisation, and no guard.
func TestOptimisationsAreNoGuards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]config{
		"an apply looks whether its page is current": func() config {
			c := feed("", 1, 1).resetting(1, 1, 2)
			c.breaks.applyStale = true
			return c
		}(),
		"only a delivery that is not the first reads receipts beforehand": func() config {
			c := feed("", 1, 2).loses()
			c.breaks.everybodyRecalls = true
			return c
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := explore(newModel(c), 0, stuck); r.violated != "" || !r.complete {
				t.Errorf("without it, %q falls", r.violated)
			}
		})
	}
}

// A reset that reads and writes in one step hides that it closes only what it saw: so each read and each write is a step apart.
func TestOneStepHidesWhatTwoStepsShow(t *testing.T) {
	t.Parallel()
	c := feed("", 1, 1).resetting(1, 1)
	c.breaks = breaks{resetUnseen: true, resetInOneStep: true}
	if r := explore(newModel(c), 0, stuck); r.violated != "" || !r.complete {
		t.Errorf("%q falls", r.violated)
	}
}
