package sweep

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain: thousands of short runs make much garbage that is soon gone.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
