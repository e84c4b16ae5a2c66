package expr

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of a document, where none are given.
const (
	DefaultDepth = 128
	DefaultNodes = 2_000_000
	maxDepth     = 9_000 // below the reader's own limit, and far below what a stack holds
)

// The defects: legal JSON by RFC 8259, with no one meaning.
const (
	defectDuplicate = "duplicate key"
	defectText      = "invalid UTF-8 or lone surrogate"
)

// Limits bound a document: how deep it nests, and how many values it holds. Zero means the default.
type Limits struct {
	Depth int
	Nodes int
}

// DecodeError says where a document stops being one; Offset counts bytes from 0. It shows nothing of the content.
type DecodeError struct {
	Offset int64
	Reason string
}

func (e *DecodeError) Error() string { return fmt.Sprintf("JSON at byte %d: %s", e.Offset, e.Reason) }

// Decode reads one JSON document. The tree keeps slices of b, which must not change afterwards. Duplicate keys, invalid UTF-8
// and lone surrogates do not fail the document: the node is marked, see Value.Defect. The error is a *DecodeError.
func Decode(b []byte, lim Limits) (Value, error) {
	if lim.Depth <= 0 {
		lim.Depth = DefaultDepth
	}
	if lim.Nodes <= 0 {
		lim.Nodes = DefaultNodes
	}
	lim.Depth = min(lim.Depth, maxDepth)
	if bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		return Value{}, &DecodeError{0, "the document starts with a byte order mark"}
	}
	// The decoder reads from the buffer in place, and we slice b ourselves: its own slices do not outlive the next token.
	dec := jsontext.NewDecoder(bytes.NewBuffer(b[:len(b):len(b)]),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	d := decoder{dec: dec, b: b, lim: lim}
	root := new(node)
	if err := d.value(root, 0); err != nil {
		return Value{}, err
	}
	end := dec.InputOffset()
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Value{}, &DecodeError{end, "something follows the document"}
	}
	return Value{root}, nil
}

type decoder struct {
	dec   *jsontext.Decoder
	b     []byte
	lim   Limits
	nodes int
}

// value reads the next value into n, which lies depth levels deep.
func (d *decoder) value(n *node, depth int) error {
	if d.nodes++; d.nodes > d.lim.Nodes {
		return d.fail(fmt.Sprintf("more than %d values", d.lim.Nodes))
	}
	n.count = 1
	kind := d.dec.PeekKind()
	if kind == '{' || kind == '[' {
		if depth >= d.lim.Depth {
			return d.fail(fmt.Sprintf("nested deeper than %d levels", d.lim.Depth))
		}
		return d.compound(n, kind, depth)
	}
	raw, err := d.scalar()
	if err != nil {
		return err
	}
	n.raw = raw
	switch kind {
	case '"':
		n.kind = Text
		if _, err := unquote(raw); err != nil {
			n.mark(defectText)
		}
	case '0':
		n.kind = Number
	case 'n':
		n.kind = Null
	default:
		n.kind = Bool
	}
	return nil
}

func (d *decoder) compound(n *node, kind jsontext.Kind, depth int) error {
	if _, err := d.dec.ReadToken(); err != nil {
		return d.syntax(err)
	}
	start := d.dec.InputOffset() - 1
	n.kind = List
	end := jsontext.Kind(']')
	if kind == '{' {
		n.kind, end = Map, '}'
	}
	for d.dec.PeekKind() != end {
		if n.kind == Map {
			if err := d.key(n); err != nil {
				return err
			}
		}
		n.items = append(n.items, node{})
		child := &n.items[len(n.items)-1]
		if err := d.value(child, depth+1); err != nil {
			return err
		}
		n.count += child.count
		if n.below == "" {
			n.below = child.below
		}
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return d.syntax(err)
	}
	stop := d.dec.InputOffset()
	n.raw = d.b[start:stop:stop]
	n.close()
	return nil
}

// key reads the name of the next member.
func (d *decoder) key(n *node) error {
	if kind := d.dec.PeekKind(); kind != '"' && kind != 0 {
		return d.fail("not valid JSON: the name of a member is needed")
	}
	raw, err := d.scalar()
	if err != nil {
		return err
	}
	name, err := unquote(raw)
	if err != nil {
		n.mark(defectText)
	}
	n.keys = append(n.keys, name)
	return nil
}

// scalar reads one token that is whole in itself, as a slice of the document.
func (d *decoder) scalar() ([]byte, error) {
	raw, err := d.dec.ReadValue()
	if err != nil {
		return nil, d.syntax(err)
	}
	stop := d.dec.InputOffset()
	return d.b[stop-int64(len(raw)) : stop : stop], nil
}

// close finds duplicate names, and indexes what is too long to be searched.
func (n *node) close() {
	if n.kind != Map || len(n.keys) < 2 {
		return
	}
	if len(n.keys) < indexFrom {
		for i, k := range n.keys {
			for _, earlier := range n.keys[:i] {
				if k == earlier {
					n.mark(defectDuplicate)
				}
			}
		}
		return
	}
	n.index = make(map[string]int, len(n.keys))
	for i, k := range n.keys {
		n.index[k] = i
	}
	if len(n.index) < len(n.keys) {
		n.mark(defectDuplicate)
	}
}

func (n *node) mark(defect string) {
	if n.defect == "" {
		n.defect, n.below = defect, defect
	}
}

// unquote unescapes; an error means that the text has no exact value.
func unquote(raw []byte) (string, error) {
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err
}

func (d *decoder) fail(reason string) error { return &DecodeError{d.dec.InputOffset(), reason} }

// syntax keeps the place and drops the decoder's words, which quote the content.
func (d *decoder) syntax(err error) error {
	offset := d.dec.InputOffset()
	var se *jsontext.SyntacticError
	if errors.As(err, &se) {
		offset = se.ByteOffset
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		if len(bytes.TrimSpace(d.b)) == 0 {
			return &DecodeError{0, "the document is empty"}
		}
		return &DecodeError{offset, "the document ends too soon"}
	}
	return &DecodeError{offset, "not valid JSON"}
}
