package mutants

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed list
var lists embed.FS

// Placeholder stands in a replacement where the mutant is asked for.
const Placeholder = "MUTANT"

// Mutant is one guard, removed.
type Mutant struct {
	Name  string
	Guard string // what is removed, in words, and the rule or invariant that it keeps
	File  string // from the root of the module, with slashes
	Old   string // occurs exactly once in File, once the mutants before it are in
	New   string // holds the Placeholder
	// Equivalent says why no test can tell it from the original: it is then compiled and not run.
	Equivalent string
}

// SuiteOf names a test package of the module, and with Run some of its tests alone.
type SuiteOf struct{ Package, Run string }

// List is the mutants of some packages, and the test packages that must kill them.
type List struct {
	Name string
	// Suites are tried in order until one kills: the fast ones first.
	Suites []SuiteOf
	// More are suites that only a full run tries on what is left.
	More    []SuiteOf
	Mutants []Mutant
	hints   map[string]hint // mutant → what killed it the last time
}

// Load reads the list of that name: NAME.txt, then the files of the folder NAME, if there is one.
func Load(name string) (List, error) {
	paths, err := fs.Glob(lists, "list/"+name+"/*.txt")
	if err != nil {
		return List{}, fmt.Errorf("load list %s: %w", name, err)
	}
	p := newReader(name)
	for _, path := range append([]string{"list/" + name + ".txt"}, paths...) {
		b, err := lists.ReadFile(path)
		if err != nil {
			return List{}, fmt.Errorf("load list %s: %w", name, err)
		}
		if err := p.read(path, string(b)); err != nil {
			return List{}, err
		}
	}
	known, err := lists.ReadFile("list/" + name + ".killers")
	if err == nil { // a new list has none yet
		p.list.hints = parseHints(string(known))
	}
	return p.list, nil
}

// Names gives every list.
func Names() []string {
	entries, _ := lists.ReadDir("list") // embedded: always there
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".txt"); ok {
			names = append(names, name)
		}
	}
	return names
}

// Parse reads a list. A line that begins with # is a comment; the others are
//
//	suite PACKAGE [RUN]        a test package, from the root of the module; RUN as in go test -run
//	more PACKAGE [RUN]         one that only a full run tries
//	file PATH                  the file of the mutants that follow
//	NAME: guard in words       begins a mutant
//	    equivalent: reason     it is not run
//	    - old source           one line or several, their white space as in the file from the first line's indentation on
//	    + new source           with MUTANT in it, which becomes a call that is true for this mutant alone
func Parse(name, text string) (List, error) {
	p := newReader(name)
	err := p.read("list "+name, text)
	return p.list, err
}

func newReader(name string) *reader {
	return &reader{list: List{Name: name}, names: map[string]bool{}}
}

func (p *reader) read(from, text string) error {
	for n, line := range strings.Split(text, "\n") {
		if err := p.line(line); err != nil {
			return fmt.Errorf("%s, line %d: %w", from, n+1, err)
		}
	}
	if err := p.end(); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

type reader struct {
	list     List
	file     string
	m        *Mutant
	old, new []string
	names    map[string]bool
}

func (p *reader) line(line string) error {
	body := strings.TrimSpace(line)
	indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
	word, rest, _ := strings.Cut(body, " ")
	switch {
	case body == "" || strings.HasPrefix(line, "#"):
		return nil
	case indented:
		return p.part(word, rest)
	}
	if err := p.end(); err != nil {
		return err
	}
	switch {
	case word == "suite":
		p.list.Suites = append(p.list.Suites, suiteOf(rest))
	case word == "more":
		p.list.More = append(p.list.More, suiteOf(rest))
	case word == "file":
		p.file = rest
	case strings.HasSuffix(word, ":") && p.file != "" && rest != "":
		name := strings.TrimSuffix(word, ":")
		if p.names[name] {
			return fmt.Errorf("a second mutant %q", name)
		}
		p.names[name] = true
		p.m = &Mutant{Name: name, Guard: rest, File: p.file}
	default:
		return fmt.Errorf("not understood: %q", body)
	}
	return nil
}

func suiteOf(words string) SuiteOf {
	pkg, run, _ := strings.Cut(words, " ")
	return SuiteOf{pkg, run}
}

// part is an indented line: a piece of the mutant that has begun.
func (p *reader) part(word, rest string) error {
	switch {
	case p.m == nil:
		return fmt.Errorf("no mutant has begun")
	case word == "-":
		p.old = append(p.old, rest)
	case word == "+":
		p.new = append(p.new, rest)
	case word == "equivalent:":
		p.m.Equivalent = rest
	default:
		return fmt.Errorf("not understood: %q", word)
	}
	return nil
}

// end closes the mutant that has begun.
func (p *reader) end() error {
	if p.m == nil {
		return nil
	}
	p.m.Old, p.m.New = strings.Join(p.old, "\n"), strings.Join(p.new, "\n")
	if p.m.Old == "" || !strings.Contains(p.m.New, Placeholder) {
		return fmt.Errorf("mutant %s needs old source, and new source with %s in it", p.m.Name, Placeholder)
	}
	p.list.Mutants = append(p.list.Mutants, *p.m)
	p.m, p.old, p.new = nil, nil, nil
	return nil
}
