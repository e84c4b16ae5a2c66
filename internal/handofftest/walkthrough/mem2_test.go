package walkthrough

import "testing"

func TestSweepMem(t *testing.T) {
	struck := Sweep(t, func(*testing.T) Backend { m := newMem(); return Backend{m, memArchive{m}} })
	t.Log(struck)
	if m := Missing(struck); len(m) > 0 {
		t.Errorf("never struck: %v", m)
	}
}
