package random_test

import (
	"slices"
	"testing"
)

// minimize leaves out of a failing script what it does not need to fail: steps first, from many to one, then what the setup and the
// steps draw. A script is data, so this needs no help from whoever drew it.
func minimize(t testing.TB, s script) script {
	fails := func(s script) bool { return len(play(t, s, false).broken) > 0 }
	for size := len(s.steps); size > 0; {
		shorter := false
		for i := 0; i+size <= len(s.steps); {
			without := s
			without.steps = slices.Delete(slices.Clone(s.steps), i, i+size)
			if fails(without) {
				s, shorter = without, true
			} else {
				i += size
			}
		}
		if !shorter {
			size /= 2
		}
	}
	for i := range s.setup.fields() {
		s = lower(s, func(s *script) *int { return s.setup.fields()[i].at }, fails)
	}
	for i := range s.steps {
		s = lower(s, func(s *script) *int { return &s.steps[i].a }, fails)
		s = lower(s, func(s *script) *int { return &s.steps[i].b }, fails)
	}
	return s
}

// lower finds the least value that still fails, among those that mean something by themselves: a script should not lean on a modulus.
func lower(s script, at func(*script) *int, fails func(script) bool) script {
	for v := range min(*at(&s), 24) {
		less := s
		less.steps = slices.Clone(s.steps)
		*at(&less) = v
		if fails(less) {
			return less
		}
	}
	return s
}
