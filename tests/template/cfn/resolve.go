package cfn

import (
	"fmt"
	"regexp"
	"strings"
)

// none is what AWS::NoValue leaves: the property, or the entry of a list, is not there.
type none struct{}

// Holds reports a condition under the parameters.
func (t *Template) Holds(condition string) bool {
	body, ok := t.Section("Conditions")[condition]
	return ok && t.truth(body)
}

// truth judges a condition's body.
func (t *Template) truth(v any) bool {
	name, arg, ok := call(v)
	if !ok {
		return false
	}
	list, _ := arg.([]any)
	switch name {
	case "Condition":
		s, _ := arg.(string)
		return t.Holds(s)
	case "Fn::Not":
		return !t.truth(list[0])
	case "Fn::And", "Fn::Or":
		for _, part := range list {
			if t.truth(part) == (name == "Fn::Or") {
				return name == "Fn::Or"
			}
		}
		return name == "Fn::And"
	case "Fn::Equals":
		return fmt.Sprint(t.Resolve(list[0])) == fmt.Sprint(t.Resolve(list[1]))
	}
	return false
}

// call takes an intrinsic function apart.
func call(v any) (name string, arg any, ok bool) {
	m, isMap := v.(Map)
	if !isMap || len(m) != 1 {
		return "", nil, false
	}
	for name, arg = range m {
		if name == "Ref" || name == "Condition" && isText(arg) || strings.HasPrefix(name, "Fn::") {
			return name, arg, true
		}
	}
	return "", nil, false
}

func isText(v any) bool { _, ok := v.(string); return ok }

// Resolve gives a value under the parameters. A text that only a deployment knows keeps its ${word}.
func (t *Template) Resolve(v any) any {
	if name, arg, ok := call(v); ok {
		return t.evaluate(name, arg)
	}
	switch v := v.(type) {
	case Map:
		out := Map{}
		for k, part := range v {
			if r := t.Resolve(part); r != (none{}) {
				out[k] = r
			}
		}
		return out
	case []any:
		out := []any{}
		for _, part := range v {
			if r := t.Resolve(part); r != (none{}) {
				out = append(out, r)
			}
		}
		return out
	}
	return v
}

func (t *Template) evaluate(name string, arg any) any {
	list, _ := arg.([]any)
	switch name {
	case "Ref":
		return t.reference(fmt.Sprint(arg))
	case "Fn::GetAtt":
		return fmt.Sprintf("${%v.%v}", list[0], list[1])
	case "Fn::If":
		if t.Holds(fmt.Sprint(list[0])) {
			return t.Resolve(list[1])
		}
		return t.Resolve(list[2])
	case "Fn::FindInMap":
		table := t.Part("Mappings", fmt.Sprint(t.Resolve(list[0])))
		row, _ := table[fmt.Sprint(t.Resolve(list[1]))].(Map)
		return row[fmt.Sprint(t.Resolve(list[2]))]
	case "Fn::Join":
		parts := []string{}
		all, _ := t.Resolve(list[1]).([]any)
		for _, p := range all {
			parts = append(parts, fmt.Sprint(p))
		}
		return strings.Join(parts, fmt.Sprint(list[0]))
	case "Fn::Sub":
		return t.substitute(arg)
	}
	return Map{name: t.Resolve(arg)}
}

// reference is a parameter's value, a list of it, or the name of what the deployment makes.
func (t *Template) reference(name string) any {
	if name == "AWS::NoValue" {
		return none{}
	}
	v, ok := t.Values[name]
	if !ok {
		return "${" + name + "}"
	}
	if kind, _ := t.Part("Parameters", name)["Type"].(string); kind == "CommaDelimitedList" {
		list := []any{}
		for part := range strings.SplitSeq(fmt.Sprint(v), ",") {
			list = append(list, part)
		}
		return list
	}
	return v
}

var word = regexp.MustCompile(`\$\{([^}!]+)\}`)

func (t *Template) substitute(arg any) string {
	text, own := fmt.Sprint(arg), Map{}
	if list, ok := arg.([]any); ok {
		text = fmt.Sprint(list[0])
		own, _ = list[1].(Map)
	}
	return word.ReplaceAllStringFunc(text, func(w string) string {
		name := w[2 : len(w)-1]
		if v, ok := own[name]; ok {
			return fmt.Sprint(t.Resolve(v))
		}
		if strings.Contains(name, ".") {
			return w
		}
		return fmt.Sprint(t.reference(name))
	})
}
