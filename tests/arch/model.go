package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Module is the code under judgement. Paths of its own packages are relative to the module ("internal/handoff"); all others
// are import paths.
type Module struct {
	Packages []Package
	// Std holds the import paths of the standard library that are linked anywhere.
	Std map[string]bool
	Set *token.FileSet
}

// Package is one folder of Go files.
type Package struct {
	Path string
	// Deps is all that its production code links, directly or not, without itself.
	Deps  []string
	Files []File
}

// File is one parsed file, whatever its build constraints.
type File struct {
	Name string // relative to the module
	Test bool   // _test.go
	AST  *ast.File
}

// Finding is one offence.
type Finding struct {
	Rule  string
	Where string // file:line, or a package
	What  string
}

func (f Finding) String() string { return fmt.Sprintf("%s: %s: %s", f.Where, f.Rule, f.What) }

// Rule judges a module.
type Rule struct {
	Name  string
	Check func(Module) []Finding
}

// Rules are all rules, in the order in which they are reported.
func Rules() []Rule {
	return []Rule{
		{"layers", Layers},
		{"adapters-apart", AdaptersApart},
		{"core-imports", CoreImports},
		{"core-calls", CoreCalls},
		{"no-test-code", NoTestCode},
		{"links", Links},
		{"aws", AWS},
		{"functions-unimported", FunctionsUnimported},
		{"size", Size},
		{"comments", Comments},
	}
}

func importPath(s *ast.ImportSpec) string {
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return s.Path.Value // does not parse as Go either
	}
	return relative(p)
}

// relative drops the module's own prefix.
func relative(p string) string {
	return strings.TrimPrefix(p, modulePath+"/")
}

const modulePath = "github.com/turnleaf/turnleaf"

// production gives a package's files that are compiled into what is shipped.
func (p Package) production() []File {
	var out []File
	for _, f := range p.Files {
		if !f.Test {
			out = append(out, f)
		}
	}
	return out
}

// shipped reports that a package is part of what is deployed, as opposed to what only tests link.
func shipped(pkg string) bool {
	own := under(pkg, "internal") || under(pkg, "cmd") || under(pkg, "functions")
	return own && !testCode(pkg)
}

// testCode reports that a package exists for tests alone: its name, or that of a folder around it, ends in "test".
func testCode(pkg string) bool {
	if under(pkg, "tests") || under(pkg, "internal/fault") {
		return true
	}
	for part := range strings.SplitSeq(pkg, "/") {
		if under(pkg, "internal") && strings.HasSuffix(part, "test") {
			return true
		}
	}
	return false
}

// under reports that a path is a folder or lies in it.
func under(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// at gives a position as file:line.
func (m Module) at(f File, pos token.Pos) string {
	return f.Name + ":" + strconv.Itoa(m.Set.Position(pos).Line)
}
