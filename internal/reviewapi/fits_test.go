package reviewapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// document is openapi.json as it is served, read by what a schema means and not by how it was made.
type document map[string]any

// read gives the document of an API.
func read(t *testing.T) document {
	t.Helper()
	rec := httptest.NewRecorder()
	reviewapi.New(reviewapi.Config{}).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1/v1/openapi.json", nil))
	var doc document
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil || rec.Code != http.StatusOK {
		t.Fatalf("the document: %d %v", rec.Code, err)
	}
	return doc
}

func (d document) at(path ...string) map[string]any {
	node := map[string]any(d)
	for _, p := range path {
		node, _ = node[p].(map[string]any)
	}
	if ref, ok := node["$ref"].(string); ok {
		return d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return node
}

// operation finds the operation of a request by its path's shape.
func (d document) operation(method, path string) (map[string]any, bool) {
	asked := strings.Split(path, "/")
	for _, shape := range slices.Sorted(maps.Keys(d.at("paths"))) {
		parts := strings.Split(shape, "/")
		fits := len(parts) == len(asked)
		for i := range parts {
			fits = fits && (parts[i] == asked[i] || strings.HasPrefix(parts[i], "{") && strings.Trim(asked[i], ".") != "")
		}
		if op, ok := d.at("paths", shape)[strings.ToLower(method)].(map[string]any); ok && fits {
			return op, true
		}
	}
	return nil, false
}

// resolve follows a reference.
func (d document) resolve(v any) map[string]any {
	m, _ := v.(map[string]any)
	if ref, ok := m["$ref"].(string); ok {
		return d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return m
}

// misfits tells where a value is not what its schema says; a field that the schema does not know is a misfit too.
func (d document) misfits(where string, v any, schema map[string]any) (found []string) {
	schema = d.resolve(schema)
	wrong := func(format string, args ...any) { found = append(found, where+": "+fmt.Sprintf(format, args...)) }
	if words, ok := schema["enum"].([]any); ok && !slices.Contains(words, v) {
		wrong("%v is no word of %v", v, words)
	}
	switch kind := schema["type"]; got := v.(type) {
	case map[string]any:
		if kind != "object" && kind != nil {
			wrong("an object, want %v", kind)
		}
		props, named := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, r := range required {
			if _, ok := got[r.(string)]; !ok {
				wrong("%v is missing", r)
			}
		}
		for k, x := range got {
			switch {
			case props[k] != nil:
				found = append(found, d.misfits(where+"."+k, x, d.resolve(props[k]))...)
			case named:
				wrong("%s is not described", k)
			}
		}
	case []any:
		if kind != "array" && kind != nil {
			wrong("a list, want %v", kind)
		}
		for i, x := range got {
			found = append(found, d.misfits(where+"["+strconv.Itoa(i)+"]", x, d.resolve(schema["items"]))...)
		}
	case string:
		_, err := time.Parse(time.RFC3339, got)
		if kind != "string" && kind != nil || schema["format"] == "date-time" && err != nil {
			wrong("%.40q, want %v %v", got, kind, schema["format"])
		}
	case float64:
		if kind != "integer" && kind != nil {
			wrong("a number, want %v", kind)
		}
	case bool:
		if kind != "boolean" && kind != nil {
			wrong("true or false, want %v", kind)
		}
	case nil:
		wrong("null is never served")
	}
	return found
}

// fitting lets every answer of a handler through and holds it against the document: its status, its content type and every field.
func fitting(t *testing.T, next http.Handler) http.Handler {
	t.Helper()
	doc := read(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()) // a test's own client
		op, ok := doc.operation(r.Method, r.URL.EscapedPath())
		if !ok {
			return // nothing is served there
		}
		what := fmt.Sprintf("%s %.80s: %d", r.Method, r.URL.Path, rec.Code)
		responses, _ := op["responses"].(map[string]any)
		content, _ := doc.resolve(responses[strconv.Itoa(rec.Code)])["content"].(map[string]any)
		kind, ok := content[rec.Header().Get("Content-Type")].(map[string]any)
		if !ok {
			t.Errorf("%s %s is not described", what, rec.Header().Get("Content-Type"))
			return
		}
		var v any
		if err := json.Unmarshal(rec.Body.Bytes(), &v); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, m := range doc.misfits("", v, doc.resolve(kind["schema"])) {
			t.Errorf("%s%s", what, m)
		}
	})
}

// The examples are what they are examples of.
func TestExamplesFit(t *testing.T) {
	t.Parallel()
	doc, seen := read(t), 0
	var walk func(where string, node any)
	walk = func(where string, node any) {
		m, ok := node.(map[string]any)
		if !ok {
			return
		}
		if example, ok := m["example"]; ok && m["schema"] != nil {
			seen++
			for _, misfit := range doc.misfits(where, example, doc.resolve(m["schema"])) {
				t.Error(misfit)
			}
		}
		for k, v := range m {
			if k != "example" {
				walk(where+"/"+k, v)
			}
		}
	}
	walk("", map[string]any(doc))
	if seen < 16 {
		t.Errorf("%d examples, want one for every answer and every body", seen)
	}
}

// The judge of the others is no rubber stamp.
func TestMisfitsAreFound(t *testing.T) {
	t.Parallel()
	doc := read(t)
	for _, c := range []struct{ name, schema, value string }{
		{"a missing field", "Violation", `{"invariant":"I1"}`},
		{"an unknown field", "Violation", `{"invariant":"I1","detail":"d","more":1}`},
		{"a text for a number", "Violation", `{"invariant":"I1","detail":"d","version":"1"}`},
		{"a number for a text", "Violation", `{"invariant":1,"detail":"d"}`},
		{"an unknown word", "Standing", `{"status":"asleep","version":1,"rev":1}`},
		{"a time that is none", "Halt", `{"reason":"gap","detail":"d","at":"today"}`},
		{"a list for an object", "Doc", `{"stream":"s","entity":"e","fields":[]}`},
		{"a misfit inside", "BulkResult", `{"event_id":"1","rev":1,"answer":{"rev":1}}`},
		{"null", "Violation", `{"invariant":"I1","detail":null}`},
	} {
		var v any
		if err := json.Unmarshal([]byte(c.value), &v); err != nil {
			t.Fatal(err)
		}
		if found := doc.misfits("", v, doc.at("components", "schemas", c.schema)); len(found) != 1 {
			t.Errorf("%s: found %v, want one misfit", c.name, found)
		}
	}
}
