package arch

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Deps       []string
	Module     *struct{ Path, Dir string }
}

// Load reads the module that lies in root. Every Go file of its packages is parsed, also those that this platform would not
// build; what a package links comes from the go command, for this platform.
func Load(root string) (Module, error) {
	packages, err := goList(root)
	if err != nil {
		return Module{}, err
	}
	m := Module{Std: map[string]bool{}, Set: token.NewFileSet()}
	for _, l := range packages {
		if l.Standard && !under(l.ImportPath, "internal") {
			m.Std[l.ImportPath] = true
		}
		if l.Module == nil || l.Module.Path != modulePath {
			continue
		}
		p := Package{Path: relative(l.ImportPath)}
		for _, d := range l.Deps {
			// The standard library has folders named internal too; nobody can import them, and here they would pass for ours.
			if !under(d, "internal") {
				p.Deps = append(p.Deps, relative(d))
			}
		}
		if p.Files, err = parseFolder(m.Set, l.Module.Dir, l.Dir); err != nil {
			return Module{}, fmt.Errorf("parse package %s: %w", p.Path, err)
		}
		m.Packages = append(m.Packages, p)
	}
	sort.Slice(m.Packages, func(i, j int) bool { return m.Packages[i].Path < m.Packages[j].Path })
	return m, nil
}

func goList(root string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Deps,Module", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("list packages: %w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("list packages: %w", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		packages = append(packages, l)
	}
}

func parseFolder(set *token.FileSet, moduleDir, dir string) ([]File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []File
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		short, err := filepath.Rel(moduleDir, name)
		if err != nil {
			return nil, err
		}
		f, err := parseFile(set, filepath.ToSlash(short), src)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func parseFile(set *token.FileSet, name string, src []byte) (File, error) {
	tree, err := parser.ParseFile(set, name, src, parser.ParseComments)
	return File{Name: name, Test: strings.HasSuffix(name, "_test.go"), AST: tree}, err
}
