package arch

import (
	"go/ast"
	"strings"
)

// clockCalls read or wait for the real time. The rest of package time is arithmetic.
var clockCalls = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true,
	"NewTimer": true, "NewTicker": true,
}

// CoreCalls: the protocol asks its Clock for the time and its IDs for randomness, and never waits.
func CoreCalls(m Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if p.Path != "internal/handoff" {
			continue
		}
		for _, f := range p.production() {
			out = append(out, m.coreCalls(f)...)
		}
	}
	return out
}

func (m Module) coreCalls(f File) []Finding {
	var out []Finding
	names, dots := importNames(f)
	for _, d := range dots {
		out = append(out, Finding{"core-calls", f.Name, "dot import of " + d + " hides what is called"})
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		switch from := names[x.Name]; {
		case from == "time" && clockCalls[sel.Sel.Name]:
			out = append(out, Finding{"core-calls", m.at(f, n.Pos()), "time." + sel.Sel.Name})
		case strings.HasSuffix(from, "/rand") || strings.HasSuffix(from, "/rand/v2"):
			out = append(out, Finding{"core-calls", m.at(f, n.Pos()), from + "." + sel.Sel.Name})
		}
		return true
	})
	return out
}

// importNames maps the names that a file gives to packages to their paths, and lists its dot imports.
func importNames(f File) (names map[string]string, dots []string) {
	names = map[string]string{}
	for _, s := range f.AST.Imports {
		p := importPath(s)
		switch {
		case s.Name == nil:
			base := strings.TrimSuffix(p, "/v2")
			names[base[strings.LastIndex(base, "/")+1:]] = p
		case s.Name.Name == ".":
			dots = append(dots, p)
		default:
			names[s.Name.Name] = p
		}
	}
	return names, dots
}
