package expr

import (
	"errors"
	"strconv"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

var (
	errText    = errors.New("text(x) needs a text, a number or a bool")
	errCompare = errors.New("compare(a, b) needs numbers, or texts that are numbers")
	errSize    = errors.New("a number too long to compare")
)

// functions are ours; all of them take anything and say themselves what they do not like.
func functions() []cel.EnvOption {
	unary := func(name string, f func(ref.Val) (ref.Val, error), out *cel.Type) cel.EnvOption {
		return cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{cel.DynType}, out,
			cel.UnaryBinding(func(v ref.Val) ref.Val { return orErr(f(v)) })))
	}
	return []cel.EnvOption{
		unary("text", text, cel.StringType),
		unary("json", jsonText, cel.StringType),
		cel.Function("compare", cel.Overload("compare_dyn_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.IntType,
			cel.BinaryBinding(func(a, b ref.Val) ref.Val { return orErr(compare(a, b)) }))),
	}
}

func orErr(v ref.Val, err error) ref.Val {
	if err != nil {
		return types.WrapErr(err)
	}
	return v
}

func text(v ref.Val) (ref.Val, error) {
	switch v := v.(type) {
	case types.String:
		return v, nil
	case types.Bool:
		return types.String(strconv.FormatBool(bool(v))), nil
	}
	s, err := digits(v)
	if err != nil {
		return nil, errText
	}
	return types.String(s), nil
}

func jsonText(v ref.Val) (ref.Val, error) {
	b, err := appendVal(nil, v)
	return types.String(b), err
}

func compare(a, b ref.Val) (ref.Val, error) {
	x, err := decimal(a)
	if err != nil {
		return nil, err
	}
	y, err := decimal(b)
	if err != nil {
		return nil, err
	}
	return types.Int(x.Cmp(y)), nil
}

func decimal(v ref.Val) (handoff.Decimal, error) {
	literal := ""
	if s, ok := v.(types.String); ok {
		literal = string(s)
	} else if s, err := digits(v); err == nil {
		literal = s
	}
	d, err := handoff.ParseDecimal(literal)
	if err != nil {
		return d, errCompare
	}
	return d, nil
}

// exactOperators puts equal and in in the place of CEL's ==, != and in: those let a native operand on the left decide alone,
// so that 1000 == 1e3 was false in silence while 1e3 == 1000 was an error. It is not an InterpretableCall, so that CEL does
// not turn it into a look-up in a set of constants.
func exactOperators(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok || len(call.Args()) != 2 {
		return i, nil
	}
	switch call.Function() {
	case operators.Equals:
		return &exactCall{call: call, op: equal}, nil
	case operators.NotEquals:
		return &exactCall{call: call, op: func(a, b ref.Val) ref.Val { return not(equal(a, b)) }}, nil
	case operators.In:
		return &exactCall{call: call, op: in}, nil
	}
	return i, nil
}

func not(v ref.Val) ref.Val {
	if b, ok := v.(types.Bool); ok {
		return !b
	}
	return v
}

type exactCall struct {
	call interpreter.InterpretableCall
	op   func(a, b ref.Val) ref.Val
}

func (c *exactCall) ID() int64 { return c.call.ID() }

func (c *exactCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	args := c.call.Args()
	a := args[0].Exec(frame)
	if types.IsUnknownOrError(a) {
		return a
	}
	b := args[1].Exec(frame)
	if types.IsUnknownOrError(b) {
		return b
	}
	out := types.LabelErrNode(c.ID(), fresh(c.op(a, b)))
	if costs := frame.CostTracker(); costs != nil {
		costs.EvalBinary(frame, c.ID(), c.call, a, b, out)
	}
	return out
}

func (c *exactCall) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, c.Exec)
}

// fresh copies an error before it is labelled with a place: CEL shares one value for "no such overload".
func fresh(v ref.Val) ref.Val {
	if e, ok := v.(*types.Err); ok && e.NodeID() == 0 {
		return types.NewErr("%w", e.Unwrap())
	}
	return v
}

// costs charges comparing, joining and writing by the size of what is walked; CEL counts only the top level.
type costs struct{}

func (costs) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	switch function {
	case operators.Equals, operators.NotEquals, operators.In, operators.Add, "json", "text", "compare":
	default:
		return nil
	}
	total := uint64(1)
	for _, a := range args {
		total += weight(a)
	}
	return &total
}

func weight(v ref.Val) uint64 {
	switch v := v.(type) {
	case mapVal:
		return uint64(v.n.count)
	case listVal:
		return uint64(v.n.count)
	case exact:
		return uint64(len(v.n.raw) / 10)
	case types.String:
		return uint64(len(v) / 10)
	case traits.Lister:
		return uint64(v.Size().(types.Int))
	}
	return 1
}
