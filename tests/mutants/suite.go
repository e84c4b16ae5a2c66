package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// killTime is how long one run may take: a mutant that hangs is noticed too. A suite of its own gets longer, see Suite.
const killTime = 15 * time.Second

// Suite is one test package, compiled with the mutants of a list in it.
type Suite struct {
	Package string // as go test names it: ./tests/mutants/protocol
	binary  string
	folder  string // where its tests expect to run
	took    time.Duration
}

// Build compiles a test package under an overlay and runs it once as the original: a suite that fails by itself kills nothing.
func Build(ctx context.Context, root, dir, overlay, pkg string) (*Suite, error) {
	s := &Suite{
		Package: pkg, folder: filepath.Join(root, filepath.FromSlash(pkg)),
		binary: filepath.Join(dir, strings.Trim(strings.ReplaceAll(pkg, "/", "_"), "._")+".test"),
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, pkg)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	began := time.Now()
	if killer, err := s.Run(ctx, ""); err != nil {
		return nil, err
	} else if killer != "" {
		return nil, fmt.Errorf("suite %s fails without a mutant: %s", pkg, killer)
	}
	s.took = time.Since(began)
	return s, nil
}

// Run plays the suite as the mutant of that name and gives the test that noticed; "" is nobody. A hang and a panic are noticed too.
func (s *Suite) Run(ctx context.Context, name string) (killer string, err error) {
	limit := max(killTime, 4*s.took)
	if name == "" {
		limit = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary, "-test.failfast", "-test.short", "-test.timeout", limit.String())
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), Env+"="+name)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &exit) || ctx.Err() != nil:
		return killerOf(out.String()), nil
	}
	return "", fmt.Errorf("run %s: %w", s.Package, err)
}

// killerOf reads the output of a failed run: a panic or a hang, else the innermost of the first tests that failed.
func killerOf(out string) string {
	var first string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "panic: "); ok {
			return "panic: " + text
		}
		if text, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ := strings.Cut(text, " ")
			if first == "" || strings.HasPrefix(name, first+"/") {
				first = name
			}
		}
	}
	if first == "" {
		return "it did not end well"
	}
	return first
}
