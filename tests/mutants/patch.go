package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Env names the mutant that a test binary runs as; none is the original.
const Env = "TURNLEAF_MUTANT"

// switchSource is the file that each patched package gets.
const switchSource = `package %s

import "os"

var activeMutant = os.Getenv(%q)

func mutant(name string) bool { return name == activeMutant }
`

// Patch writes copies of the list's files, with every mutant in them, into dir, and gives the overlay that shows them to the
// compiler. root is the module's folder.
func Patch(root, dir string, l List) (overlay string, err error) {
	sources, err := patched(root, l)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	add := func(at, text string) error {
		copied := filepath.Join(dir, strings.NewReplacer("/", "_", `\`, "_").Replace(at))
		replace[filepath.Join(root, filepath.FromSlash(at))] = copied
		return os.WriteFile(copied, []byte(text), 0o600)
	}
	for file, text := range sources {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly)
		if err != nil {
			return "", fmt.Errorf("patch %s: %w", file, err)
		}
		folder := file[:strings.LastIndexByte(file, '/')]
		if err := errors.Join(add(file, text), add(folder+"/zz_mutant.go", fmt.Sprintf(switchSource, parsed.Name, Env))); err != nil {
			return "", fmt.Errorf("patch %s: %w", file, err)
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encode overlay: %w", err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, b, 0o600)
}

// patched gives each file's text with its mutants in it. Every snippet that does not fit is told, not only the first.
func patched(root string, l List) (map[string]string, error) {
	sources := map[string]string{}
	var misfits []error
	for _, m := range l.Mutants {
		text, ok := sources[m.File]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
			if err != nil {
				return nil, fmt.Errorf("mutant %s: %w", m.Name, err)
			}
			text = string(b)
		}
		replaced, err := replace(text, m)
		if err != nil {
			misfits = append(misfits, err)
			replaced = text
		}
		sources[m.File] = replaced
	}
	return sources, errors.Join(misfits...)
}

// replace puts one mutant in. Its snippet's lines are the file's, whatever the indentation of the first one.
func replace(text string, m Mutant) (string, error) {
	lines := strings.Split(m.Old, "\n")
	from, to := -1, -1
	for at := 0; ; {
		i := strings.Index(text[at:], lines[0])
		if i < 0 {
			break
		}
		if end, ok := matches(text, at+i, lines); ok {
			if from >= 0 {
				return "", fmt.Errorf("mutant %s: its snippet is in %s more than once: %s", m.Name, m.File, m.Old)
			}
			from, to = at+i, end
		}
		at += i + 1
	}
	if from < 0 {
		return "", fmt.Errorf("mutant %s: its snippet is not in %s: %s", m.Name, m.File, m.Old)
	}
	call := fmt.Sprintf("mutant(%q)", m.Name)
	return text[:from] + strings.ReplaceAll(m.New, Placeholder, call) + text[to:], nil
}

// matches compares line by line, leading white space apart.
func matches(text string, at int, lines []string) (end int, ok bool) {
	for i, line := range lines {
		if i > 0 {
			at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t"))
			line = strings.TrimLeft(line, " \t")
		}
		if !strings.HasPrefix(text[at:], line) {
			return 0, false
		}
		if at += len(line); i == len(lines)-1 {
			break
		}
		if !strings.HasPrefix(text[at:], "\n") {
			return 0, false
		}
		at++
	}
	return at, true
}
