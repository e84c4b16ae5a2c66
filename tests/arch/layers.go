package arch

import "fmt"

// layers fixes the direction of imports: a package may import its own layer and those below. A package without a layer is an
// offence, so that a new one is placed on purpose.
var layers = map[string]int{
	"internal/handoff": 0,

	"internal/expr":      1,
	"internal/streamdef": 1,

	"internal/sqlitestate": 2,
	"internal/dirarchive":  2,
	"internal/ddbstate":    2,
	"internal/s3archive":   2,
	"internal/sqsqueue":    2,
	"internal/httpsource":  2,
	"internal/policy":      2,
	"internal/effect":      2,
	"internal/reviewapi":   2,
	"internal/console":     2,

	"internal/config":     2,
	"internal/awssecrets": 2,

	"internal/bind":  3,
	"internal/demo":  3,
	"internal/cloud": 3,

	"internal/local":     4,
	"internal/cloudbind": 4,
}

// top is the layer of programs: cmd and functions.
const top = 5

// layer gives a shipped package's layer. A folder inside a package has the layer of the package around it.
func layer(pkg string) (int, bool) {
	if under(pkg, "cmd") || under(pkg, "functions") {
		return top, true
	}
	for p, n := range layers {
		if under(pkg, p) {
			return n, true
		}
	}
	return 0, false
}

// Layers: imports point down (DESIGN §5).
func Layers(m Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if !shipped(p.Path) {
			continue
		}
		own, placed := layer(p.Path)
		if !placed {
			out = append(out, Finding{"layers", p.Path, "has no layer: give it one in tests/arch/layers.go"})
			continue
		}
		for _, f := range p.production() {
			for _, s := range f.AST.Imports {
				to := importPath(s)
				if n, ok := layer(to); ok && n > own {
					out = append(out, Finding{"layers", m.at(f, s.Pos()), fmt.Sprintf("layer %d imports %s of layer %d", own, to, n)})
				}
			}
		}
	}
	return out
}
