package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/local"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "turnleaf-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		binary = filepath.Join(dir, "turnleaf")
		if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// world is a working folder of its own, as a newcomer's terminal is.
type world struct {
	*testing.T
	dir string
}

func newWorld(t *testing.T) world { return world{t, t.TempDir()} }

func (w world) folder() local.Folder { return local.Folder(filepath.Join(w.dir, ".turnleaf")) }

func (w world) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(w.Context(), binary, args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "USER=ada", "NO_COLOR=")
	return c
}

// run waits for a command and gives what it said.
func (w world) run(args ...string) (code int, stdout, stderr string) {
	w.Helper()
	var out, errs bytes.Buffer
	c := w.command(args...)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.Fatalf("run %v: %v", args, err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// must is run with the exit code that has to come.
func (w world) must(code int, args ...string) string {
	w.Helper()
	got, out, errs := w.run(args...)
	if got != code {
		w.Fatalf("%v: exit code %d, want %d\n%s%s", args, got, code, out, errs)
	}
	return out
}

// once runs the demo until it is blocked or caught up.
func (w world) once(code int) string {
	w.Helper()
	return w.must(code, "local", "--demo", "--once", "--demo-delay", "0s")
}

// process is a running `turnleaf local --demo`.
type process struct {
	*exec.Cmd
	out *output
	api local.API
}

// output can be read while the process writes.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (o *output) has(text string) func() bool {
	return func() bool { return strings.Contains(o.String(), text) }
}

func (w world) start(args ...string) process {
	w.Helper()
	p := process{Cmd: w.command(append([]string{"local", "--demo"}, args...)...), out: &output{}}
	p.Stdout, p.Stderr = p.out, p.out
	if err := p.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	w.until("the process tells its address", func() bool {
		a, err := w.folder().ReadAPI()
		p.api = a
		return err == nil && a.PID == p.Process.Pid
	})
	return p
}

// until asks again and again until ok, for half a minute at most.
func (w world) until(what string, ok func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for !ok() {
		select {
		case <-t.C:
		case <-ctx.Done():
			w.Fatalf("half a minute has passed, and not yet: %s", what)
		}
	}
}

// standing is where the demo stands, as programs read it.
type standing struct {
	Version int `json:"version"`
	Blocked *struct {
		By    string `json:"by"`
		Event struct {
			EventID string `json:"event_id"`
		} `json:"event"`
	} `json:"blocked"`
}

func (w world) standing() (s standing) {
	w.Helper()
	code, out, _ := w.run("show", "demo", "--json")
	if code == exitDone {
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			w.Fatalf("show --json: %v\n%s", err, out)
		}
	}
	return s
}

// pasted runs the command that the program's own output offers for a decision, as a person would paste it into a shell.
func (w world) pasted(output, as string) {
	w.Helper()
	for line := range strings.SplitSeq(output, "\n") {
		if _, command, ok := strings.Cut(line, binary); ok && strings.Contains(command, "resolve") && strings.Contains(command, "--as "+as) {
			c := exec.CommandContext(w.Context(), "sh", "-c", binary+command)
			c.Dir, c.Env = w.dir, append(os.Environ(), "USER=ada")
			if out, err := c.CombinedOutput(); err != nil {
				w.Fatalf("%s: %v\n%s", command, err, out)
			}
			return
		}
	}
	w.Fatalf("no command to %s in:\n%s", as, output)
}
