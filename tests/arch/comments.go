package arch

import (
	"go/ast"
	"go/token"
)

// plain methods mean the same everywhere.
var plain = map[string]bool{"Error": true, "String": true, "Unwrap": true}

// Comments: every internal package and everything it exports says what it is. The comment of a group covers its constants and
// variables; a method of a type that is not exported belongs to the interface it serves.
func Comments(m Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if !under(p.Path, "internal") {
			continue
		}
		documented := false
		for _, f := range p.production() {
			documented = documented || f.AST.Doc != nil
			for _, d := range f.AST.Decls {
				for _, id := range uncommented(d) {
					out = append(out, Finding{"comments", m.at(f, id.Pos()), id.Name + " has no comment"})
				}
			}
		}
		if !documented && len(p.production()) > 0 {
			out = append(out, Finding{"comments", p.Path, "the package has no comment"})
		}
	}
	return out
}

// uncommented gives the exported names of a declaration that no comment covers.
func uncommented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		method := d.Recv != nil
		if method && (plain[d.Name.Name] || !ast.IsExported(receiver(d))) {
			return nil
		}
		if d.Name.IsExported() && d.Doc == nil {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var out []*ast.Ident
		for _, s := range d.Specs {
			out = append(out, uncommentedSpec(d, s)...)
		}
		return out
	}
	return nil
}

func uncommentedSpec(d *ast.GenDecl, s ast.Spec) []*ast.Ident {
	var out []*ast.Ident
	switch s := s.(type) {
	case *ast.TypeSpec:
		// A comment over `type ( … )` says nothing about the single types, one over a lone type does.
		alone := d.Lparen == token.NoPos && d.Doc != nil
		if s.Name.IsExported() && s.Doc == nil && !alone {
			out = append(out, s.Name)
		}
	case *ast.ValueSpec:
		if d.Doc != nil || s.Doc != nil || s.Comment != nil {
			return nil
		}
		for _, n := range s.Names {
			if n.IsExported() {
				out = append(out, n)
			}
		}
	}
	return out
}

// receiver names the type of a method.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
