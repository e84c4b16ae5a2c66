package model

import (
	"hash/maphash"
	"slices"
	"time"
)

// system is what the explorer explores. A state is a plain value without pointers; label names a transition.
type system[S comparable, L any] interface {
	// start is the one initial state.
	start() S
	// next calls yield for every transition out of s. helps marks those that a promise of progress may count on.
	next(s S, yield func(label L, to S, helps bool))
	// canonical gives the one state that stands for all that differ by a permutation of equal processes.
	canonical(s S) S
	// broken names the invariant that s alone, or the transition to it, breaks; "" for none.
	broken(s S) string
	brokenBy(from S, label L, to S) string
	// goal is what must stay reachable.
	goal(s S) bool
}

// move is one line of a trace.
type move[S comparable, L any] struct {
	label L
	to    S
}

// result is what an exploration found.
type result[S comparable, L any] struct {
	states, transitions, depth int
	elapsed                    time.Duration
	// complete: every reachable state was visited.
	complete bool
	// violated is the invariant broken first, with a shortest trace to it; "" if all hold.
	violated string
	trace    []move[S, L]
	// deepest are shortest traces to some of the states that are farthest from the start.
	deepest [][]move[S, L]
}

const (
	blockBits = 14
	deepest   = 20
)

// store keeps every state once, exactly: no state is taken for another, because whole states are compared and not their hashes.
type store[S comparable] struct {
	seed   maphash.Seed
	blocks [][]S
	n      int
	slots  []uint32 // open addressing; index + 1 of a state, 0 is free
}

func newStore[S comparable]() *store[S] {
	return &store[S]{seed: maphash.MakeSeed(), slots: make([]uint32, 1<<12)}
}

func (s *store[S]) at(i int) S { return s.blocks[i>>blockBits][i&(1<<blockBits-1)] }

// slot finds where v is, or would be.
func (s *store[S]) slot(v S) int {
	mask := len(s.slots) - 1
	i := int(maphash.Comparable(s.seed, v)) & mask
	for s.slots[i] != 0 && s.at(int(s.slots[i]-1)) != v {
		i = (i + 1) & mask
	}
	return i
}

// add gives the index of v, and whether it is new.
func (s *store[S]) add(v S) (int, bool) {
	i := s.slot(v)
	if s.slots[i] != 0 {
		return int(s.slots[i] - 1), false
	}
	if s.n>>blockBits == len(s.blocks) {
		s.blocks = append(s.blocks, make([]S, 0, 1<<blockBits))
	}
	last := &s.blocks[s.n>>blockBits]
	*last = append(*last, v)
	s.n++
	s.slots[i] = uint32(s.n)
	if s.n*2 > len(s.slots) {
		s.slots = make([]uint32, len(s.slots)*2)
		for j := range s.n {
			s.slots[s.slot(s.at(j))] = uint32(j + 1)
		}
	}
	return s.n - 1, true
}

// exploration is one breadth-first walk over every reachable state.
type exploration[S comparable, L any] struct {
	sys    system[S, L]
	states *store[S]
	parent []uint32
	// helping holds, for state i, the targets of its helping transitions: helping[from[i]:from[i+1]].
	helping []uint32
	from    []uint32
	result[S, L]
}

// explore visits every reachable state of sys, breadth first, or until an invariant breaks or limit states were seen (0: no limit). Then
// it looks whether the goal can be reached from each of them over helping transitions alone.
func explore[S comparable, L any](sys system[S, L], limit int, progress string) result[S, L] {
	began := time.Now()
	x := &exploration[S, L]{sys: sys, states: newStore[S]()}
	first := sys.canonical(sys.start())
	x.states.add(first)
	x.parent = append(x.parent, 0)
	x.violated = sys.broken(first)
	level := 1 // the first state of the next depth
	for i := 0; i < x.states.n && x.violated == "" && (limit == 0 || x.states.n < limit); i++ {
		if i == level {
			x.depth, level = x.depth+1, x.states.n
		}
		x.from = append(x.from, uint32(len(x.helping)))
		x.expand(i)
	}
	if x.violated == "" && len(x.from) == x.states.n {
		x.complete = true
		x.from = append(x.from, uint32(len(x.helping)))
		if lost := x.stuck(); lost >= 0 {
			x.violated, x.trace = progress, x.pathTo(lost)
		}
	}
	for i := max(x.states.n-deepest, 0); i < x.states.n; i++ {
		x.deepest = append(x.deepest, x.pathTo(i))
	}
	x.result.states, x.elapsed = x.states.n, time.Since(began)
	return x.result
}

// expand visits the successors of state i. The first violation ends it with its trace.
func (x *exploration[S, L]) expand(i int) {
	s := x.states.at(i)
	x.sys.next(s, func(label L, to S, helps bool) {
		if x.violated != "" {
			return
		}
		x.transitions++
		why := x.sys.brokenBy(s, label, to)
		to = x.sys.canonical(to)
		j, fresh := x.states.add(to)
		if fresh {
			x.parent = append(x.parent, uint32(i))
			if why == "" {
				why = x.sys.broken(to)
			}
		}
		if helps {
			x.helping = append(x.helping, uint32(j))
		}
		if why != "" {
			x.violated, x.trace = why, append(x.pathTo(i), move[S, L]{label, to})
		}
	})
}

// stuck gives the first state from which no helping path leads to the goal, or -1. Helping transitions mostly lead to younger states, so
// that sweeps from the youngest to the oldest settle after a few rounds.
func (x *exploration[S, L]) stuck() int {
	able := make([]bool, x.states.n)
	for i := range able {
		able[i] = x.sys.goal(x.states.at(i))
	}
	for changed := true; changed; {
		changed = false
		for i := len(able) - 1; i >= 0; i-- {
			if able[i] {
				continue
			}
			if slices.ContainsFunc(x.helping[x.from[i]:x.from[i+1]], func(j uint32) bool { return able[j] }) {
				able[i], changed = true, true
			}
		}
	}
	return slices.Index(able, false)
}

// pathTo walks a shortest trace to state i anew, from the start: only parents were kept.
func (x *exploration[S, L]) pathTo(i int) []move[S, L] {
	var chain []int
	for ; i != 0; i = int(x.parent[i]) {
		chain = append(chain, i)
	}
	slices.Reverse(chain)
	var out []move[S, L]
	at := x.states.at(0)
	for _, j := range chain {
		want, found := x.states.at(j), false
		x.sys.next(at, func(label L, to S, _ bool) {
			if !found && x.sys.canonical(to) == want {
				out, found = append(out, move[S, L]{label, want}), true
			}
		})
		at = want
	}
	return out
}
