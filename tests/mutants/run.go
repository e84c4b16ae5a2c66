package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Lab is a list made ready: its mutants compiled into its suites.
type Lab struct {
	List   List
	suites []*Suite
	dir    string
}

// Open compiles a list's suites; full brings those that only a full run tries too. Close removes what it wrote.
func Open(ctx context.Context, root string, l List, full bool) (*Lab, error) {
	dir, err := os.MkdirTemp("", "turnleaf-mutants-")
	if err != nil {
		return nil, fmt.Errorf("open list %s: %w", l.Name, err)
	}
	lab := &Lab{List: l, dir: dir}
	if err := lab.build(ctx, root, full); err != nil {
		return nil, errors.Join(fmt.Errorf("open list %s: %w", l.Name, err), lab.Close())
	}
	return lab, nil
}

func (l *Lab) build(ctx context.Context, root string, full bool) error {
	overlay, err := Patch(root, l.dir, l.List)
	if err != nil {
		return err
	}
	packages := slices.Clone(l.List.Suites)
	if full {
		packages = append(packages, l.List.More...)
	}
	for _, pkg := range packages {
		s, err := Build(ctx, root, l.dir, overlay, pkg)
		if err != nil {
			return err
		}
		l.suites = append(l.suites, s)
	}
	return nil
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
	for _, s := range l.suites {
		if k, err := s.Run(ctx, m.Name); !k.None() || err != nil {
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
