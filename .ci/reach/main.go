// Command reach says, as JSON, what the code of each Lambda function can reach: methods of AWS clients, and functions of this module.
// It runs in the module's root, and has a module of its own so that its dependency is none of the product's.
//
// The call graph is VTA's: an interface method is followed to the types that can get there. It knows nothing of values, so it says
// what may be called, never what will be; reflection is invisible to it, which is why a function's handler counts as called.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

const (
	module = "github.com/turnleaf/turnleaf/"
	sdk    = "github.com/aws/aws-sdk-go-v2/service/"
)

// reached is what one program can call.
type reached struct {
	Operations []string `json:"operations"` // dynamodb.GetItem
	Functions  []string `json:"functions"`  // internal/ddbstate.Store.Settle
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reach:", err)
		os.Exit(1)
	}
}

func run(programs []string) error {
	// With the tags of the deployed build.
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, BuildFlags: []string{"-tags=lambda.norpc"}, Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux"),
	}, programs...)
	if err != nil {
		return err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return fmt.Errorf("the packages do not build")
	}
	prog, mains := ssautil.AllPackages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	graph := vta.CallGraph(ssautil.AllFunctions(prog), nil)
	out := map[string]reached{}
	for _, m := range mains {
		out[path.Base(m.Pkg.Path())] = from(graph, m)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// from walks from every function of a program's own package.
func from(g *callgraph.Graph, m *ssa.Package) reached {
	seen := map[*callgraph.Node]bool{}
	var todo []*callgraph.Node
	for f, n := range g.Nodes {
		if f != nil && f.Pkg == m {
			todo = append(todo, n)
		}
	}
	var r reached
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		r.add(n.Func)
		for _, e := range n.Out {
			todo = append(todo, e.Callee)
		}
	}
	slices.Sort(r.Operations)
	slices.Sort(r.Functions)
	r.Functions = slices.Compact(r.Functions)
	return r
}

// add keeps exported methods of SDK clients, and what this module declares.
func (r *reached) add(f *ssa.Function) {
	if f.Object() == nil || f.Object().Pkg() == nil {
		return
	}
	pkg, name := f.Object().Pkg().Path(), f.Name()
	if recv := f.Signature.Recv(); recv != nil {
		name = strings.TrimPrefix(recv.Type().String(), "*") + "." + name
	} else {
		name = pkg + "." + name
	}
	if op, ok := strings.CutPrefix(name, pkg+".Client."); ok && strings.HasPrefix(pkg, sdk) && f.Object().Exported() {
		r.Operations = append(r.Operations, strings.TrimPrefix(pkg, sdk)+"."+op)
	}
	if strings.HasPrefix(pkg, module) {
		r.Functions = append(r.Functions, strings.TrimPrefix(name, module))
	}
}
