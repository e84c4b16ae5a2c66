// Package roles compares what the functions do on AWS with what the template lets them do.
package roles

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/tests/template/cfn"
)

// Function names one of the three.
type Function string

// The functions, as their folders are called.
const (
	Poll   Function = "poll"
	Apply  Function = "apply"
	Review Function = "review"
)

// Functions are all three.
func Functions() []Function { return []Function{Poll, Apply, Review} }

// LogicalID is the function's name in the template.
func (f Function) LogicalID() string {
	return strings.ToUpper(string(f[:1])) + string(f[1:]) + "Function"
}

// Grant is one action on one resource, as the template writes it: dynamodb:PutItem on ${StreamsTable.Arn}.
type Grant struct{ Action, Resource string }

func (g Grant) String() string { return g.Action + " on " + g.Resource }

// Service is the part of the action before the colon.
func (g Grant) Service() string { s, _, _ := strings.Cut(g.Action, ":"); return s }

// Statement is one statement of a policy, resolved.
type Statement struct {
	Sid, Effect        string
	Actions, Resources []string
	Condition          cfn.Map
}

// Statements are those of every inline policy of the function's role, under the template's parameters.
func Statements(t *cfn.Template, f Function) ([]Statement, error) {
	fn, ok := t.Resources()[f.LogicalID()]
	if !ok {
		return nil, fmt.Errorf("the template has no %s", f.LogicalID())
	}
	ref, _ := t.Resolve(fn.Properties["Role"]).(string)
	role := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), ".Arn}")
	props, ok := t.OfType("AWS::IAM::Role")[role]
	if !ok {
		return nil, fmt.Errorf("%s has the role %q, which the template does not write out", f.LogicalID(), ref)
	}
	var out []Statement
	inline, _ := props["Policies"].([]any)
	for _, p := range inline {
		m, _ := p.(cfn.Map)
		out = append(out, statements(m)...)
	}
	for _, p := range t.OfType("AWS::IAM::Policy") {
		if list, _ := p["Roles"].([]any); slices.Contains(list, any("${"+role+"}")) {
			out = append(out, statements(p)...)
		}
	}
	return out, nil
}

func statements(policy cfn.Map) (out []Statement) {
	doc, _ := policy["PolicyDocument"].(cfn.Map)
	list, _ := doc["Statement"].([]any)
	for _, s := range list {
		m, _ := s.(cfn.Map)
		st := Statement{Actions: texts(m["Action"]), Resources: texts(m["Resource"])}
		st.Sid, _ = m["Sid"].(string)
		st.Effect, _ = m["Effect"].(string)
		st.Condition, _ = m["Condition"].(cfn.Map)
		out = append(out, st)
	}
	return out
}

// texts is one text or a list of them.
func texts(v any) (out []string) {
	if list, ok := v.([]any); ok {
		for _, s := range list {
			out = append(out, fmt.Sprint(s))
		}
		return out
	}
	return []string{fmt.Sprint(v)}
}

// Allowed is what the role of a function allows of the given services, each (action, resource) once.
func Allowed(t *cfn.Template, f Function, services ...string) (map[Grant]bool, error) {
	all, err := Statements(t, f)
	if err != nil {
		return nil, err
	}
	out := map[Grant]bool{}
	for _, s := range all {
		for _, a := range s.Actions {
			for _, r := range s.Resources {
				if g := (Grant{a, r}); s.Effect == "Allow" && slices.Contains(services, g.Service()) {
					out[g] = true
				}
			}
		}
	}
	return out, nil
}

// Difference says in sorted lines what one side has and the other has not.
func Difference(allowed, used map[Grant]bool) (lines []string) {
	for g := range used {
		if !allowed[g] {
			lines = append(lines, "does "+g.String()+", which its role does not allow")
		}
	}
	for g := range allowed {
		if !used[g] {
			lines = append(lines, "may "+g.String()+", which it was never seen to do")
		}
	}
	slices.Sort(lines)
	return lines
}
