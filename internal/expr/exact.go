package expr

import (
	"errors"
	"reflect"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// exactType has no traits, so that CEL refuses every operator on it, whichever side it stands on.
var exactType = types.NewOpaqueType("exact_number")

var errExact = errors.New("an exact number beside a native one: use compare(a, b) or text(x)")

// exact is a JSON number that is not a 64-bit whole number. It keeps its literal and is never rounded.
type exact struct{ n *node }

// number gives a CEL int for a whole number of 64 bits, and the exact value for everything else. -0 has digits that an int
// would lose.
func number(n *node) ref.Val {
	if i, err := strconv.ParseInt(string(n.raw), 10, 64); err == nil && string(n.raw) != "-0" {
		return types.Int(i)
	}
	return exact{n}
}

func (e exact) literal() string { return string(e.n.raw) }

func (e exact) Type() ref.Type { return exactType }
func (e exact) Value() any     { return e.literal() }

func (e exact) ConvertToNative(reflect.Type) (any, error) {
	return nil, errors.New("an exact number has no native form")
}

// ConvertToType gives nothing but the type: int(x) and double(x) would round.
func (e exact) ConvertToType(t ref.Type) ref.Val { return convert(e, t) }

// Equal is reached only from inside CEL's own types; == and in go through equal.
func (e exact) Equal(other ref.Val) ref.Val { return equal(e, other) }

// equal is == for every pair of values: as CEL has it, but deep, the same in both orders, and an error where an exact number
// meets a native one. Errors win over inequality, so that the order of elements does not decide which of the two it is.
func equal(a, b ref.Val) ref.Val {
	if types.IsUnknownOrError(a) {
		return a
	}
	if types.IsUnknownOrError(b) {
		return b
	}
	x, aExact := a.(exact)
	y, bExact := b.(exact)
	switch {
	case aExact && bExact:
		return equalExact(x, y)
	case aExact && native(b), bExact && native(a):
		return types.WrapErr(errExact)
	case aExact || bExact:
		return types.False
	}
	if la, ok := a.(traits.Lister); ok {
		lb, ok := b.(traits.Lister)
		if !ok {
			return types.False
		}
		return equalLists(la, lb)
	}
	if ma, ok := a.(traits.Mapper); ok {
		mb, ok := b.(traits.Mapper)
		if !ok {
			return types.False
		}
		return equalMaps(ma, mb)
	}
	return types.Equal(a, b)
}

func native(v ref.Val) bool {
	switch v.(type) {
	case types.Int, types.Uint, types.Double:
		return true
	}
	return false
}

func equalExact(a, b exact) ref.Val {
	if a.literal() == b.literal() {
		return types.True
	}
	x, err := handoff.ParseDecimal(a.literal())
	if err != nil {
		return types.WrapErr(errSize)
	}
	y, err := handoff.ParseDecimal(b.literal())
	if err != nil {
		return types.WrapErr(errSize)
	}
	return types.Bool(x.Cmp(y) == 0)
}

func equalLists(a, b traits.Lister) ref.Val {
	size := a.Size()
	if size != b.Size() {
		return types.False
	}
	out := types.True
	for i := range size.(types.Int) {
		switch r := equal(a.Get(i), b.Get(i)); {
		case types.IsUnknownOrError(r):
			return r
		case r != types.True:
			out = types.False
		}
	}
	return out
}

func equalMaps(a, b traits.Mapper) ref.Val {
	if a.Size() != b.Size() {
		return types.False
	}
	out := types.True
	for it := a.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		x, _ := a.Find(key)
		y, found := b.Find(key)
		switch {
		case x != nil && types.IsUnknownOrError(x):
			return x
		case y != nil && types.IsUnknownOrError(y):
			return y
		case !found:
			out = types.False
			continue
		}
		switch r := equal(x, y); {
		case types.IsUnknownOrError(r):
			return r
		case r != types.True:
			out = types.False
		}
	}
	return out
}

// in is membership: of a list by equal, of a map by key.
func in(x, all ref.Val) ref.Val {
	switch c := all.(type) {
	case traits.Lister:
		var failed ref.Val = types.False
		for i := range c.Size().(types.Int) {
			switch r := equal(x, c.Get(i)); {
			case r == types.True:
				return r
			case types.IsUnknownOrError(r):
				failed = r
			}
		}
		return failed
	case traits.Container:
		return c.Contains(x)
	}
	return types.NoSuchOverloadErr()
}
