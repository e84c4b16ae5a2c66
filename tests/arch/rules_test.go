package arch

import (
	"go/token"
	"strings"
	"testing"
)

// sample is a module of one or more packages, written as source.
type sample struct {
	pkg  string
	file string // a.go unless said otherwise
	src  string
	deps []string
}

func build(t *testing.T, samples ...sample) Module {
	t.Helper()
	m := Module{Set: token.NewFileSet(), Std: map[string]bool{
		"context": true, "time": true, "net/http": true, "net/url": true, "os": true, "math/rand/v2": true, "testing": true, "testing/fstest": true,
		"database/sql": true, "crypto/rand": true,
	}}
	for _, s := range samples {
		name := s.file
		if name == "" {
			name = "a.go"
		}
		f, err := parseFile(m.Set, s.pkg+"/"+name, []byte(s.src))
		if err != nil {
			t.Fatal(err)
		}
		m.Packages = append(m.Packages, Package{Path: s.pkg, Deps: s.deps, Files: []File{f}})
	}
	return m
}

func importing(paths ...string) string {
	return "// Package p is a sample.\npackage p\nimport (\n\t_ \"" + strings.Join(paths, "\"\n\t_ \"") + "\"\n)\n"
}

const ours = modulePath + "/"

// long is a body of n lines.
func long(n int) string { return strings.Repeat("\tx++\n", n) }

func TestRulesFindOffences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule func(Module) []Finding
		give sample
		want string // part of the one finding; empty: none
	}{
		{"down", Layers, sample{pkg: "internal/local", src: importing(ours + "internal/handoff")}, ""},
		{"up", Layers, sample{pkg: "internal/handoff", src: importing(ours + "internal/streamdef")}, "imports internal/streamdef of layer 1"},
		{"up from a subfolder", Layers, sample{pkg: "internal/expr/x", src: importing(ours + "internal/local")}, "imports internal/local"},
		{"tests may look up", Layers, sample{pkg: "internal/handoff", file: "a_test.go", src: importing(ours + "internal/local")}, ""},
		{"unplaced", Layers, sample{pkg: "internal/util", src: "package util"}, "has no layer"},
		{"nothing above programs", Layers, sample{pkg: "internal/local", src: importing(ours + "cmd/turnleaf")}, "imports cmd/turnleaf"},

		{"adapter alone", AdaptersApart, sample{pkg: "internal/policy", deps: []string{"internal/expr"}, src: "package p"}, ""},
		{"adapter links adapter", AdaptersApart, sample{pkg: "internal/policy", deps: []string{"internal/effect"}, src: "package p"}, "links internal/effect"},
		{"adapter and its own folder", AdaptersApart, sample{pkg: "internal/effect", deps: []string{"internal/effect/sqs"}, src: "package p"}, ""},

		{"core on std", CoreImports, sample{pkg: "internal/handoff", src: importing("context", "time")}, ""},
		{"core on library", CoreImports, sample{pkg: "internal/handoff", src: importing("go.yaml.in/yaml/v3")}, "not of the standard library"},
		{"core on own package", CoreImports, sample{pkg: "internal/handoff", src: importing(ours + "internal/expr")}, "not of the standard library"},
		{"core on net/url", CoreImports, sample{pkg: "internal/handoff", src: importing("net/url")}, ""},
		{"core on net", CoreImports, sample{pkg: "internal/handoff", src: importing("net/http")}, "net/http"},
		{"core on os", CoreImports, sample{pkg: "internal/handoff", src: importing("os")}, "no I/O: os"},
		{"core on rand", CoreImports, sample{pkg: "internal/handoff", src: importing("math/rand/v2")}, "math/rand/v2"},
		{"core on database", CoreImports, sample{pkg: "internal/handoff", src: importing("database/sql")}, "database/sql"},
		{"core on testing", CoreImports, sample{pkg: "internal/handoff", src: importing("testing")}, "testing"},
		{"core's tests are free", CoreImports, sample{pkg: "internal/handoff", file: "a_test.go", src: importing("testing", "pgregory.net/rapid")}, ""},

		{"time arithmetic", CoreCalls, sample{pkg: "internal/handoff", src: "package p\nimport \"time\"\nfunc f(t time.Time) bool { return t.After(t.Add(time.Second)) }"}, ""},
		{"time.Now", CoreCalls, sample{pkg: "internal/handoff", src: "package p\nimport \"time\"\nvar f = time.Now"}, "time.Now"},
		{"time.Since", CoreCalls, sample{pkg: "internal/handoff", src: "package p\nimport \"time\"\nfunc f(t time.Time) any { return time.Since(t) }"}, "time.Since"},
		{"time.Sleep renamed", CoreCalls, sample{pkg: "internal/handoff", src: "package p\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }"}, "time.Sleep"},
		{"time by dot", CoreCalls, sample{pkg: "internal/handoff", src: "package p\nimport . \"time\"\nfunc f() { Sleep(1) }"}, "dot import of time"},
		{"rand", CoreCalls, sample{pkg: "internal/handoff", src: "package p\nimport \"math/rand/v2\"\nvar x = rand.Int()"}, "math/rand/v2.Int"},
		{"clock elsewhere", CoreCalls, sample{pkg: "internal/local", src: "package p\nimport \"time\"\nvar f = time.Now"}, ""},

		{"ships testing", NoTestCode, sample{pkg: "internal/local", src: importing("testing/fstest")}, "testing/fstest"},
		{"ships fault", NoTestCode, sample{pkg: "internal/local", src: "package p", deps: []string{"internal/fault"}}, "links internal/fault"},
		{"ships the suite", NoTestCode, sample{pkg: "cmd/turnleaf", src: "package p", deps: []string{"internal/handofftest"}}, "internal/handofftest"},
		{"ships rapid", NoTestCode, sample{pkg: "functions/poll", src: "package p", deps: []string{"pgregory.net/rapid"}}, "rapid"},
		{"ships tests", NoTestCode, sample{pkg: "internal/local", src: "package p", deps: []string{"tests/feed"}}, "tests/feed"},
		{"suite's folder uses testing", NoTestCode, sample{pkg: "internal/handofftest/walkthrough", src: importing("testing")}, ""},
		{"suite uses testing", NoTestCode, sample{pkg: "internal/handofftest", src: importing("testing"), deps: []string{"pgregory.net/rapid"}}, ""},
		{"tests use testing", NoTestCode, sample{pkg: "internal/local", file: "a_test.go", src: importing("testing")}, ""},

		{"review with CEL", Links, sample{pkg: "internal/reviewapi", src: "package p", deps: []string{"cel.dev/cel-go/cel"}}, "cel.dev/cel-go/cel"},
		{"review with expr", Links, sample{pkg: "internal/reviewapi", src: "package p", deps: []string{"internal/expr"}}, "internal/expr"},
		{"review with SQLite", Links, sample{pkg: "internal/reviewapi", src: "package p", deps: []string{"modernc.org/sqlite"}}, "modernc.org/sqlite"},
		{"review with AWS", Links, sample{pkg: "internal/reviewapi", src: "package p", deps: []string{"github.com/aws/aws-sdk-go-v2/aws"}}, "aws"},
		{"review as it is", Links, sample{pkg: "internal/reviewapi", src: "package p", deps: []string{"internal/handoff", "net/http"}}, ""},
		{"function with SQLite", Links, sample{pkg: "functions/apply", src: "package p", deps: []string{"internal/sqlitestate"}}, "internal/sqlitestate"},
		{"function with CEL", Links, sample{pkg: "functions/apply", src: "package p", deps: []string{"cel.dev/cel-go/cel"}}, ""},
		{"review function with CEL", Links, sample{pkg: "functions/review", src: "package p", deps: []string{"cel.dev/cel-go/cel"}}, "cel.dev"},

		{"AWS in an adapter", AWS, sample{pkg: "internal/ddbstate", src: importing("github.com/aws/aws-sdk-go-v2/service/dynamodb")}, ""},
		{"AWS in the middle", AWS, sample{pkg: "internal/local", src: importing("github.com/aws/smithy-go")}, "smithy-go"},

		{"function imported", FunctionsUnimported, sample{pkg: "cmd/turnleaf", src: importing(ours + "functions/poll")}, "functions/poll"},
		{"function imported by a test", FunctionsUnimported, sample{pkg: "tests/e2e", file: "a_test.go", src: importing(ours + "functions/poll")}, "functions/poll"},
		{"function's own external test", FunctionsUnimported, sample{pkg: "functions/poll", file: "a_test.go", src: importing(ours + "functions/poll")}, ""},

		{"short", Size, sample{pkg: "internal/x", src: "package p\nfunc f(x int) {\n" + long(78) + "}\n"}, ""},
		{"long function", Size, sample{pkg: "internal/x", src: "package p\nfunc f(x int) {\n" + long(79) + "}\n"}, "a.go:f has 81 lines"},
		{"long method", Size, sample{pkg: "internal/x", src: "package p\ntype s int\nfunc (x s) m() {\n" + long(79) + "}\n"}, "a.go:m has 81 lines"},
		{"table", Size, sample{pkg: "internal/x", src: "package p\nfunc f() []int {\n\treturn []int{\n" + strings.Repeat("1,\n", 90) + "}\n}\n"}, ""},
		{"code in a table", Size, sample{pkg: "internal/x", src: "package p\nfunc f(x int) []func() {\n\treturn []func(){func() {\n" + long(90) + "}}\n}\n"}, "a.go:f has"},
		{"long file", Size, sample{pkg: "cmd/x", src: "package p\n" + strings.Repeat("// x\n", 400)}, "has 40"},
		{"long test", Size, sample{pkg: "internal/x", file: "a_test.go", src: "package p\nfunc f(x int) {\n" + long(500) + "}\n"}, ""},

		{"commented", Comments, sample{pkg: "internal/x", src: "// Package p is.\npackage p\n\n// F is.\nfunc F() {}\nfunc g() {}\n// T is.\ntype T int\ntype u int\nfunc (u) M() {}\n// C are.\nconst ( A = 1; B = 2 )"}, ""},
		{"no package comment", Comments, sample{pkg: "internal/x", src: "package p"}, "the package has no comment"},
		{"bare function", Comments, sample{pkg: "internal/x", src: "// Package p is.\npackage p\nfunc F() {}"}, "F has no comment"},
		{"bare method", Comments, sample{pkg: "internal/x", src: "// Package p is.\npackage p\n// T is.\ntype T[K any] int\nfunc (t *T[K]) M() {}"}, "M has no comment"},
		{"bare function named like a plain method", Comments, sample{pkg: "internal/x", src: "// Package p is.\npackage p\nfunc Error() {}"}, "Error has no comment"},
		{"plain method", Comments, sample{pkg: "internal/x", src: "// Package p is.\npackage p\n// E is.\ntype E int\nfunc (E) Error() string { return \"\" }"}, ""},
		{"bare type", Comments, sample{pkg: "internal/x", src: "// Package p is.\npackage p\ntype T int"}, "T has no comment"},
		{"bare type in a group", Comments, sample{pkg: "internal/x", src: "// Package p is.\npackage p\n// Some.\ntype (\n\tT int\n)"}, "T has no comment"},
		{"bare constant", Comments, sample{pkg: "internal/x", src: "// Package p is.\npackage p\nconst C = 1"}, "C has no comment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.rule(build(t, c.give))
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("found %v in what is right", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0].String(), c.want)):
				t.Errorf("found %v, want one finding with %q", got, c.want)
			}
		})
	}
}

// An exception counts only with its reason.
func TestSizeExceptions(t *testing.T) {
	t.Parallel()
	m := build(t, sample{pkg: "internal/x", src: "package p\nfunc f(x int) {\n" + long(90) + "}\n"})
	if got := size(m, map[string]string{"internal/x/a.go:f": "one switch over all verbs"}); len(got) != 0 {
		t.Errorf("with a reason: %v", got)
	}
	if got := size(m, map[string]string{"internal/x/a.go:f": ""}); len(got) != 1 {
		t.Errorf("without a reason: %v", got)
	}
}

// Every rule above has an offending sample, and is among those that run on the module.
func TestRulesAreNamed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.Name == "" || r.Check == nil || seen[r.Name] {
			t.Errorf("rule %q is empty or twice there", r.Name)
		}
		seen[r.Name] = true
	}
	for _, want := range []string{
		"layers", "adapters-apart", "core-imports", "core-calls", "no-test-code", "links", "aws", "functions-unimported", "size", "comments",
	} {
		if !seen[want] {
			t.Errorf("rule %s does not run", want)
		}
	}
}
