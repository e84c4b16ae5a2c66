package model

import (
	"os"
	"testing"
	"time"
)

// whole: make model, with the large scopes and more walks.
func whole() bool { return os.Getenv("TURNLEAF_MODEL") == "full" }

// TestScopes explores every scope whole: each invariant holds in every state and on every transition, and from every state a way leads to
// the end. TURNLEAF_MODEL=full takes the large scopes (make model); without it they are small.
func TestScopes(t *testing.T) {
	scopes := small()
	if whole() {
		scopes = full()
	}
	total := 0
	for _, c := range scopes {
		t.Run(c.name, func(t *testing.T) {
			if !whole() { // the large ones need the memory for themselves
				t.Parallel()
			}
			r := explore(newModel(c), 0, stuck)
			total += r.states
			t.Logf("%s, %d polls, %d applies: %d states, %d transitions, depth %d, %v", c.name, c.pollers, c.appliers, r.states, r.transitions, r.depth,
				r.elapsed.Round(10*time.Millisecond))
			switch {
			case r.violated != "":
				t.Errorf("%s\n%s", r.violated, listing(r.trace))
			case !r.complete:
				t.Error("not every state was visited")
			default:
				t.Log("I1 to I10 hold")
			}
		})
	}
	if whole() {
		t.Logf("%d states in all", total)
	}
}
