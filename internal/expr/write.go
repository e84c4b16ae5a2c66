package expr

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/go-json-experiment/json/jsontext"
)

var errJSON = errors.New("not a value that JSON can write")

// appendVal writes compact JSON: numbers digit for digit, texts with the fewest escapes, members in the document's order
// (sorted where an expression made the map).
func appendVal(dst []byte, v ref.Val) ([]byte, error) {
	switch v := v.(type) {
	case mapVal:
		return appendNode(dst, v.n)
	case listVal:
		return appendNode(dst, v.n)
	case types.String:
		return jsontext.AppendQuote(dst, string(v))
	case types.Null:
		return append(dst, "null"...), nil
	case types.Bool:
		return strconv.AppendBool(dst, bool(v)), nil
	case types.Timestamp:
		return jsontext.AppendQuote(dst, v.UTC().Format(time.RFC3339Nano))
	case traits.Lister:
		return appendList(dst, v)
	case traits.Mapper:
		return appendMap(dst, v)
	case *types.Err:
		return nil, v
	}
	s, err := digits(v)
	return append(dst, s...), err
}

// digits is the literal of a number.
func digits(v ref.Val) (string, error) {
	switch v := v.(type) {
	case types.Int:
		return strconv.FormatInt(int64(v), 10), nil
	case types.Uint:
		return strconv.FormatUint(uint64(v), 10), nil
	case exact:
		return v.literal(), nil
	case types.Double:
		// Only an expression can make one: 1.5 written in it, or arithmetic on such.
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return string(jsontext.AppendFloat(nil, f, 64)), nil
		}
	}
	return "", errJSON
}

func appendNode(dst []byte, n *node) ([]byte, error) {
	if n.below != "" {
		return nil, defectError(n.below)
	}
	var err error
	switch n.kind {
	case Text:
		return jsontext.AppendQuote(dst, n.text())
	case List, Map:
		open, end := byte('['), byte(']')
		if n.kind == Map {
			open, end = '{', '}'
		}
		dst = append(dst, open)
		for i := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if n.kind == Map {
				if dst, err = appendKey(dst, n.keys[i]); err != nil {
					return nil, err
				}
			}
			if dst, err = appendNode(dst, &n.items[i]); err != nil {
				return nil, err
			}
		}
		return append(dst, end), nil
	}
	return append(dst, n.raw...), nil
}

func appendKey(dst []byte, key string) ([]byte, error) {
	dst, err := jsontext.AppendQuote(dst, key)
	return append(dst, ':'), err
}

func appendList(dst []byte, l traits.Lister) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i := range l.Size().(types.Int) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendVal(dst, l.Get(i)); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendMap(dst []byte, m traits.Mapper) ([]byte, error) {
	var keys []string
	for it := m.Iterator(); it.HasNext() == types.True; {
		key, ok := it.Next().(types.String)
		if !ok {
			return nil, errors.New("JSON keys are texts")
		}
		keys = append(keys, string(key))
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendKey(dst, key); err != nil {
			return nil, err
		}
		if dst, err = appendVal(dst, m.Get(types.String(key))); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}
