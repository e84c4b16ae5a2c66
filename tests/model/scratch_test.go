package model

import "testing"

func scratch(t *testing.T, c config) {
	m := newModel(c)
	r := explore(m, 25_000_000, stuck)
	t.Logf("%s: %d states %d transitions depth %d %v complete %v", c.name, r.states, r.transitions, r.depth, r.elapsed, r.complete)
	if r.violated != "" {
		t.Errorf("%s", r.violated)
		for _, x := range r.trace {
			t.Logf("  %v", x.label)
		}
		t.Logf("%+v", r.trace[len(r.trace)-1].to)
	}
}

func mk(name string, p, a int, f func(*config)) config {
	c := feed()
	c.entity = [4]uint8{1, 2, 1}
	c.name = name
	c.crashes = true
	c.pollers, c.appliers = p, a
	f(&c)
	return c
}

func TestScratch(t *testing.T) {
	scratch(t, mk("loss21", 2, 1, func(c *config) { c.loss = true; c.again = true }))
	scratch(t, mk("loss12", 1, 2, func(c *config) { c.loss = true; c.again = true }))
	scratch(t, mk("hold12", 1, 2, func(c *config) { c.holds = 2; c.decisions = []word{release, ignore} }))
	scratch(t, mk("hold-lane12", 1, 2, func(c *config) { c.entity = [4]uint8{1, 1, 1}; c.holds = 1; c.decisions = []word{release, ignore} }))
	scratch(t, mk("hold21", 2, 1, func(c *config) { c.holds = 2; c.decisions = []word{release, ignore} }))
	scratch(t, mk("reset11", 1, 1, func(c *config) { c.stream = []word{reset}; c.resetTo = []uint8{1, 2}; c.resets = 1 }))
	scratch(t, mk("reset21", 2, 1, func(c *config) { c.stream = []word{reset}; c.resetTo = []uint8{1, 2}; c.resets = 1 }))
	scratch(t, mk("reset12", 1, 2, func(c *config) { c.stream = []word{reset}; c.resetTo = []uint8{1, 2}; c.resets = 1 }))
	scratch(t, mk("pause21", 2, 1, func(c *config) { c.stream = []word{pause, resume} }))
	scratch(t, mk("spool21", 2, 1, func(c *config) { c.spool = true }))
}
