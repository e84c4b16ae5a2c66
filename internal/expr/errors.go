package expr

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// EvalError says why an expression has no value for a document, and where in the expression; Line is 0 where that is not known.
// It names keys only as the expression writes them, and shows nothing of the document.
type EvalError struct {
	Line, Column int
	Reason       string
}

func (e *EvalError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s (at %d:%d)", e.Reason, e.Line, e.Column)
}

type defectError string

func (e defectError) Error() string { return "a value with a defect: " + string(e) }

// explain puts CEL's errors into words of our own, because CEL quotes values in its.
func (p *Program) explain(err error) error {
	out := &EvalError{Reason: p.reason(err)}
	var at *types.Err
	if errors.As(err, &at) && at.NodeID() != 0 {
		if loc := p.info.GetStartLocation(at.NodeID()); loc.Line() > 0 {
			out.Line, out.Column = loc.Line(), loc.Column()+1
		}
	}
	return out
}

func (p *Program) reason(err error) string {
	var cancelled interpreter.EvalCancelledError
	var defect defectError
	switch {
	case errors.As(err, &cancelled):
		return "too expensive: the expression does more than the limit allows"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Sprintf("too expensive: the expression took longer than %v", maxTime)
	case errors.As(err, &defect):
		return defect.Error()
	}
	for _, own := range []error{errExact, errText, errCompare, errSize, errJSON} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	return p.known(err.Error())
}

// known recognises CEL's messages by their beginnings; what it does not know stays unsaid.
func (p *Program) known(msg string) string {
	if key, ok := strings.CutPrefix(msg, "no such key: "); ok {
		if key != "" && strings.Contains(p.src, key) {
			return "no such key: " + key
		}
		return "no such key"
	}
	if name, ok := strings.CutPrefix(msg, "no such attribute(s): "); ok {
		return "nothing there: " + name
	}
	for _, w := range []struct{ begins, says string }{
		{"no such key", "no such key"},
		{"no such overload", "an operator or function does not take values of these types"},
		{"unexpected type", "an operator or function does not take values of these types"},
		{"unsupported index", "an index of the wrong type"},
		{"index out of bounds", "index out of bounds"},
		{"division by zero", "division by zero"},
		{"modulus by zero", "division by zero"},
		{"integer overflow", "integer overflow"},
		{"unsigned integer overflow", "integer overflow"},
		{"invalid RFC 3339", "not an RFC 3339 time"},
		{"type conversion error", "a conversion that is not possible"},
	} {
		if strings.HasPrefix(msg, w.begins) {
			return w.says
		}
	}
	return "the expression has no value here"
}
