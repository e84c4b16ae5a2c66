package expr

import (
	"errors"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// adapter shows nodes to CEL as they are reached; nothing is converted ahead.
type adapter struct{}

func (adapter) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case Value:
		return toVal(v.n)
	case *node:
		return toVal(v)
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

// toVal is the one door from the document into CEL, so that no expression reads past a defect.
func toVal(n *node) ref.Val {
	if n.defect != "" {
		return types.WrapErr(defectError(n.defect))
	}
	switch n.kind {
	case Text:
		return types.String(n.text())
	case Number:
		return number(n)
	case Bool:
		return types.Bool(n.raw[0] == 't')
	case List:
		return listVal{n}
	case Map:
		return mapVal{n}
	}
	return types.NullValue
}

var errNative = errors.New("a part of a document has no native form")

// mapVal is an object of the document.
type mapVal struct{ n *node }

var _ traits.Mapper = mapVal{}

func (m mapVal) Type() ref.Type                            { return types.MapType }
func (m mapVal) Value() any                                { return Value{m.n} }
func (m mapVal) Size() ref.Val                             { return types.Int(len(m.n.items)) }
func (m mapVal) Equal(other ref.Val) ref.Val               { return equal(m, other) }
func (m mapVal) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }
func (m mapVal) ConvertToType(t ref.Type) ref.Val          { return convert(m, t) }

func (m mapVal) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	child := m.n.find(string(name))
	if child == nil {
		return nil, false
	}
	v := toVal(child)
	return v, !types.IsError(v)
}

func (m mapVal) Get(key ref.Val) ref.Val {
	v, found := m.Find(key)
	if !found && v == nil {
		return types.WrapErr(errors.New("no such key"))
	}
	return v
}

func (m mapVal) Contains(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key)
	}
	return types.Bool(m.n.find(string(name)) != nil)
}

func (m mapVal) Iterator() traits.Iterator {
	return &iterator{size: len(m.n.keys), at: func(i int) ref.Val { return types.String(m.n.keys[i]) }}
}

// listVal is a list of the document.
type listVal struct{ n *node }

var _ traits.Lister = listVal{}

func (l listVal) Type() ref.Type                            { return types.ListType }
func (l listVal) Value() any                                { return Value{l.n} }
func (l listVal) Size() ref.Val                             { return types.Int(len(l.n.items)) }
func (l listVal) Equal(other ref.Val) ref.Val               { return equal(l, other) }
func (l listVal) Contains(x ref.Val) ref.Val                { return in(x, l) }
func (l listVal) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }
func (l listVal) ConvertToType(t ref.Type) ref.Val          { return convert(l, t) }

func (l listVal) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.MaybeNoSuchOverloadErr(index)
	}
	if i < 0 || int64(i) >= int64(len(l.n.items)) {
		return types.WrapErr(errors.New("index out of bounds"))
	}
	return toVal(&l.n.items[i])
}

// Add joins lists; the new one is CEL's own, and its elements are still parts of the document.
func (l listVal) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	all := make([]ref.Val, 0, len(l.n.items)+int(o.Size().(types.Int)))
	for _, part := range []traits.Lister{l, o} {
		for i := range part.Size().(types.Int) {
			v := part.Get(i)
			if types.IsError(v) {
				return v
			}
			all = append(all, v)
		}
	}
	return types.NewRefValList(adapter{}, all)
}

func (l listVal) Iterator() traits.Iterator {
	return &iterator{size: len(l.n.items), at: func(i int) ref.Val { return toVal(&l.n.items[i]) }}
}

func convert(v ref.Val, t ref.Type) ref.Val {
	switch t {
	case v.Type():
		return v
	case types.TypeType:
		return v.Type().(*types.Type)
	}
	return types.NoSuchOverloadErr()
}

// iterator walks elements or keys. The methods of a ref.Val are there for CEL's sake; nobody can compare iterators.
type iterator struct {
	next, size int
	at         func(int) ref.Val
}

func (it *iterator) HasNext() ref.Val { return types.Bool(it.next < it.size) }

func (it *iterator) Next() ref.Val {
	it.next++
	return it.at(it.next - 1)
}

func (it *iterator) Type() ref.Type                            { return types.IteratorType }
func (it *iterator) Value() any                                { return nil }
func (it *iterator) Equal(ref.Val) ref.Val                     { return types.NoSuchOverloadErr() }
func (it *iterator) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }
func (it *iterator) ConvertToType(ref.Type) ref.Val            { return types.NoSuchOverloadErr() }
