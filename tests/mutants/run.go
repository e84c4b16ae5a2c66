package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Lab is a list made ready: its mutants compiled into its suites.
type Lab struct {
	List    List
	root    string
	dir     string
	overlay string
	suites  []*Suite
	more    func() ([]*Suite, error) // compiled when a mutant first asks for them; nil gives none
}

// Open compiles a list's suites; full gives what survives them to those as well that only a full run tries. Close removes what it wrote.
func Open(ctx context.Context, root string, l List, full bool) (*Lab, error) {
	dir, err := os.MkdirTemp("", "turnleaf-mutants-")
	if err != nil {
		return nil, fmt.Errorf("open list %s: %w", l.Name, err)
	}
	lab := &Lab{List: l, root: root, dir: dir}
	if lab.overlay, err = Patch(root, dir, l); err == nil {
		lab.suites, err = lab.build(ctx, l.Suites)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open list %s: %w", l.Name, err), lab.Close())
	}
	if full {
		lab.more = sync.OnceValues(func() ([]*Suite, error) { return lab.build(ctx, l.More) })
	}
	return lab, nil
}

func (l *Lab) build(ctx context.Context, of []SuiteOf) ([]*Suite, error) {
	var suites []*Suite
	for _, one := range of {
		s, err := Build(ctx, l.root, l.dir, l.overlay, one)
		if err != nil {
			return nil, err
		}
		suites = append(suites, s)
	}
	return suites, nil
}

// Close removes the copies and binaries.
func (l *Lab) Close() error { return os.RemoveAll(l.dir) }

// Try lets the suites have a go at a mutant, one after the other, and says who killed it. The test that did so the last time goes first,
// alone; it is only a hint.
func (l *Lab) Try(ctx context.Context, m Mutant) (Killer, error) {
	if hint, ok := l.List.hints[m.Name]; ok {
		for _, s := range l.suites {
			if s.Package != hint.suite {
				continue
			}
			if k, err := s.RunOnly(ctx, m.Name, hint.test); !k.None() || err != nil {
				k.suite = s.Package
				return k, err
			}
		}
	}
	k, err := runAll(ctx, l.suites, m)
	if !k.None() || err != nil || l.more == nil {
		return k, err
	}
	more, err := l.more()
	if err != nil {
		return Killer{}, err
	}
	return runAll(ctx, more, m)
}

func runAll(ctx context.Context, suites []*Suite, m Mutant) (Killer, error) {
	for _, s := range suites {
		if k, err := s.Confirmed(ctx, m.Name); !k.None() || err != nil {
			k.suite = s.Package
			return k, err
		}
	}
	return Killer{}, nil
}

// Root finds the module's folder above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("find the module: no go.mod above the working directory")
		}
		dir = above
	}
}
