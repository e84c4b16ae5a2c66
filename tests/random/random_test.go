package random_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// replayed is one script given by hand.
var replayed = flag.String("script", "", "a script for TestReplay")

// defaults of the random runs: enough of them, always the same ones, and no files left behind, since a script says it all.
var defaults = map[string]string{"rapid.checks": "1000", "rapid.seed": "1", "rapid.nofailfile": "true"}

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

// play runs a script and gives its world; what broke is in it.
func play(t testing.TB, s script, tracing bool) *world {
	w := newWorld(t.Context(), s.setup)
	w.tracing = tracing
	defer w.close()
	for _, st := range s.steps {
		if len(w.broken) > 0 {
			return w
		}
		if w.tracing {
			w.note("· %s", st)
		}
		acts[st.name](w, st.a, st.b)
	}
	w.rest()
	return w
}

// report says what a script broke, how it came to it, and the line that does it again.
func report(t testing.TB, s script) string {
	w := play(t, s, true)
	return fmt.Sprintf("%s\n%s\ngo test ./tests/random -run 'TestReplay$' -v -script '%s'", strings.Join(w.broken, "\n"), strings.Join(w.trace, "\n"), s)
}

func draw(t *rapid.T, names []string, effects []int) script {
	var s script
	for _, f := range s.setup.fields() {
		if f.name == "effect" {
			*f.at = rapid.SampledFrom(effects).Draw(t, f.name)
			continue
		}
		*f.at = rapid.IntRange(0, f.max).Draw(t, f.name)
	}
	one := rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom(names).Draw(t, "name"), rapid.IntRange(0, 63).Draw(t, "a"), rapid.IntRange(0, 63).Draw(t, "b")}
	})
	s.steps = rapid.SliceOfN(one, 10, 140).Draw(t, "steps")
	return s
}

// TestRandom runs as many scripts as -rapid.checks says on each kind of destination. rapid.seed makes them others.
func TestRandom(t *testing.T) {
	t.Parallel()
	for name, effects := range map[string][]int{"projection": {effectProjection}, "sink": {effectKeyed, effectWindow, effectUnsafe}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := deck()
			rapid.Check(t, func(rt *rapid.T) {
				s := draw(rt, names, effects)
				if w := play(t, s, false); len(w.broken) > 0 {
					rt.Fatalf("%s\ngo test ./tests/random -run 'TestReplay$' -v -script '%s'", strings.Join(w.broken, "\n"), s)
				}
			})
		})
	}
}

// TestReplay runs the script of -script and prints its trace.
func TestReplay(t *testing.T) {
	t.Parallel()
	s, err := parseScript(*replayed)
	if err != nil {
		t.Fatal(err)
	}
	w := play(t, s, true)
	if len(w.broken) > 0 {
		t.Fatal(report(t, s))
	}
	t.Log(strings.Join(w.trace, "\n"))
}

// TestOnceFailed runs every script that once found something.
func TestOnceFailed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := parseScript(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if w := play(t, s, false); len(w.broken) > 0 {
				t.Error(report(t, s))
			}
		})
	}
}
