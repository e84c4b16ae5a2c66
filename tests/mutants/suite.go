package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// killTime is how long one run may take: a mutant that hangs is noticed too. A suite of its own gets longer, see Suite.
const killTime = 15 * time.Second

// hintTime is how long the one test may take that killed a mutant before.
const hintTime = 5 * time.Second

// Suite is one test package, compiled with the mutants of a list in it.
type Suite struct {
	SuiteOf
	binary string
	folder string // where its tests expect to run
	took   time.Duration
}

// Build compiles a test package under an overlay and runs it once as the original: a suite that fails by itself kills nothing.
func Build(ctx context.Context, root, dir, overlay string, of SuiteOf) (*Suite, error) {
	pkg := of.Package
	s := &Suite{
		SuiteOf: of, folder: filepath.Join(root, filepath.FromSlash(pkg)),
		binary: filepath.Join(dir, strings.Trim(strings.ReplaceAll(pkg, "/", "_"), "._")+".test"),
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, pkg)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	began := time.Now()
	killer, err := s.Run(ctx, "")
	if s.took = time.Since(began); err == nil && !killer.None() && s.took > slow {
		killer, err = s.Run(ctx, "")
	}
	if err != nil {
		return nil, err
	}
	if !killer.None() {
		return nil, fmt.Errorf("suite %s fails without a mutant: %s", pkg, killer)
	}
	return s, nil
}

// Killer says who noticed a mutant. The zero Killer is nobody.
type Killer struct {
	Test string // the innermost of the first tests that failed; "" if the whole run ended otherwise
	How  string // "" for a failure; else a panic, or a hang

	suite string
}

// None reports that the mutant survived.
func (k Killer) None() bool { return k == Killer{} }

func (k Killer) String() string {
	switch {
	case k.How == "":
		return k.Test
	case k.Test == "":
		return k.How
	}
	return k.Test + " (" + k.How + ")"
}

// Run plays the suite as the mutant of that name and says who noticed.
func (s *Suite) Run(ctx context.Context, name string) (Killer, error) {
	limit := max(killTime, 4*s.took)
	if name == "" {
		limit = 10 * time.Minute
	}
	if s.SuiteOf.Run != "" {
		return s.run(ctx, name, limit, "-test.run", s.SuiteOf.Run)
	}
	return s.run(ctx, name, limit)
}

// RunOnly plays one test, and what is inside it.
func (s *Suite) RunOnly(ctx context.Context, name, test string) (Killer, error) {
	var parts []string
	for part := range strings.SplitSeq(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	return s.run(ctx, name, max(hintTime, 2*s.took), "-test.run", strings.Join(parts, "/"))
}

// slow is how long a suite takes that talks to services, and may fail by theirs.
const slow = 5 * time.Second

// Confirmed is Run, but a slow suite has to kill twice: what its services do is not the mutant's doing.
func (s *Suite) Confirmed(ctx context.Context, name string) (k Killer, err error) {
	for range 3 {
		if k, err = s.Run(ctx, name); s.took < slow || k.None() || k.Test == "" || err != nil {
			return k, err
		}
		again, err := s.RunOnly(ctx, name, k.Test)
		if !again.None() || err != nil {
			return again, err
		}
	}
	return Killer{}, nil
}

func (s *Suite) run(ctx context.Context, name string, limit time.Duration, args ...string) (Killer, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary, append(args, "-test.failfast", "-test.short", "-test.timeout", limit.String())...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), Env+"="+name)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Killer{}, nil
	case errors.As(err, &exit) || ctx.Err() != nil:
		return killerOf(out.String()), nil
	}
	return Killer{}, fmt.Errorf("run %s: %w", s.Package, err)
}

// killerOf reads the output of a failed run.
func killerOf(out string) (k Killer) {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ := strings.Cut(text, " ")
			if k.Test == "" || strings.HasPrefix(name, k.Test+"/") {
				k.Test = name
			}
			continue
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			k.How, _, _ = strings.Cut(line, " [recovered")
			break
		}
	}
	if k.None() {
		k.How = "it did not end well"
	}
	return k
}
