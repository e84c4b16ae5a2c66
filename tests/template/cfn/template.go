// Package cfn reads a CloudFormation template as far as the tests need: its parts, and what a property is under given parameters.
// What only a deployment knows stays a word: ${StreamsTable}, ${StreamsTable.Arn}, ${AWS::Region}.
package cfn

import (
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Map is a YAML mapping.
type Map = map[string]any

// Template is a template under one set of parameters.
type Template struct {
	root Map
	// Values are the parameters: defaults, and what With gave.
	Values Map
}

// Resource is one resource; Properties are unresolved.
type Resource struct {
	Type, Condition string
	Properties      Map
	Raw             Map
}

// Read parses a template in YAML, with its short tags, or in JSON.
func Read(path string) (*Template, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(b, &node); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	v, err := plain(&node)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	root, ok := v.(Map)
	if !ok {
		return nil, fmt.Errorf("read %s: not a mapping", path)
	}
	return (&Template{root: root}).With(nil), nil
}

// With is the template under other parameters; what is not named has its default.
func (t *Template) With(values Map) *Template {
	out := &Template{root: t.root, Values: Map{}}
	for name := range t.Section("Parameters") {
		out.Values[name] = t.Part("Parameters", name)["Default"]
	}
	for name, v := range values {
		out.Values[name] = v
	}
	return out
}

// Section is a top-level part; empty if there is none.
func (t *Template) Section(name string) Map { m, _ := t.root[name].(Map); return m }

// Part is one entry of a section.
func (t *Template) Part(section, name string) Map { m, _ := t.Section(section)[name].(Map); return m }

// Resources are those that exist under the parameters.
func (t *Template) Resources() map[string]Resource {
	out := map[string]Resource{}
	for name := range t.Section("Resources") {
		raw := t.Part("Resources", name)
		r := Resource{Raw: raw}
		r.Type, _ = raw["Type"].(string)
		r.Condition, _ = raw["Condition"].(string)
		r.Properties, _ = raw["Properties"].(Map)
		if r.Condition == "" || t.Holds(r.Condition) {
			out[name] = r
		}
	}
	return out
}

// OfType are the resources of a type, resolved.
func (t *Template) OfType(kind string) map[string]Map {
	out := map[string]Map{}
	for name, r := range t.Resources() {
		if r.Type == kind {
			out[name], _ = t.Resolve(r.Properties).(Map)
		}
	}
	return out
}

// plain turns a node into maps, lists and scalars; a short tag becomes its long form.
func plain(n *yaml.Node) (any, error) {
	v, err := bare(n)
	if err != nil || !strings.HasPrefix(n.Tag, "!") || strings.HasPrefix(n.Tag, "!!") {
		return v, err
	}
	switch name := strings.TrimPrefix(n.Tag, "!"); name {
	case "Ref", "Condition":
		return Map{name: v}, nil
	case "GetAtt":
		if s, ok := v.(string); ok {
			first, rest, _ := strings.Cut(s, ".")
			v = []any{first, rest}
		}
		return Map{"Fn::GetAtt": v}, nil
	default:
		return Map{"Fn::" + name: v}, nil
	}
}

func bare(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.DocumentNode:
		return plain(n.Content[0])
	case yaml.MappingNode:
		m := Map{}
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, twice := m[key]; twice {
				return nil, fmt.Errorf("line %d: %s stands there twice", n.Content[i].Line, key)
			}
			v, err := plain(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m[key] = v
		}
		return m, nil
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			v, err := plain(c)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.ScalarNode:
		return scalar(n)
	default:
		return nil, fmt.Errorf("line %d: CloudFormation takes no aliases", n.Line)
	}
}

func scalar(n *yaml.Node) (v any, err error) {
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		return n.Value, nil
	}
	return v, n.Decode(&v)
}
