package model

import "testing"
import "os"

func TestSurvey(t *testing.T) {
	cs := small()
	if os.Getenv("SURVEY") == "full" {
		cs = full()
	}
	for _, c := range cs {
		m := newModel(c)
		r := explore(m, 12_000_000, stuck)
		t.Logf("%s: %d states %d transitions depth %d %v complete %v", c.name, r.states, r.transitions, r.depth, r.elapsed, r.complete)
		println(c.name, r.states, r.transitions, r.depth, r.elapsed.String(), r.complete)
		if r.violated != "" {
			println(r.violated)
			t.Errorf("%s", r.violated)
			for _, x := range r.trace {
				t.Logf("  %v", x.label)
			}
			t.Logf("%+v", r.trace[len(r.trace)-1].to)
		}
	}
}
