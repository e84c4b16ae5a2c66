package streamdef

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/turnleaf/turnleaf/internal/expr"
)

// The constructors of fields: a key, where its value goes, and what it may be.

func text[T any](key string, at func(*T) *string) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		if s, ok := r.text(n, path, "a text"); ok {
			*at(into) = s
		}
	}}
}

// text wants a text that is not empty. A number is refused where text is wanted: YAML has lost its digits' meaning by then.
func (r *reader) text(n *yaml.Node, path, expected string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Value == "" {
		found := describe(n)
		if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!str" && n.ShortTag() != "!!null" {
			found += " (put it in quotes)"
		}
		r.problem(n, path, expected, found)
		return "", false
	}
	return n.Value, true
}

func enum[T any](key string, at func(*T) *string, words ...string) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		s, ok := r.text(n, path, oneOf(words))
		if ok && !slices.Contains(words, s) {
			r.problem(n, path, oneOf(words), unknown(s, words))
		} else if ok {
			*at(into) = s
		}
	}}
}

func flag[T any](key string, at func(*T) *bool) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
			r.problem(n, path, "true or false", describe(n))
			return
		}
		*at(into) = strings.EqualFold(n.Value, "true")
	}}
}

func count[T any](key string, least, most int, at func(*T) *int) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		expected := fmt.Sprintf("a whole number from %d to %d", least, most)
		var i int
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&i) != nil {
			r.problem(n, path, expected, describe(n))
		} else if i < least || i > most {
			r.problem(n, path, expected, n.Value)
		} else {
			*at(into) = i
		}
	}}
}

func duration[T any](key string, least, most time.Duration, at func(*T) *time.Duration) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		s, ok := r.text(n, path, "a duration such as 90s, 24h or 30d")
		if !ok {
			return
		}
		d, err := ParseDuration(s)
		if err != nil {
			r.problem(n, path, "a duration such as 90s, 24h or 30d", fmt.Sprintf("%.40q", s))
		} else if d < least || d > most {
			r.problem(n, path, fmt.Sprintf("a duration from %s to %s", formatDuration(least), formatDuration(most)), s)
		} else {
			*at(into) = d
		}
	}}
}

func size[T any](key string, least, most int64, at func(*T) *int64) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		expected := fmt.Sprintf("a size such as 20MB, from %d to %d bytes", least, most)
		if n.Kind != yaml.ScalarNode || (n.ShortTag() != "!!str" && n.ShortTag() != "!!int") {
			r.problem(n, path, expected, describe(n))
			return
		}
		b, err := ParseSize(n.Value)
		if err != nil || b < least || b > most {
			r.problem(n, path, expected, fmt.Sprintf("%.40q", n.Value))
			return
		}
		*at(into) = b
	}}
}

func object[T, U any](key string, s shape[U], at func(*T) *U) field[T] {
	return field[T]{key: key, nested: s, read: func(r *reader, n *yaml.Node, path string, into *T) { s.read(r, n, path, at(into)) }}
}

// choice is an object that is nil unless the file has it.
func choice[T, U any](key string, s shape[U], at func(*T) **U) field[T] {
	return field[T]{key: key, nested: s, read: func(r *reader, n *yaml.Node, path string, into *T) {
		u := new(U)
		*at(into) = u
		s.read(r, n, path, u)
	}}
}

func list[T, U any](key string, s shape[U], at func(*T) *[]U) field[T] {
	return field[T]{key: key, nested: s, read: func(r *reader, n *yaml.Node, path string, into *T) {
		if n.Kind != yaml.SequenceNode {
			r.problem(n, path, "a list", describe(n))
			return
		}
		for i, item := range n.Content {
			var u U
			at2 := fmt.Sprintf("%s[%d]", path, i)
			r.at[at2] = item
			s.read(r, item, at2, &u)
			*at(into) = append(*at(into), u)
		}
	}}
}

func texts[T any](key string, at func(*T) *map[string]string) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		out := map[string]string{}
		r.pairs(n, path, "a map of texts", func(key, value *yaml.Node, at string) {
			if s, ok := r.text(value, at, "a text"); ok {
				out[key.Value] = s
			}
		})
		*at(into) = out
	}}
}

// body is a JSON object; its numbers are json.Number, so that they are sent digit for digit.
func body[T any](key string, at func(*T) *map[string]any) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		out := map[string]any{}
		r.pairs(n, path, "a map", func(key, value *yaml.Node, at string) { out[key.Value] = r.anything(value, at, 0) })
		*at(into) = out
	}}
}

func (r *reader) anything(n *yaml.Node, path string, depth int) any {
	switch {
	case depth > 50:
		r.problem(n, path, "at most 50 levels", "more")
	case n.Kind == yaml.MappingNode:
		out := map[string]any{}
		r.pairs(n, path, "a map", func(key, value *yaml.Node, at string) { out[key.Value] = r.anything(value, at, depth+1) })
		return out
	case n.Kind == yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = r.anything(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
		return out
	case n.Kind != yaml.ScalarNode:
		r.problem(n, path, "a value", describe(n))
	case n.ShortTag() == "!!str":
		return n.Value
	case n.ShortTag() == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case n.ShortTag() == "!!null":
		return nil
	case json.Valid([]byte(n.Value)):
		return json.Number(n.Value)
	default:
		r.problem(n, path, "a JSON value", describe(n)+" (put it in quotes)")
	}
	return nil
}

// cel reads an expression that may give one of the kinds (any, if there are none named).
func cel[T any](key string, at func(*T) *string, vars []string, kinds ...expr.Kind) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		if s, ok := r.cel(n, path, vars, kinds); ok {
			*at(into) = s
		}
	}}
}

func cels[T any](key string, at func(*T) *map[string]string, vars []string, kinds ...expr.Kind) field[T] {
	return field[T]{key: key, read: func(r *reader, n *yaml.Node, path string, into *T) {
		out := map[string]string{}
		r.pairs(n, path, "a map of expressions", func(key, value *yaml.Node, at string) {
			if s, ok := r.cel(value, at, vars, kinds); ok {
				out[key.Value] = s
			}
		})
		*at(into) = out
	}}
}

// cel takes what YAML reads as a number or a bool for the expression it looks like: `total: 1` means 1 in both.
func (r *reader) cel(n *yaml.Node, path string, vars []string, kinds []expr.Kind) (string, bool) {
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || n.Value == "" || !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool"}, tag) {
		r.problem(n, path, "an expression", describe(n))
		return "", false
	}
	p, err := expr.Compile(n.Value, vars...)
	if err != nil {
		line, col := n.Line, n.Column
		found := err.Error()
		var ce *expr.CompileError
		if errors.As(err, &ce) {
			line, col = r.place(n, ce.Line, ce.Column)
			found = plain(ce.Message)
		}
		r.report(line, col, path, "an expression over "+oneOf(vars), found)
		return "", false
	}
	if k := p.Kind(); k != expr.None && len(kinds) > 0 && !slices.Contains(kinds, k) {
		names := make([]string, len(kinds))
		for i, kind := range kinds {
			names[i] = string(kind)
		}
		r.problem(n, path, "an expression that gives "+oneOf(names), "one that gives "+string(k))
		return "", false
	}
	return n.Value, true
}

// place turns a place in an expression into one in the file. Folded and escaped texts are not followed: then it is where the
// text begins.
func (r *reader) place(n *yaml.Node, line, col int) (int, int) {
	switch n.Style {
	case yaml.LiteralStyle:
		at := n.Line + line // the text starts on the line below the |
		if at <= len(r.lines) {
			first := r.lines[n.Line]
			return at, len(first) - len(strings.TrimLeft(first, " ")) + col
		}
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		if line == 1 && !strings.ContainsAny(n.Value, "\\'\"\n") {
			return n.Line, n.Column + col
		}
	case yaml.FoldedStyle:
		return n.Line + 1, 1
	default:
		if line == 1 {
			return n.Line, n.Column + col - 1
		}
	}
	return n.Line, n.Column
}

// plain shortens the compiler's message to what helps.
func plain(msg string) string {
	msg = strings.TrimSuffix(firstLine(msg), " (in container '')")
	msg, _, _ = strings.Cut(msg, " expecting {")
	return strings.ReplaceAll(msg, "'<EOF>'", "the end")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
