package streamdef

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader goes over one file and collects every problem, so that one look mends all of them.
type reader struct {
	file     string
	lines    []string
	problems []*Problem
	at       map[string]*yaml.Node // of every value that was read, by path
}

func (r *reader) problem(n *yaml.Node, path, expected, found string) {
	r.report(n.Line, n.Column, path, expected, found)
}

func (r *reader) report(line, col int, path, expected, found string) {
	r.problems = append(r.problems, &Problem{r.file, max(line, 1), max(col, 1), path, expected, found})
}

// wrong reports at a path, or at the nearest thing above it that is there.
func (r *reader) wrong(path, expected, found string) {
	for at := path; ; at = parent(at) {
		if n, ok := r.at[at]; ok {
			r.problem(n, path, expected, found)
			return
		}
		if at == "" {
			r.report(1, 1, path, expected, found)
			return
		}
	}
}

// has reports that the file says something at the path.
func (r *reader) has(path string) bool { return r.at[path] != nil }

// err joins the problems in the order of the file.
func (r *reader) err() error {
	slices.SortStableFunc(r.problems, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	errs := make([]error, len(r.problems))
	for i, p := range r.problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func under(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func parent(path string) string {
	if strings.HasSuffix(path, `"]`) {
		if i := strings.LastIndex(path, `["`); i >= 0 {
			return path[:i]
		}
	}
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// describe names what a node is; it shows no content.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (write the value out)"
	}
	switch tag := n.ShortTag(); tag {
	case "!!str":
		if n.Value == "" {
			return "an empty text"
		}
		return "a text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a date"
	case "!!merge":
		return "a merge (write the keys out)"
	default:
		return "a value tagged " + tag
	}
}

// pairs gives the members of a map with their paths; problems with keys are reported and left out.
func (r *reader) pairs(n *yaml.Node, path, expected string, each func(key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		r.problem(n, path, expected, describe(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Value == "" || key.ShortTag() == "!!merge" {
			r.problem(key, path, "a key", describe(key))
			continue
		}
		at := under(path, key.Value)
		if seen[key.Value] {
			r.problem(key, at, "each key once", "it a second time")
			continue
		}
		seen[key.Value] = true
		r.at[at] = value
		each(key, value, at)
	}
}

// field reads the value of one key into T.
type field[T any] struct {
	key    string
	read   func(r *reader, n *yaml.Node, path string, into *T)
	nested lister // the keys below, where there are fixed ones
}

// lister gives the keys of a shape, for the test that holds the JSON Schema to them.
type lister interface{ list(path string) []string }

// shape is a map with fixed keys.
type shape[T any] []field[T]

func (s shape[T]) list(path string) []string {
	var out []string
	for _, f := range s {
		at := under(path, f.key)
		out = append(out, at)
		if f.nested != nil {
			out = append(out, f.nested.list(at)...)
		}
	}
	return out
}

func (s shape[T]) keys() []string {
	out := make([]string, len(s))
	for i, f := range s {
		out[i] = f.key
	}
	return out
}

func (s shape[T]) read(r *reader, n *yaml.Node, path string, into *T) {
	r.pairs(n, path, "a map", func(key, value *yaml.Node, at string) {
		i := slices.IndexFunc(s, func(f field[T]) bool { return f.key == key.Value })
		if i < 0 {
			r.problem(key, at, oneOf(s.keys()), unknown(key.Value, s.keys()))
			return
		}
		s[i].read(r, value, at, into)
	})
}

func unknown(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("%q (did you mean %s?)", word, near)
	}
	return fmt.Sprintf("%q", word)
}

func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
