package template

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

// asked are the variables that the code asks for.
func asked(parse func(getenv func(string) string)) map[string]bool {
	names := map[string]bool{}
	parse(func(name string) string { names[name] = true; return "" })
	maps.DeleteFunc(names, func(name string, _ bool) bool { return !strings.HasPrefix(name, "TURNLEAF_") }) // the rest is Lambda's
	return names
}

// The template sets what the code reads, and nothing that it does not. Only the folder of definitions is left to its default: it lies
// beside the binary.
func TestVariablesAreTheCodes(t *testing.T) {
	t.Parallel()
	worker := asked(func(getenv func(string) string) { _, _ = config.ParseWorker(getenv) })
	review := asked(func(getenv func(string) string) { _, _ = config.ParseReview(getenv) })
	delete(worker, "TURNLEAF_STREAMS")
	for id, f := range functions(read(t, nil)) {
		set, _ := under(f, "Environment", "Variables").(cfn.Map)
		want := worker
		if id == "ReviewFunction" {
			want = review
		}
		if got := sorted(set); !slices.Equal(got, sorted(want)) {
			t.Errorf("%s is given %v,\nand reads %v", id, got, sorted(want))
		}
	}
}

// What the template gives the functions is what they take: every choice of every parameter that reaches them parses.
func TestVariablesParse(t *testing.T) {
	t.Parallel()
	template := read(t, nil)
	for _, name := range []string{"FunctionSeconds", "TickMinutes", "LogLevel", "MetricsBy"} {
		values, _ := under(template.Part("Parameters", name), "AllowedValues").([]any)
		if len(values) == 0 {
			t.Errorf("%s has no choices", name)
		}
		for _, v := range values {
			set, _ := under(functions(template.With(cfn.Map{name: v}))["PollFunction"], "Environment", "Variables").(cfn.Map)
			getenv := func(name string) string { return textOf(set[name]) }
			if _, err := config.ParseWorker(getenv); err != nil {
				t.Errorf("%s = %v: %v", name, v, err)
			}
			if _, err := config.ParseReview(getenv); err != nil {
				t.Errorf("%s = %v: %v", name, v, err)
			}
		}
	}
}

var cell = regexp.MustCompile("^\\| (`TURNLEAF_[^|]*)\\|")

// The README's table names every variable, once.
func TestReadmeNamesEveryVariable(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(string(b)) {
		if m := cell.FindStringSubmatch(line); m != nil {
			told = append(told, regexp.MustCompile(`TURNLEAF_[A-Z_]+`).FindAllString(m[1], -1)...)
		}
	}
	slices.Sort(told)
	if want := sorted(asked(func(getenv func(string) string) { _, _ = config.ParseWorker(getenv) })); !slices.Equal(told, want) {
		t.Errorf("the README's table has %v,\nthe code reads %v", told, want)
	}
}
