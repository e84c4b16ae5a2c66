package mutants_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/tests/mutants"
	// Linked so that the result of this test is not taken from a cache when the protocol or its suite changed.
	_ "github.com/turnleaf/turnleaf/tests/mutants/protocol"
)

// Every guard of the protocol, removed by itself, is noticed by the stories.
func TestProtocolGuards(t *testing.T) {
	t.Parallel()
	tryList(t, "protocol")
}

// And so is every one that keeps numbers and positions exact.
func TestValueGuards(t *testing.T) {
	t.Parallel()
	tryList(t, "values")
}

func tryList(t *testing.T, name string) {
	t.Helper()
	l, err := mutants.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	root, err := mutants.Root()
	if err != nil {
		t.Fatal(err)
	}
	lab, err := mutants.Open(t.Context(), root, l, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, m := range l.Mutants {
		if m.Equivalent != "" {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			killer, err := lab.Try(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if killer.None() {
				t.Errorf("no test notices when this guard is gone: %s", m.Guard)
			}
		})
	}
}

const sample = `# a comment
suite ./a/suite
suite ./a/suite ^TestIt$
more ./another

file a/a.go
one: the first guard
  - if a && b {
  + if (MUTANT || a) && b {

two: the second, over two lines
  equivalent: it saves a read
  - x := 1
  -   y := 2
  + x := 1
  + if !MUTANT { y = 2 }
`

func TestParse(t *testing.T) {
	t.Parallel()
	l, err := mutants.Parse("sample", sample)
	if err != nil {
		t.Fatal(err)
	}
	suites := []mutants.SuiteOf{{Package: "./a/suite"}, {Package: "./a/suite", Run: "^TestIt$"}}
	if !slices.Equal(l.Suites, suites) || !slices.Equal(l.More, []mutants.SuiteOf{{Package: "./another"}}) || len(l.Mutants) != 2 {
		t.Fatalf("%+v", l)
	}
	want := mutants.Mutant{
		Name: "two", Guard: "the second, over two lines", File: "a/a.go", Equivalent: "it saves a read",
		Old: "x := 1\n  y := 2", New: "x := 1\nif !MUTANT { y = 2 }",
	}
	if l.Mutants[1] != want {
		t.Errorf("got %+v\nwant %+v", l.Mutants[1], want)
	}
}

// What cannot be meant is an error that names its line.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no such word":   {"guard x", "line 1"},
		"no file yet":    {"one: a guard\n", "line 1"},
		"no guard":       {"file a.go\none:\n", "line 2"},
		"twice":          {strings.Replace(sample, "two:", "one:", 1), `a second mutant "one"`},
		"no source":      {"file a.go\none: a guard\n  + MUTANT\n", "needs old source"},
		"not in it":      {"file a.go\none: a guard\n  - a\n  + b\n", "needs old source"},
		"not of a kind":  {"file a.go\none: a guard\n  * a\n", "line 3"},
		"before a start": {"file a.go\n  - a\n", "no mutant has begun"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := mutants.Parse("bad", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// Every list's snippets are in the source exactly once, whether or not its suites can run here.
func TestListsFollowTheSource(t *testing.T) {
	t.Parallel()
	root, err := mutants.Root()
	if err != nil {
		t.Fatal(err)
	}
	names := mutants.Names()
	if len(names) == 0 {
		t.Fatal("no lists")
	}
	for _, name := range names {
		l, err := mutants.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Suites) == 0 || len(l.Mutants) == 0 {
			t.Errorf("list %s has %d suites and %d mutants", name, len(l.Suites), len(l.Mutants))
		}
		if _, err := mutants.Patch(root, t.TempDir(), l); err != nil {
			t.Error(err)
		}
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, "a"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "a", "a.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := mutants.Parse("sample", sample)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const source = "package aa\n\nfunc f() {\n\tif a && b {\n\t\tx := 1\n\t\ty := 2\n\t}\n}\n"
	write(source)
	if _, err := mutants.Patch(root, dir, l); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "a_a.go"))
	if err != nil {
		t.Fatal(err)
	}
	want := "package aa\n\nfunc f() {\n\tif (mutant(\"one\") || a) && b {\n\t\tx := 1\nif !mutant(\"two\") { y = 2 }\n\t}\n}\n"
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a_zz_mutant.go")); err != nil || !strings.HasPrefix(string(b), "package aa\n") {
		t.Errorf("the switch is %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(root, "a", "a.go")); err != nil || string(b) != source {
		t.Errorf("the source itself was changed: %s %v", b, err)
	}
	for want, text := range map[string]string{
		"more than once": source + "// if a && b {\n",
		"is not in":      strings.Replace(source, "a && b", "a || b", 1),
		"mutant two":     strings.Replace(source, "y := 2", "y := 3", 1),
	} {
		write(text)
		if _, err := mutants.Patch(root, t.TempDir(), l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
