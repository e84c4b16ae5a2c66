package feed

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// process is a child of the test; it never outlives it.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed once it has ended
}

func startProcess(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, log: filepath.Join(t.TempDir(), "output"), done: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(p.done)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends it with SIGKILL and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if it has ended
	<-p.done
}

// output is the end of what it printed.
func (p *process) output() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-4000):])
}

// runFor lets it run, and fails the test if it ends by itself.
func (p *process) runFor(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-p.done:
		t.Fatalf("%s ended by itself: %s\n%s", p.cmd, p.cmd.ProcessState, p.output())
	case <-time.After(d):
	}
}

// succeeds waits for it to end, with exit code 0.
func (p *process) succeeds(t *testing.T, limit time.Duration) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		t.Fatalf("%s still runs after %s\n%s", p.cmd, limit, p.output())
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("%s: exit code %d\n%s", p.cmd, code, p.output())
	}
}
