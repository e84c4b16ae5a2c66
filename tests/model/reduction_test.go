package model

import (
	"maps"
	"testing"
)

// recorder notes what is stored in each state visited, whoever stands where.
type recorder struct {
	*model
	stored map[state]bool
}

func (r recorder) broken(s state) string {
	s.procs = [slots]proc{}
	r.stored[s] = true
	return r.model.broken(s)
}

// TestReductionsLoseNothing: with every interleaving, and with equal processes told apart, nothing else is ever stored.
func TestReductionsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []config{
		lane("two polls", 2, 1),
		apart("two applies", 1, 2).loses(),
		lane("hold and reset", 1, 1).holding(0b001, release).resetting(1, 2),
		lane("spool and a changing source", 1, 1).spooling().changing(),
		apart("outside calls", 1, 1).calling(ignore),
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			few := recorder{newModel(c), map[state]bool{}}
			a := explore(few, 0, stuck)
			c.interleaveAll = true
			all := recorder{newModel(c), map[state]bool{}}
			b := explore(all, 0, stuck)
			if a.violated+b.violated != "" {
				t.Fatalf("%q and %q fall", a.violated, b.violated)
			}
			if !maps.Equal(few.stored, all.stored) {
				t.Errorf("%d stored states of %d, with every interleaving %d of %d", len(few.stored), a.states, len(all.stored), b.states)
			}
			t.Logf("%d stored states; %d states instead of %d", len(few.stored), a.states, b.states)
		})
	}
}
