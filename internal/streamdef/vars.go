package streamdef

import (
	"fmt"

	"github.com/turnleaf/turnleaf/internal/expr"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// ruleVars are the variables of policy and effect.
var ruleVars = []string{"event", "id", "entity", "position"}

// CompileRule compiles an expression of a policy or an effect.
func CompileRule(src string) (*expr.Program, error) { return expr.Compile(src, ruleVars...) }

// RuleVars are the values of a policy's or an effect's variables for one event: the record, and the texts of its id, entity
// and position. The error shows nothing of the record.
func RuleVars(e handoff.Event) (map[string]any, error) {
	record, err := expr.Decode(e.Raw, expr.Limits{})
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	return map[string]any{"event": record, "id": IDText(e), "entity": e.Entity, "position": e.Position.String()}, nil
}

// IDText is the id for people and for names: a text id without its quotes, every other one as its JSON.
func IDText(e handoff.Event) string {
	if v, err := expr.Decode([]byte(e.ID), expr.Limits{}); err == nil {
		if s, err := v.Text(); err == nil {
			return s
		}
	}
	return e.ID
}
