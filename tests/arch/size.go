package arch

import (
	"fmt"
	"go/ast"
	"go/token"
)

// What a reader can hold. A table, a literal of rows, counts as one line: it is read by looking up, not through.
const (
	maxFunction = 80
	maxFile     = 400
)

// sizeExceptions are files ("internal/x/y.go") and functions ("internal/x/y.go:Name") that may be longer, each with its
// reason. Without a reason it is no exception.
var sizeExceptions = map[string]string{}

// Size: functions and files stay short, tests and their tables apart.
func Size(m Module) []Finding { return size(m, sizeExceptions) }

func size(m Module, exceptions map[string]string) []Finding {
	var out []Finding
	check := func(name, where string, lines, limit int) {
		if lines > limit && exceptions[name] == "" {
			out = append(out, Finding{"size", where, fmt.Sprintf("%s has %d lines, at most %d", name, lines, limit)})
		}
	}
	for _, p := range m.Packages {
		if testCode(p.Path) {
			continue
		}
		for _, f := range p.production() {
			check(f.Name, f.Name, m.length(f.AST), maxFile)
			for _, d := range f.AST.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					check(f.Name+":"+fn.Name.Name, m.at(f, fn.Pos()), m.length(fn), maxFunction)
				}
			}
		}
	}
	return out
}

// length counts the lines of a node, comments around a function not included, each table in it as one.
func (m Module) length(n ast.Node) int {
	from, to := n.Pos(), n.End()
	if f, ok := n.(*ast.File); ok {
		from, to = f.FileStart, f.FileEnd
	}
	lines := m.lines(from, to)
	ast.Inspect(n, func(c ast.Node) bool {
		lit, ok := c.(*ast.CompositeLit)
		if !ok || !isTable(lit) {
			return true
		}
		lines -= m.lines(lit.Pos(), lit.End()) - 1
		return false // a table in a table is gone with it
	})
	return lines
}

func (m Module) lines(from, to token.Pos) int {
	return m.Set.Position(to).Line - m.Set.Position(from).Line + 1
}

// isTable reports a literal of rows: a slice, an array or a map that holds no function.
func isTable(lit *ast.CompositeLit) bool {
	switch lit.Type.(type) {
	case *ast.ArrayType, *ast.MapType:
	default:
		return false
	}
	table := true
	ast.Inspect(lit, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			table = false
		}
		return table
	})
	return table
}
