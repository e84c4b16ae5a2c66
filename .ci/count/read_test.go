package main

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		give []string
		want tally
		show string // must be in the output
	}{
		{"nothing", nil, tally{}, ""},
		{"pass", []string{`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"p"}`}, tally{1, 0}, "ok    p"},
		{"only leaves count", []string{
			`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"run","Package":"p","Test":"A/x"}`, `{"Action":"run","Package":"p","Test":"A/y"}`,
			`{"Action":"pass","Package":"p","Test":"A/x"}`, `{"Action":"pass","Package":"p","Test":"A/y"}`, `{"Action":"pass","Package":"p","Test":"A"}`,
		}, tally{2, 0}, ""},
		{"a failing leaf counts once", []string{
			`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"run","Package":"p","Test":"A/x"}`,
			`{"Action":"output","Package":"p","Test":"A/x","Output":"got 3\n"}`,
			`{"Action":"fail","Package":"p","Test":"A/x"}`, `{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p"}`,
		}, tally{0, 1}, "got 3"},
		{"a parent fails by itself", []string{
			`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"run","Package":"p","Test":"A/x"}`,
			`{"Action":"pass","Package":"p","Test":"A/x"}`, `{"Action":"fail","Package":"p","Test":"A"}`,
		}, tally{1, 1}, ""},
		{"skipped is failed", []string{`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"skip","Package":"p","Test":"A"}`}, tally{0, 1}, "SKIP  p A"},
		{"never ended", []string{`{"Action":"run","Package":"p","Test":"A"}`, `{"Action":"output","Package":"p","Test":"A","Output":"panic: x\n"}`, `{"Action":"fail","Package":"p"}`}, tally{0, 1}, "panic: x"},
		{"does not build", []string{`{"ImportPath":"p","Action":"build-output","Output":"a.go:3: undefined: x\n"}`, `{"Action":"start","Package":"p"}`, `{"Action":"fail","Package":"p"}`}, tally{0, 1}, "undefined: x"},
		{"no test files", []string{`{"Action":"start","Package":"p"}`, `{"Action":"skip","Package":"p"}`}, tally{}, ""},
		{"other lines pass through", []string{"go: downloading x"}, tally{}, "go: downloading x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			got, err := read(strings.NewReader(strings.Join(c.give, "\n")), &out, false)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
			if !strings.Contains(out.String(), c.show) {
				t.Errorf("%q is not in %q", c.show, out.String())
			}
		})
	}
}

func TestKeptCountsAddUp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, one := range map[string]tally{"unit": {3, 0}, "feed": {1, 2}} {
		if err := keep(folder, name, one); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := add(folder, []string{"unit", "feed"}); err != nil || got != (tally{4, 2}) {
		t.Errorf("got %+v, %v, want 4 and 2", got, err)
	}
	if err := forget(folder, "feed"); err != nil {
		t.Fatal(err)
	}
	if _, err := add(folder, []string{"unit", "feed"}); err == nil {
		t.Error("added up a run that left no counts")
	}
}

// Live, what a test logs is shown as it comes, and what go test says of every test is not.
func TestLiveLeavesOutTheRoutine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	give := `{"Action":"output","Package":"p","Test":"A","Output":"=== RUN   A\n"}
{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:7: 12 runs\n"}
{"Action":"output","Package":"p","Test":"A","Output":"    --- PASS: A/b (0.00s)\n"}
{"Action":"output","Package":"p","Test":"A","Output":"--- FAIL: A (0.00s)\n"}
`
	if _, err := read(strings.NewReader(give), &out, true); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "    a_test.go:7: 12 runs\n--- FAIL: A (0.00s)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
