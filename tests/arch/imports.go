package arch

import "fmt"

// adapters each join the protocol to one technology.
var adapters = []string{
	"internal/sqlitestate", "internal/dirarchive", "internal/ddbstate", "internal/s3archive", "internal/sqsqueue",
	"internal/httpsource", "internal/policy", "internal/effect",
}

// adapterOf gives the adapter that a package is or belongs to.
func adapterOf(pkg string) (string, bool) {
	for _, a := range adapters {
		if under(pkg, a) {
			return a, true
		}
	}
	return "", false
}

// AdaptersApart: no adapter links another, directly or not; who needs two is a program.
func AdaptersApart(m Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		own, ok := adapterOf(p.Path)
		if !ok {
			continue
		}
		for _, d := range p.Deps {
			if other, ok := adapterOf(d); ok && other != own {
				out = append(out, Finding{"adapters-apart", p.Path, "links " + d})
			}
		}
	}
	return out
}

// coreBanned are the parts of the standard library that would give the protocol a clock, randomness or I/O of its own.
var coreBanned = []string{"net", "os", "testing", "math/rand", "crypto/rand", "database", "syscall", "log", "io/fs", "io/ioutil", "unsafe"}

// coreAllowed are pure parts of what is banned.
var coreAllowed = map[string]bool{"net/url": true}

// CoreImports: the protocol imports the standard library only, and of it nothing that does I/O.
func CoreImports(m Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if p.Path != "internal/handoff" {
			continue
		}
		for _, f := range p.production() {
			for _, s := range f.AST.Imports {
				to := importPath(s)
				if !m.Std[to] {
					out = append(out, Finding{"core-imports", m.at(f, s.Pos()), to + " is not of the standard library"})
				}
				if underAny(to, coreBanned) && !coreAllowed[to] {
					out = append(out, Finding{"core-imports", m.at(f, s.Pos()), "the protocol does no I/O: " + to})
				}
			}
		}
	}
	return out
}

// NoTestCode: nothing that is shipped links what exists for tests.
func NoTestCode(m Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if !shipped(p.Path) {
			continue
		}
		for _, d := range p.Deps {
			if testCode(d) || under(d, "pgregory.net/rapid") {
				out = append(out, Finding{"no-test-code", p.Path, "links " + d})
			}
		}
		// Libraries of others may drag testing in; our own code may not.
		for _, f := range p.production() {
			for _, s := range f.AST.Imports {
				if to := importPath(s); under(to, "testing") {
					out = append(out, Finding{"no-test-code", m.at(f, s.Pos()), "imports " + to})
				}
			}
		}
	}
	return out
}

// The libraries whose weight or reach is limited.
var (
	cel    = []string{"cel.dev", "github.com/google/cel-go", "internal/expr"}
	sqlite = []string{"modernc.org/sqlite", "internal/sqlitestate"}
	aws    = []string{"github.com/aws"}
)

// linkBans say what must not be linked into a package, directly or not, and why.
var linkBans = []struct {
	pkg    string
	banned []string
	why    string
}{
	{"internal/reviewapi", cel, "review takes decisions on what is stored and evaluates nothing"},
	{"internal/reviewapi", sqlite, "review knows the store as a port"},
	{"internal/reviewapi", aws, "review knows the store as a port"},
	{"functions", sqlite, "a function's store is DynamoDB"},
	{"functions/review", cel, "review evaluates nothing, and CEL doubles the binary"},
}

// Links: packages stay free of the libraries they must not carry.
func Links(m Module) []Finding {
	var out []Finding
	for _, ban := range linkBans {
		for _, p := range m.Packages {
			if !under(p.Path, ban.pkg) {
				continue
			}
			for _, d := range p.Deps {
				if underAny(d, ban.banned) {
					out = append(out, Finding{"links", p.Path, fmt.Sprintf("links %s: %s", d, ban.why)})
				}
			}
		}
	}
	return out
}

// awsUsers may import the AWS SDK: the adapters of AWS services, the programs that make the clients, and the decorators that
// fail its calls in tests.
var awsUsers = []string{"internal/ddbstate", "internal/s3archive", "internal/sqsqueue", "internal/awssecrets", "internal/cloud", "internal/cloudbind",
	"functions", "cmd", "internal/fault"}

// AWS: the SDK stays at the edge.
func AWS(m Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if !under(p.Path, "internal") || underAny(p.Path, awsUsers) {
			continue
		}
		for _, f := range p.production() {
			for _, s := range f.AST.Imports {
				if to := importPath(s); underAny(to, aws) {
					out = append(out, Finding{"aws", m.at(f, s.Pos()), "imports " + to})
				}
			}
		}
	}
	return out
}

// FunctionsUnimported: a function is a program; nothing imports it, not even another function.
func FunctionsUnimported(m Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, s := range f.AST.Imports {
				if to := importPath(s); under(to, "functions") && to != p.Path {
					out = append(out, Finding{"functions-unimported", m.at(f, s.Pos()), "imports " + to})
				}
			}
		}
	}
	return out
}

func underAny(p string, folders []string) bool {
	for _, f := range folders {
		if under(p, f) {
			return true
		}
	}
	return false
}
