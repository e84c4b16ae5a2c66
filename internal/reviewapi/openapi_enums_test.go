package reviewapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

var (
	eventKinds  = []string{"release", "applied", "ignore", "quarantine", "retry_now"}
	streamKinds = []string{"pause", "resume", "poll_now", "reset", "accept", "lost", "start", "retire"}
)

// enums are the words of the protocol, by type.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[handoff.Status]():  {"active", "paused", "halted"},
	reflect.TypeFor[handoff.Outcome](): {"applied", "ignored", "quarantined", "held", "retrying", "claimed", "released", "superseded"},
	reflect.TypeFor[handoff.HoldReason](): {"invalid_event", "identity_conflict", "late", "receipt_expired", "ambiguous", "effect_changed",
		"effect_refused", "crash_loop", "policy"},
	reflect.TypeFor[handoff.HaltReason](): {"order_regression", "position_conflict", "gap", "token_stalled", "token_cycle", "cursor_rejected",
		"page_unreadable", "page_too_large", "config"},
	reflect.TypeFor[handoff.DecisionKind](): slices.Concat(eventKinds, streamKinds),
}

// fieldEnums are the fields that take or give fewer words than their type has.
var fieldEnums = map[string][]string{
	"Bulk.kind":            eventKinds,
	"EventDecision.kind":   eventKinds,
	"StreamDecision.kind":  streamKinds,
	"StreamDecision.check": {"order_regression", "position_conflict", "gap", "token_cycle"},
	// too_large is the deployed function's own: its answer would not fit.
	"Problem.type": {"invalid", "unauthorized", "forbidden", "not_found", "conflict", "precondition_required", "unknown", "too_large"},
}

// constants reads the string constants of each named type from the protocol's source.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../handoff/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of the protocol: %v", err)
	}
	found := map[string][]string{}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			kind, named := spec.Type.(*ast.Ident)
			for _, v := range spec.Values {
				lit, text := v.(*ast.BasicLit)
				if named && text && lit.Kind == token.STRING {
					word, _ := strconv.Unquote(lit.Value) // a literal that parsed
					found[kind.Name] = append(found[kind.Name], word)
				}
			}
			return true
		})
	}
	return found
}

// Each list has every word of the protocol, and no other.
func TestEnumsAreWhole(t *testing.T) {
	t.Parallel()
	source := constants(t)
	for kind, words := range enums {
		if got := source[kind.Name()]; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(words))) {
			t.Errorf("%s: the protocol has %v, the document %v", kind.Name(), got, words)
		}
	}
	for _, k := range enums[reflect.TypeFor[handoff.DecisionKind]()] {
		if handoff.DecisionKind(k).OnEvent() != slices.Contains(eventKinds, k) {
			t.Errorf("%s stands in the wrong list", k)
		}
	}
	for _, h := range enums[reflect.TypeFor[handoff.HaltReason]()] {
		if handoff.HaltReason(h).Acceptable() != slices.Contains(fieldEnums["StreamDecision.check"], h) {
			t.Errorf("may %s be accepted?", h)
		}
	}
}

// Every schema and every field is explained, and no explanation has outlived its field.
func TestWordsAreWhole(t *testing.T) {
	t.Parallel()
	all := schemas{}
	for _, op := range operations {
		for _, kind := range []reflect.Type{op.in, op.out, reflect.TypeFor[Problem]()} {
			if kind != nil {
				all.of(kind)
			}
		}
	}
	unused := maps.Clone(words)
	for name, schema := range all {
		if words[name] == "" {
			t.Errorf("schema %s is not explained", name)
		}
		delete(unused, name)
		props, _ := schema.(object)["properties"].(object)
		for field := range props {
			if explain(name, field) == "" {
				t.Errorf("field %s.%s is not explained", name, field)
			}
			delete(unused, name+"."+field)
			if words[name+"."+field] == "" {
				delete(unused, "."+field)
			}
		}
	}
	for key := range unused {
		t.Errorf("words of %s explain nothing", key)
	}
	for key := range fieldEnums {
		name, field, _ := strings.Cut(key, ".")
		schema, _ := all[name].(object)
		if props, _ := schema["properties"].(object); props[field] == nil {
			t.Errorf("the list of %s is of no field", key)
		}
	}
}
