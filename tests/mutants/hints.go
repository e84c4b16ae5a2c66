package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hint is the test that killed a mutant the last time: tried first, and alone, it saves playing the whole suite.
type hint struct {
	suite string
	test  string
}

// parseHints reads a .killers file: lines of mutant, suite and test. What is not understood is no hint.
func parseHints(text string) map[string]hint {
	hints := map[string]hint{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 3 {
			hints[f[0]] = hint{f[1], f[2]}
		}
	}
	return hints
}

// SaveHints writes who killed each mutant beside the list, for the next run.
func SaveHints(root string, l List, killers map[string]Killer) error {
	var lines []string
	for _, m := range l.Mutants {
		if k, ok := killers[m.Name]; ok && k.Test != "" {
			lines = append(lines, fmt.Sprintf("%s %s %s\n", m.Name, k.suite, k.Test))
		} else if h, ok := l.hints[m.Name]; ok {
			lines = append(lines, fmt.Sprintf("%s %s %s\n", m.Name, h.suite, h.test))
		}
	}
	slices.Sort(lines)
	at := filepath.Join(root, "tests", "mutants", "list", l.Name+".killers")
	if err := os.WriteFile(at, []byte(strings.Join(lines, "")), 0o600); err != nil {
		return fmt.Errorf("save hints of %s: %w", l.Name, err)
	}
	return nil
}
