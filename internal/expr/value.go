package expr

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is what a value or a result is.
type Kind string

// The kinds. A Value has one of the first six; Bytes, Time, Duration and Other come from expressions only.
const (
	None     Kind = ""
	Null     Kind = "null"
	Bool     Kind = "bool"
	Number   Kind = "number"
	Text     Kind = "text"
	List     Kind = "list"
	Map      Kind = "map"
	Bytes    Kind = "bytes"
	Time     Kind = "time"
	Duration Kind = "duration"
	Other    Kind = "other"
)

// indexFrom is the size from which an object gets an index; below it a look along the keys is quicker.
const indexFrom = 9

// node is one JSON value. Nothing in it changes after Decode, so a tree may be read by any number of goroutines.
type node struct {
	kind  Kind
	raw   []byte // of this value alone, without the white space around it
	items []node // elements, or the values of the members
	keys  []string
	index map[string]int // nil for small objects
	// defect is this node's own; below is the first one in the subtree, its own included. Both are usually empty.
	defect string
	below  string
	count  int // of nodes in the subtree, for the cost of comparing
}

// Value is one value of a decoded document; the zero Value is no document. Values are immutable.
type Value struct{ n *node }

// IsZero reports that there is no document.
func (v Value) IsZero() bool { return v.n == nil }

// Kind is None for the zero Value.
func (v Value) Kind() Kind {
	if v.n == nil {
		return None
	}
	return v.n.kind
}

// IsNull reports a JSON null.
func (v Value) IsNull() bool { return v.Kind() == Null }

// Raw is the value's own bytes as received, a slice of what Decode was given: not to be changed.
func (v Value) Raw() []byte {
	if v.n == nil {
		return nil
	}
	return v.n.raw
}

// Defect is the first thing in the value or below it that JSON does not forbid but nobody can read in one way: "duplicate key",
// or "invalid UTF-8 or lone surrogate"; empty if there is none. An expression that touches the defective node is an error.
func (v Value) Defect() string {
	if v.n == nil {
		return ""
	}
	return v.n.below
}

// Len counts the elements of a list or the members of an object; 0 for every other kind.
func (v Value) Len() int {
	if v.n == nil {
		return 0
	}
	return len(v.n.items)
}

// List gives the elements of a list; nil for every other kind.
func (v Value) List() []Value {
	if v.Kind() != List {
		return nil
	}
	out := make([]Value, len(v.n.items))
	for i := range v.n.items {
		out[i] = Value{&v.n.items[i]}
	}
	return out
}

// Get gives the member of an object. An object with a defect of its own has no members that can be trusted, so gives none.
func (v Value) Get(key string) (Value, bool) {
	if v.Kind() != Map || v.n.defect != "" {
		return Value{}, false
	}
	m := v.n.find(key)
	return Value{m}, m != nil
}

// Text is the text of a string, unescaped.
func (v Value) Text() (string, error) {
	switch {
	case v.Kind() != Text:
		return "", fmt.Errorf("a text is needed, found %s", v.Kind().article())
	case v.n.defect != "":
		return "", defectError(v.n.defect)
	}
	return v.n.text(), nil
}

func (n *node) find(key string) *node {
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return &n.items[i]
		}
		return nil
	}
	for i, k := range n.keys {
		if k == key {
			return &n.items[i]
		}
	}
	return nil
}

// text unescapes; the caller has ruled out a defect.
func (n *node) text() string {
	if bytes.IndexByte(n.raw, '\\') < 0 {
		return string(n.raw[1 : len(n.raw)-1])
	}
	b, _ := jsontext.AppendUnquote(nil, n.raw)
	return string(b)
}

// article is for sentences: a list, an object, nothing.
func (k Kind) article() string {
	switch k {
	case None:
		return "nothing"
	case Null, Bytes:
		return string(k)
	case Map:
		return "an object"
	case Other:
		return "something else"
	}
	return "a " + string(k)
}
