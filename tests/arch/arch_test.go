package arch_test

import (
	"testing"

	"github.com/turnleaf/turnleaf/tests/arch"
)

// mustExist are packages that the rules speak of: a rule about a package that was renamed would hold for nothing.
var mustExist = []string{
	"cmd/turnleaf", "internal/dirarchive", "internal/effect", "internal/expr", "internal/handoff", "internal/handofftest",
	"internal/httpsource", "internal/local", "internal/policy", "internal/reviewapi", "internal/sqlitestate", "internal/streamdef",
}

func TestThisModule(t *testing.T) {
	t.Parallel()
	m, err := arch.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range arch.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			for _, f := range rule.Check(m) {
				t.Error(f)
			}
		})
	}
	t.Run("packages-of-the-rules-exist", func(t *testing.T) {
		t.Parallel()
		have := map[string]bool{}
		for _, p := range m.Packages {
			have[p.Path] = len(p.Files) > 0
		}
		for _, want := range mustExist {
			if !have[want] {
				t.Errorf("package %s is gone: change the rules that name it", want)
			}
		}
	})
}
