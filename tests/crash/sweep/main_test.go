package sweep

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain plays a part of a story and dies, where the test binary was started as a process to be killed.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // thousands of short runs make much garbage that is soon gone
	if dir := os.Getenv(victimEnv); dir != "" {
		fmt.Fprintln(os.Stderr, "nothing killed the process:", victim(dir)) // it never comes here
		os.Exit(1)
	}
	os.Exit(m.Run())
}
