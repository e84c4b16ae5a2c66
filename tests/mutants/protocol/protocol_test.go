package protocol_test

import (
	"testing"

	"github.com/turnleaf/turnleaf/tests/mutants/protocol"
)

func TestStory(t *testing.T) {
	t.Parallel()
	protocol.Walkthroughs(t)
}

func TestState(t *testing.T) {
	t.Parallel()
	protocol.State(t)
}
