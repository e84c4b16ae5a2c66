package expr

import (
	"encoding/json"
	"fmt"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Result is what an expression gave; the zero Result is nothing.
type Result struct {
	val ref.Val
	n   *node // known for elements of a document's list, also if they are scalars
}

// Kind is None for the zero Result, and for an element with a defect.
func (r Result) Kind() Kind {
	switch r.val.(type) {
	case nil, *types.Err:
		return None
	case types.Null:
		return Null
	case types.Bool:
		return Bool
	case types.String:
		return Text
	case types.Int, types.Uint, types.Double, exact:
		return Number
	case types.Bytes:
		return Bytes
	case types.Timestamp:
		return Time
	case types.Duration:
		return Duration
	case traits.Lister:
		return List
	case traits.Mapper:
		return Map
	}
	return Other
}

// IsNull reports a null.
func (r Result) IsNull() bool { return r.Kind() == Null }

// Bool gives a bool; every other kind is an error, truthy or not.
func (r Result) Bool() (bool, error) {
	if b, ok := r.val.(types.Bool); ok {
		return bool(b), nil
	}
	return false, r.needs("a bool")
}

// Text gives a text, a number digit for digit, or a time as RFC 3339 in UTC; Kind tells which it was.
func (r Result) Text() (string, error) {
	switch v := r.val.(type) {
	case types.String:
		return string(v), nil
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339Nano), nil
	}
	if r.Kind() == Number {
		return digits(r.val)
	}
	return "", r.needs("a text or a number")
}

// Number gives the literal of a number as the source wrote it.
func (r Result) Number() (string, error) {
	if r.Kind() == Number {
		return digits(r.val)
	}
	return "", r.needs("a number")
}

// Value gives the part of the document that the result is, with its raw bytes. Objects, lists, exact numbers and the elements
// of a document's list are such parts; a text or a small number taken out of an object is not, nor is what an expression made.
func (r Result) Value() (Value, bool) {
	if r.n != nil {
		return Value{r.n}, true
	}
	switch v := r.val.(type) {
	case mapVal:
		return Value{v.n}, true
	case listVal:
		return Value{v.n}, true
	case exact:
		return Value{v.n}, true
	}
	return Value{}, false
}

// List gives the elements of a list. An element with a defect is there: its Value has the raw bytes, its other methods fail.
func (r Result) List() ([]Result, error) {
	switch l := r.val.(type) {
	case listVal:
		out := make([]Result, len(l.n.items))
		for i := range l.n.items {
			n := &l.n.items[i]
			out[i] = Result{toVal(n), n}
		}
		return out, nil
	case traits.Lister:
		out := make([]Result, 0, int(l.Size().(types.Int)))
		for i := range l.Size().(types.Int) {
			out = append(out, Result{val: l.Get(i)})
		}
		return out, nil
	}
	return nil, r.needs("a list")
}

// JSON writes the result compactly: numbers digit for digit, texts with the fewest escapes, members in the document's order.
func (r Result) JSON() (json.RawMessage, error) {
	if r.val == nil {
		return nil, r.needs("a value")
	}
	b, err := appendVal(nil, r.val)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return b, nil
}

func (r Result) needs(what string) error {
	if e, ok := r.val.(*types.Err); ok {
		return fmt.Errorf("%s is needed, found %w", what, e.Unwrap())
	}
	return fmt.Errorf("%s is needed, found %s", what, r.Kind().article())
}
