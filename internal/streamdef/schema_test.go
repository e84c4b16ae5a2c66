package streamdef

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// schemaNode is as much of JSON Schema as this schema uses.
type schemaNode struct {
	Ref        string                `json:"$ref"`
	Properties map[string]schemaNode `json:"properties"`
	Additional any                   `json:"additionalProperties"`
	Items      *schemaNode           `json:"items"`
	OneOf      []schemaNode          `json:"oneOf"`
	Enum       []string              `json:"enum"`
	Defs       map[string]schemaNode `json:"$defs"`
}

func (s schemaNode) keys(t *testing.T, path string, defs map[string]schemaNode) []string {
	t.Helper()
	if s.Ref != "" {
		def, ok := defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		if !ok {
			t.Errorf("%s: %s is not defined", path, s.Ref)
		}
		return def.keys(t, path, defs)
	}
	var out []string
	for key, child := range s.Properties {
		at := under(path, key)
		out = append(append(out, at), child.keys(t, at, defs)...)
		if s.Additional != false {
			t.Errorf("%s takes unknown keys", path)
		}
	}
	if s.Items != nil {
		out = append(out, s.Items.keys(t, path, defs)...)
	}
	for _, one := range s.OneOf {
		out = append(out, one.keys(t, path, defs)...)
	}
	return out
}

func TestSchemaHasTheKeysOfTheParser(t *testing.T) {
	t.Parallel()
	var root schemaNode
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	got, want := root.keys(t, "", root.Defs), definitionShape().list("")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("schema has %v\nparser has %v", got, want)
	}
	if len(want) < 70 {
		t.Errorf("only %d keys", len(want))
	}
}

// The words of every enum in the schema are accepted, and no other.
func TestSchemaHasTheWordsOfTheParser(t *testing.T) {
	t.Parallel()
	var root schemaNode
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	contract := root.Properties["contract"].Properties
	for key, node := range contract {
		if len(node.Enum) == 0 {
			continue
		}
		_, err := Parse("a.yaml", []byte("contract: {"+key+": nonsense}"))
		var expected string
		for _, p := range Problems(err) {
			if p.Path == "contract."+key && strings.Contains(p.Found, "nonsense") {
				expected = p.Expected
			}
		}
		if expected != oneOf(node.Enum) {
			t.Errorf("contract.%s: the parser takes %s, the schema %v", key, expected, node.Enum)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"token", "link", "next_url", "hold_back"}
	for in, want := range map[string]string{"tokn": "token", "hold-back": "hold_back", "lnik": "link", "zzz": "", "x": ""} {
		if got := nearest(in, known); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
