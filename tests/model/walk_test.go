package model

import (
	"math/rand/v2"
	"testing"
)

// walk is a random trace. Deaths and losses are rare, so that it gets somewhere.
func walk(m *model, rng *rand.Rand, length int) (trace []move[state, label]) {
	at := first()
	for range length {
		var moves []move[state, label]
		m.next(at, func(l label, to state, _ bool) {
			if l.step != crash && l.step != lose && l.who != clock || rng.IntN(25) == 0 {
				moves = append(moves, move[state, label]{l, to})
			}
		})
		if len(moves) == 0 {
			continue
		}
		trace = append(trace, moves[rng.IntN(len(moves))])
		at = trace[len(trace)-1].to
	}
	return trace
}

// replayed are scopes for walks: everything at once, since nothing is exhausted here.
func replayed() []config {
	return []config{
		feed("feed", 2, 2).loses(),
		feed("hold", 2, 2).loses().holding(0b010, release, ignore, quarantine),
		lane("hold at a lane's head", 2, 2).loses().holding(0b001, release, ignore, quarantine),
		feed("resets", 2, 2).loses().resetting(2, 1, 2),
		lane("resets and holds", 2, 2).loses().holding(0b011, release, ignore).resetting(2, 1, 2).pausing(),
		feed("spool and a changing source", 2, 2).loses().spooling().changing().resetting(1, 1, 2).pausing(),
		single("outside calls", 2, 2).loses().calling(release, declare, ignore).resetting(2, 1, 2),
	}
}

// TestCodeFollowsTheModel is half of what ties the two: random traces of the model are played by the real protocol, and between them come to
// every call that the model has.
func TestCodeFollowsTheModel(t *testing.T) {
	t.Parallel()
	seeds, seen := uint64(40), map[pc]bool{}
	if whole() {
		seeds = 400
	}
	for _, c := range replayed() {
		c.interleaveAll = true
		m := newModel(c)
		t.Run(c.name, func(t *testing.T) {
			for seed := range seeds {
				trace := walk(m, rand.New(rand.NewPCG(seed, 1)), 400)
				from := first()
				for _, mv := range trace {
					if mv.label.who < slots {
						seen[from.procs[mv.label.who].pc] = true
					}
					from = mv.to
				}
				if err := replay(t, m, trace); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
	for p := range pcs {
		if !seen[p] && p != aheadDone && p != lateArchive { // no call, and one of a broken model alone
			t.Errorf("no walk came to call %d, %s", p, p.site(poll1))
		}
	}
}

// TestCodeFollowsTheLongestTraces plays shortest traces to states that are as far from the start as any: stories that no random walk tells.
func TestCodeFollowsTheLongestTraces(t *testing.T) {
	t.Parallel()
	for _, c := range []config{
		feed("feed", 1, 1).loses(),
		lane("hold", 1, 1).holding(0b001, release, ignore),
		lane("reset", 1, 1).resetting(1, 1, 2),
		lane("spool and a changing source", 1, 1).spooling().changing(),
		apart("outside calls", 1, 1).calling(release, ignore),
	} {
		c.interleaveAll = true
		m := newModel(c)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := explore(m, 0, stuck)
			if r.violated != "" || !r.complete {
				t.Fatalf("%q falls", r.violated)
			}
			for _, trace := range r.deepest {
				if err := replay(t, m, trace); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d states, %d traces of %d steps", r.states, len(r.deepest), r.depth)
		})
	}
}

// TestCodeFollowsStories plays what neither walks nor shortest traces come to.
func TestCodeFollowsStories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]config{
		"an attempt is held through a reset": apart("", 1, 1).calling(ignore).resetting(1, 2).after(claimedAndClosed...),
		"a closing poll wakes late":          lane("", 2, 2).resetting(1, 1).after(closingWokeLate...),
		"a later page takes a hold over":     single("", 1, 1).calling(ignore).resetting(1, 2).after(append(claimedAndClosed[:len(claimedAndClosed):len(claimedAndClosed)], takesOver...)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModel(c)
			if err := replay(t, m, m.script(m.begin)); err != nil {
				t.Error(err)
			}
		})
	}
}

var takesOver = []string{
	"poll 1: read/checkpoint; read/page; read/spool; ask 2; read/replays; archive/raw; archive/meta; archive/events; open; send",
	"apply 1: read/page message version 2 chunk 0; read/checkpoint; read/directory; read/chunk; read/receipts; apply/settle",
}
