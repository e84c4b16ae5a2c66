package model

import (
	"strings"
	"testing"
)

const opens = "read/page; read/spool; ask 1; read/replays; archive/raw; archive/meta; archive/events; open; send"

// claimedAndClosed: event 1 is claimed, its claimant dies, and a reset closes the page: held as ambiguous, on no open page.
var claimedAndClosed = []string{
	"poll 1: read/checkpoint; " + opens,
	"apply 1: read/page message version 1 chunk 0; read/checkpoint; read/directory; read/chunk; read/receipts; apply/claim; crash",
	"operator (stream): read/checkpoint reset 2; decide; continue",
	"poll 1: read/checkpoint; read/page; read/directory; read/chunk; read/receipts; close/settle; close; crash",
	"time: later",
}

// closingWokeLate: the poll that closes version 1 freezes before it looks at the receipts, another closes and opens page 2, and an apply
// of page 2 freezes before it settles.
var closingWokeLate = []string{
	"poll 1: read/checkpoint; " + opens,
	"operator (stream): read/checkpoint reset 1; decide; continue",
	"poll 2: read/checkpoint; read/page; read/directory; read/chunk",
	"poll 1: read/checkpoint; read/page; read/directory; read/chunk; read/receipts; close/settle; close/settle; close; " + opens,
	"apply 1: read/page message version 2 chunk 0; read/checkpoint; read/directory; read/chunk",
}

// brokenGuards: a guard that is taken out, the scope in which that shows, and the invariant that falls.
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
	{"a release checks that the page is open", apart("", 1, 1).calling(release, ignore).resetting(1, 2).after(claimedAndClosed...), breaks{releaseUnchecked: true}, "I10"},
	{"nobody touches a receipt of a greater page", lane("", 2, 2).resetting(2, 1, 2).after(closingWokeLate...), breaks{overGreater: true}, "I7"},
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

// TestEveryGuardIsMissed: without the guard the model breaks the invariant, by a trace that the code does not follow: there the guard is. What
// breaks I10 is no step but the end of all ways, so that the code can be led as far.
func TestEveryGuardIsMissed(t *testing.T) {
	t.Parallel()
	for _, c := range brokenGuards {
		t.Run(c.guard, func(t *testing.T) {
			t.Parallel()
			c.scope.breaks = c.breaks
			m := newModel(c.scope)
			r := explore(m, 5_000_000, stuck)
			if got, _, _ := strings.Cut(r.violated, ":"); got != c.violates {
				t.Fatalf("without this guard %q falls, want %s (%d states, complete: %v)", r.violated, c.violates, r.states, r.complete)
			}
			trace := concrete(t, m, r.trace)
			t.Logf("%s, after %d steps (%d states):\n%s", r.violated, len(trace), r.states, listing(trace))
			err := replay(t, m, trace)
			if c.violates == "I10" && err != nil {
				t.Errorf("the code does not come there: %v", err)
			}
			if c.violates != "I10" && err == nil {
				t.Error("the code follows this trace")
			}
			if err != nil {
				first, _, _ := strings.Cut(err.Error(), "\n")
				t.Log("the code: " + first)
			}
		})
	}
}

// concrete gives each process of a trace one name from the beginning to the end: in canonical states, equal ones change places.
func concrete(t *testing.T, m *model, canonical []move[state, label]) []move[state, label] {
	t.Helper()
	trace := m.script(m.begin)
	at := m.start()
	for _, want := range canonical {
		n := len(trace)
		m.next(at, func(l label, to state, _ bool) {
			if len(trace) == n && m.canonical(to) == want.to {
				trace = append(trace, move[state, label]{l, to})
			}
		})
		if len(trace) == n {
			t.Fatalf("no way to follow %v\n%s", want.label, listing(trace))
		}
		at = trace[n].to
	}
	return trace
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
