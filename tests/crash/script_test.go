package crash

import (
	"flag"
	"testing"

	"github.com/cockroachdb/datadriven"
)

var update = flag.Bool("update", false, "write what the scripts print over what they should")

// TestScripts plays the stories of testdata: one file a story. The script is the scheduler, its output is the trace of every port call that
// matters, and a change of either is a change that a reviewer reads:
//
//	go test ./tests/crash -run TestScripts -update
func TestScripts(t *testing.T) {
	if *update {
		if err := flag.Set("rewrite", "true"); err != nil {
			t.Fatal(err)
		}
	}
	if err := flag.Set("datadriven-quiet", "true"); err != nil {
		t.Fatal(err)
	}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newScript(t)
		datadriven.RunTest(t, path, s.run)
		s.end()
	})
}
