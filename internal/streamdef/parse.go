package streamdef

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds a definition; a long one has some two hundred lines.
const maxFile = 256 << 10

// Load reads every .yaml and .yml file of a folder, in order of name. All problems of all files come back at once, joined; see
// Problems. A folder without definitions is an empty list.
func Load(dir string) ([]*Definition, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read definitions: %w", err)
	}
	var out []*Definition
	var errs []error
	files := map[string]string{}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || (ext != ".yaml" && ext != ".yml") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		d, err := LoadFile(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if other, taken := files[d.Name]; taken {
			errs = append(errs, &Problem{path, 1, 1, "", "one file for each stream", "the same name in " + other})
			continue
		}
		files[d.Name] = path
		out = append(out, d)
	}
	return out, errors.Join(errs...)
}

// LoadFile reads one definition, and no more of the file than Parse takes.
func LoadFile(path string) (*Definition, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read definition: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read definition %s: %w", path, err)
	}
	return Parse(path, data)
}

// Parse reads and checks one definition; path names it in messages, and its last part names the stream. The error joins all
// problems, each a *Problem. Expressions have been compiled once when it returns without one.
//
// Defaults of numbers, words and durations are filled in; an expression that is not there stays empty, and its meaning is the
// source adapter's.
func Parse(path string, data []byte) (*Definition, error) {
	r := &reader{file: path, at: map[string]*yaml.Node{}}
	root := r.document(data)
	if root == nil {
		return nil, r.err()
	}
	r.at[""] = root
	r.lines = strings.Split(string(data), "\n")
	d := &Definition{Path: path}
	r.index(root, "", 0)
	definitionShape().read(r, root, "", d)
	if root.Kind == yaml.MappingNode {
		r.check(d)
	}
	if len(r.problems) > 0 {
		return nil, r.err()
	}
	d.fill()
	d.Revision = hash(root)
	d.FetchHash = hash(r.at["source"])
	d.IdentityHash = hash(r.at["event"])
	d.PolicyHash = hash(r.at["policy"])
	d.EffectHash = hash(r.at["effect"])
	return d, nil
}

// document gives the root of the one YAML document, or reports why there is none.
func (r *reader) document(data []byte) (root *yaml.Node) {
	defer func() {
		if recover() != nil { // the YAML library panics on some broken input
			r.report(1, 1, "", "a YAML document", "one that the reader cannot follow")
			root = nil
		}
	}()
	switch {
	case len(data) > maxFile:
		r.report(1, 1, "", fmt.Sprintf("at most %d bytes", maxFile), "more")
		return nil
	case !utf8.Valid(data):
		r.report(1, 1, "", "UTF-8", "other bytes")
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			r.report(1, 1, "", "a definition", "an empty file")
		} else {
			r.syntax(err)
		}
		return nil
	}
	if err := dec.Decode(&more); err == nil {
		r.problem(&more, "", "one YAML document", "a second one")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if len(doc.Content) != 1 {
		r.report(1, 1, "", "a definition", "an empty file")
		return nil
	}
	return doc.Content[0]
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (r *reader) syntax(err error) {
	line, msg := 1, firstLine(err.Error())
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
		msg = strings.TrimPrefix(msg[len(m[0]):], "found ")
	}
	r.report(line, 1, "", "valid YAML", msg)
}

// index remembers where every value stands. Aliases are not followed, so the walk is no longer than the file.
func (r *reader) index(n *yaml.Node, path string, depth int) {
	if depth > 100 {
		return
	}
	r.at[path] = n
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			r.index(n.Content[i+1], under(path, n.Content[i].Value), depth+1)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			r.index(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	}
}

// fill puts the defaults where the file says nothing.
func (d *Definition) fill() {
	or(&d.Every, time.Minute)
	or(&d.Pages, 20)
	or(&d.Source.Method, "GET")
	or(&d.Source.Timeout, 20*time.Second)
	or(&d.Source.MaxBody, 10<<20)
	or(&d.Source.MaxEvents, 5000)
	c := &d.Contract
	or(&c.Order, "ordered")
	switch {
	case c.Order == "none" || d.Event.Position == "":
		or(&c.Positions, "arrival")
	default:
		or(&c.Positions, "unique")
	}
	or(&c.Late, "hold")
	or(&c.Token, "durable")
	or(&c.ReplayProof, "receipts")
}

func or[T comparable](at *T, value T) {
	var zero T
	if *at == zero {
		*at = value
	}
}

// streamName is what names may be: they go into keys, paths and metrics.
var streamName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

func fileName(path string) string {
	base := filepath.Base(filepath.ToSlash(path))
	for _, ext := range []string{".yaml", ".yml"} {
		if name, ok := strings.CutSuffix(base, ext); ok {
			return name
		}
	}
	return base
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
