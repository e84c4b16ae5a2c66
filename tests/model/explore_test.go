package model

import "testing"

// grid is a system whose graph is known: a walk on n by n points, right or up, that wraps around at the right edge.
type grid struct {
	n           int
	bad         point // breaks an invariant
	badStep     point // the step to it does, though not itself
	trap        point // has no way out
	symmetrical bool
}

type point struct{ x, y int }

func (g grid) start() point { return point{} }

func (g grid) next(p point, yield func(label string, to point, helps bool)) {
	if p == g.trap && g.trap != (point{}) {
		return
	}
	if g.n == 0 {
		return
	}
	yield("right", point{(p.x + 1) % g.n, p.y}, true)
	if p.y < g.n-1 {
		yield("up", point{p.x, p.y + 1}, true)
	}
}

func (g grid) canonical(p point) point {
	if g.symmetrical && p.y > p.x {
		return point{p.y, p.x}
	}
	return p
}

func (g grid) broken(p point) string {
	if p == g.bad && p != (point{}) {
		return "bad"
	}
	return ""
}

func (g grid) brokenBy(from point, _ string, to point) string {
	if to == g.badStep && to != (point{}) && from.y == to.y {
		return "bad step"
	}
	return ""
}

func (g grid) goal(p point) bool { return p.y == g.n-1 }

func TestExploreVisitsEveryState(t *testing.T) {
	t.Parallel()
	const n = 200 // more than a block of states, and more than the first table of slots
	r := explore(grid{n: n}, 0, "lost")
	if r.states != n*n || r.transitions != n*n+n*(n-1) || r.depth != 2*(n-1) || !r.complete || r.violated != "" {
		t.Errorf("%d states, %d transitions, depth %d, complete %v, %q", r.states, r.transitions, r.depth, r.complete, r.violated)
	}
	if last := r.deepest[len(r.deepest)-1]; len(last) != 2*(n-1) || last[len(last)-1].to != (point{n - 1, n - 1}) {
		t.Errorf("the deepest trace has %d steps", len(last))
	}
}

func TestExploreFindsTheShortestTrace(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]grid{"state": {n: 20, bad: point{3, 4}}, "transition": {n: 20, badStep: point{3, 4}}} {
		r := explore(g, 0, "lost")
		if len(r.trace) != 7 || r.trace[6].to != (point{3, 4}) || r.violated == "" || r.complete {
			t.Errorf("%s: %q after %v", name, r.violated, r.trace)
		}
		at := g.start()
		for _, mv := range r.trace {
			found := false
			g.next(at, func(l string, to point, _ bool) { found = found || l == mv.label && to == mv.to })
			if !found {
				t.Fatalf("%s: no step %s from %v to %v", name, mv.label, at, mv.to)
			}
			at = mv.to
		}
	}
}

func TestExploreFindsWhatIsStuck(t *testing.T) {
	t.Parallel()
	r := explore(grid{n: 20, trap: point{2, 3}}, 0, "lost")
	if r.violated != "lost" || !r.complete || len(r.trace) != 5 || r.trace[4].to != (point{2, 3}) {
		t.Errorf("%q after %v", r.violated, r.trace)
	}
}

func TestExploreStopsAtItsLimit(t *testing.T) {
	t.Parallel()
	if r := explore(grid{n: 20}, 50, "lost"); r.complete || r.states < 50 || r.states > 52 || r.violated != "" {
		t.Errorf("%d states, complete %v, %q", r.states, r.complete, r.violated)
	}
}

func TestExploreFoldsSymmetricStates(t *testing.T) {
	t.Parallel()
	if r := explore(grid{n: 20, symmetrical: true}, 0, "lost"); r.states != 20*21/2 || r.violated != "" {
		t.Errorf("%d states, want those with y <= x; %q", r.states, r.violated)
	}
}
