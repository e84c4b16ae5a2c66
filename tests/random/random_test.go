package random_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// replayed is one script given by hand.
var replayed = flag.String("script", "", "a script for TestReplay")

// defaults of the random runs: enough of them, always the same ones, and no files left behind, since a script says it all.
var defaults = map[string]string{"rapid.checks": "2000", "rapid.seed": "1", "rapid.nofailfile": "true", "rapid.shrinktime": "0s"}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // every run leaves a whole world behind: collecting seldom halves the time
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

// tail is how much of a trace is printed.
const tail = 150

// report says what a script broke, how it came to it, and the line that does it again.
func report(t testing.TB, s script) string {
	w := play(t, s, true)
	return fmt.Sprintf("%s\n%s\ngo test ./tests/random -run 'TestReplay$' -v -script '%s'", strings.Join(w.broken, "\n"), strings.Join(w.trace[max(0, len(w.trace)-tail):], "\n"), s)
}

// draw takes bits one by one: rapid's numbers would favour small ones, and half of what can happen would hardly ever.
func draw(t *rapid.T, bits int) (n int) {
	for range bits {
		n *= 2
		if rapid.Bool().Draw(t, "bit") {
			n++
		}
	}
	return n
}

// scripts draws them.
func scripts(effects []int) *rapid.Generator[script] {
	names := deck()
	one := rapid.Custom(func(t *rapid.T) step { return step{names[draw(t, 12)%len(names)], draw(t, 6), draw(t, 6)} })
	return rapid.Custom(func(t *rapid.T) script {
		var s script
		for _, f := range s.setup.fields() {
			*f.at = draw(t, 6) % (f.max + 1)
		}
		s.setup.Effect = effects[draw(t, 6)%len(effects)]
		s.steps = rapid.SliceOfN(one, 40, 160).Draw(t, "steps")
		return s
	})
}

// TestRandom runs as many scripts as -rapid.checks says on each kind of destination. -rapid.seed makes them others.
func TestRandom(t *testing.T) {
	t.Parallel()
	all := newCensus()
	t.Cleanup(func() { all.complete(t) })
	for name, effects := range map[string][]int{"projection": {effectProjection}, "sink": {effectUnsafe, effectUnsafe, effectWindow, effectWindow, effectKeyed}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			any := scripts(effects)
			var failed *script
			defer func() {
				if failed != nil {
					t.Log("as small as it gets:\n" + report(t, minimize(t, *failed)))
				}
			}()
			rapid.Check(t, func(rt *rapid.T) {
				s := any.Draw(rt, "script")
				w := play(t, s, false)
				all.add(w.met)
				if len(w.broken) > 0 {
					failed = &s
					rt.Fatal(strings.Join(w.broken, "\n"))
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

// TestSameScriptSameRun: a script says all there is to say about a run, and its text says all there is to say about a script.
func TestSameScriptSameRun(t *testing.T) {
	t.Parallel()
	any := scripts([]int{effectProjection, effectKeyed, effectWindow, effectUnsafe})
	for i := range 20 {
		s := any.Example(i)
		again, err := parseScript(s.String())
		if err != nil {
			t.Fatal(err)
		}
		first, second := play(t, s, true).trace, play(t, again, true).trace
		for n := range max(len(first), len(second)) {
			if n >= min(len(first), len(second)) || first[n] != second[n] {
				t.Fatalf("the same script went another way at line %d of %d and %d: %s", n, len(first), len(second), s)
			}
		}
	}
}
