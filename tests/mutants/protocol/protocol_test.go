package protocol_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/turnleaf/turnleaf/tests/mutants/protocol"
)

// A mutant that never stops calling itself shall not fill the machine first.
func TestMain(m *testing.M) {
	debug.SetMaxStack(32 << 20)
	os.Exit(m.Run())
}

func TestStory(t *testing.T) {
	t.Parallel()
	protocol.Walkthroughs(t)
}

func TestState(t *testing.T) {
	t.Parallel()
	protocol.State(t)
}
