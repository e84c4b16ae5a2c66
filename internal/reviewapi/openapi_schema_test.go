package reviewapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

type object = map[string]any

// schemas collects the schema of each type that is served.
type schemas object

// plainTypes are the types whose JSON form is not their Go form.
var plainTypes = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[json.RawMessage](): {"description": "Any JSON value, digit for digit."},
	reflect.TypeFor[handoff.Position](): {
		"type": "string", "description": "A JSON list of [kind, text] pairs, as text: n number, t instant, s text, a arrival (page version, index).",
		"examples": []string{`[["n","1000000000000000000000000000001"]]`},
	},
	reflect.TypeFor[handoff.ChunkSet](): {"type": "array", "items": object{"type": "integer", "minimum": 0, "maximum": handoff.MaxChunks - 1}},
	reflect.TypeFor[[]byte]():           {"type": "string", "contentEncoding": "base64"},
}

// of gives the schema of a type; structs are named and referred to.
func (s schemas) of(t reflect.Type) object {
	if schema, ok := plainTypes[t]; ok {
		return schema
	}
	if words, ok := enums[t]; ok {
		return object{"type": "string", "enum": words}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	}
	return s.named(t)
}

func (s schemas) named(t reflect.Type) object {
	name := t.Name()
	if strings.HasPrefix(name, "List[") {
		item := t.Field(0).Type.Elem()
		return object{"type": "object", "required": []string{"items"}, "properties": object{
			"items": object{"type": "array", "items": s.of(item)},
			"next":  object{"type": "string", "description": "The mark to go on from; absent at the end."},
		}}
	}
	if _, ok := s[name]; !ok {
		s[name] = nil // a type that refers to itself
		props, required := object{}, []string{}
		s.fields(name, t, props, &required)
		s[name] = object{"type": "object", "description": words[name], "properties": props, "required": required}
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// fields adds the fields of a struct, those of embedded ones included.
func (s schemas) fields(schema string, t reflect.Type, props object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Tag.Get("json") == "" {
			s.fields(schema, f.Type, props, required)
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		props[name] = s.field(schema, name, f.Type)
		if !strings.Contains(opts, "omit") {
			*required = append(*required, name)
		}
	}
}

// field is a field's schema and its explanation; a schema that explains itself keeps its own words behind.
func (s schemas) field(schema, name string, t reflect.Type) object {
	out := object{}
	for k, v := range s.of(t) {
		out[k] = v
	}
	if list, ok := fieldEnums[schema+"."+name]; ok {
		out["enum"] = list
	}
	own, _ := out["description"].(string)
	out["description"] = strings.TrimSpace(explain(schema, name) + " " + own)
	return out
}
