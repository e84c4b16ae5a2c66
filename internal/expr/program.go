package expr

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// The bounds of one expression and of one evaluation.
const (
	maxSource = 10_000
	// maxNesting is of the expression's text. CEL's checker takes seconds for some two hundred lists inside each other.
	maxNesting = 60
	// maxCost is in CEL's units: about one per step. 5,000 events with a dozen steps each are 100,000.
	maxCost = 2_000_000
	// maxTime is a net under the cost, for operations whose price CEL underestimates.
	maxTime = 5 * time.Second
)

// CompileError says what is wrong with an expression, and where in it; Line and Column count from 1.
type CompileError struct {
	Line, Column int
	Message      string
}

func (e *CompileError) Error() string {
	return fmt.Sprintf("expression at %d:%d: %s", e.Line, e.Column, e.Message)
}

// Program is a compiled expression. It may be evaluated by several goroutines at once.
type Program struct {
	src     string
	program cel.Program
	info    *ast.SourceInfo
	kind    Kind
}

// base is the language without variables; building it takes longer than everything else, and it never changes.
var base = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(append(functions(),
		cel.CustomTypeAdapter(adapter{}),
		cel.ParserExpressionSizeLimit(maxSource),
		cel.ParserRecursionLimit(maxNesting),
		ext.Strings(ext.StringsVersion(4)),
	)...)
})

// Compile reads src, in which the named variables may hold anything. The error is a *CompileError for the first fault.
func Compile(src string, vars ...string) (*Program, error) {
	env, err := base()
	if err != nil {
		return nil, fmt.Errorf("prepare expressions: %w", err)
	}
	declared := make([]cel.EnvOption, len(vars))
	for i, name := range vars {
		declared[i] = cel.Variable(name, cel.DynType)
	}
	if env, err = env.Extend(declared...); err != nil {
		return nil, fmt.Errorf("declare variables: %w", err)
	}
	tree, issues := env.Compile(src)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, &CompileError{max(first.Location.Line(), 1), max(first.Location.Column()+1, 1), first.Message}
	}
	program, err := env.Program(tree,
		cel.CustomDecoratorV2(exactOperators),
		cel.CostLimit(maxCost), cel.CostTracking(costs{}), cel.InterruptCheckFrequency(16))
	if err != nil {
		return nil, &CompileError{1, 1, err.Error()}
	}
	return &Program{src, program, tree.NativeRep().SourceInfo(), staticKind(tree.OutputType())}, nil
}

// Kind is what the result will be, where that can be told without a document; else None.
func (p *Program) Kind() Kind { return p.kind }

// Source is the expression as it was written.
func (p *Program) Source() string { return p.src }

// Eval evaluates over the given variables: Value, string, int, int64, bool or map[string]string. One that is nil, a zero Value
// or not given is missing, and an expression that needs it is an error. The error is an *EvalError.
func (p *Program) Eval(vars map[string]any) (Result, error) {
	bound := make(map[string]any, len(vars))
	for name, v := range vars {
		if doc, ok := v.(Value); v == nil || (ok && doc.IsZero()) {
			continue
		}
		bound[name] = adapter{}.NativeToValue(v)
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	out, _, err := p.program.ContextEval(ctx, bound)
	if err != nil {
		return Result{}, p.explain(err)
	}
	return Result{val: out}, nil
}

func staticKind(t *cel.Type) Kind {
	switch t.Kind() {
	case types.BoolKind:
		return Bool
	case types.StringKind:
		return Text
	case types.IntKind, types.UintKind, types.DoubleKind:
		return Number
	case types.ListKind:
		return List
	case types.MapKind:
		return Map
	case types.NullTypeKind:
		return Null
	case types.BytesKind:
		return Bytes
	case types.TimestampKind:
		return Time
	case types.DurationKind:
		return Duration
	}
	return None
}
