// Package policy decides by rules what happens to an event: it is applied, ignored, held or quarantined.
package policy

import (
	"fmt"

	"github.com/turnleaf/turnleaf/internal/expr"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// Policy is the rules of one definition, compiled. It is a handoff.Policy and may be used by several goroutines.
type Policy struct{ rules []rule }

type rule struct {
	name    string
	when    *expr.Program
	verdict handoff.Verdict
}

var _ handoff.Policy = (*Policy)(nil)

// New compiles the rules in their order. The error names the rule that does not compile.
func New(rules []streamdef.Rule) (*Policy, error) {
	p := &Policy{rules: make([]rule, 0, len(rules))}
	for _, r := range rules {
		when, err := streamdef.CompileRule(r.When)
		if err != nil {
			return nil, fmt.Errorf("compile policy rule %q: %w", r.Name, err)
		}
		verdict := handoff.Verdict(r.Then)
		switch verdict {
		case handoff.VerdictApply, handoff.VerdictIgnore, handoff.VerdictHold, handoff.VerdictQuarantine:
		default:
			return nil, fmt.Errorf("compile policy rule %q: unknown verdict %q", r.Name, r.Then)
		}
		p.rules = append(p.rules, rule{r.Name, when, verdict})
	}
	return p, nil
}

// Judge gives the verdict of the first rule whose condition holds, and apply if none does. A condition that cannot be told (a
// missing key, or no bool) is an error that names the rule and shows nothing of the event: what follows such a rule is not
// asked, since it was written for events that the rule let pass.
func (p *Policy) Judge(e handoff.Event) (handoff.Ruling, error) {
	if len(p.rules) == 0 {
		return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
	}
	vars, err := streamdef.RuleVars(e)
	if err != nil {
		return handoff.Ruling{}, fmt.Errorf("judge by policy: %w", err)
	}
	for _, r := range p.rules {
		holds, err := r.holds(vars)
		if err != nil {
			return handoff.Ruling{}, fmt.Errorf("judge by policy rule %q: %w", r.name, err)
		}
		if holds {
			return handoff.Ruling{Verdict: r.verdict, Rule: r.name}, nil
		}
	}
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

func (r rule) holds(vars map[string]any) (bool, error) {
	out, err := r.when.Eval(vars)
	if err != nil {
		return false, err
	}
	return out.Bool()
}
