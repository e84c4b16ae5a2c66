package reviewapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

var update = flag.Bool("update", false, "rewrite openapi.json")

type object = map[string]any

// enums are the words of the protocol, by type.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[handoff.Status]():  {"active", "paused", "halted"},
	reflect.TypeFor[handoff.Outcome](): {"applied", "ignored", "quarantined", "held", "retrying", "claimed", "released", "superseded"},
	reflect.TypeFor[handoff.HoldReason](): {"invalid_event", "identity_conflict", "late", "receipt_expired", "ambiguous", "effect_changed",
		"effect_refused", "crash_loop", "policy"},
	reflect.TypeFor[handoff.HaltReason](): {"order_regression", "position_conflict", "gap", "token_stalled", "token_cycle", "cursor_rejected",
		"page_unreadable", "page_too_large", "config"},
	reflect.TypeFor[handoff.DecisionKind](): {"release", "applied", "ignore", "quarantine", "retry_now", "pause", "resume", "poll_now", "reset",
		"accept", "lost", "start", "retire"},
}

// schemas collects the schema of each type that is served.
type schemas object

// of gives the schema of a type; structs are named and referred to.
func (s schemas) of(t reflect.Type) object {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.of(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{"description": "any JSON value, digit for digit"}
	case t == reflect.TypeFor[handoff.Position]():
		return object{"type": "string", "description": "a JSON list of [kind, text] pairs: n number, t instant, s text, a arrival"}
	case t == reflect.TypeFor[handoff.ChunkSet]():
		return object{"type": "array", "items": object{"type": "integer"}}
	case t == reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64"}
	case t == reflect.TypeFor[time.Duration]():
		return object{"type": "integer", "description": "nanoseconds"}
	}
	switch t.Kind() {
	case reflect.String:
		if words, ok := enums[t]; ok {
			return object{"type": "string", "enum": words}
		}
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	}
	return s.named(t)
}

func (s schemas) named(t reflect.Type) object {
	name := t.Name()
	if i := strings.IndexByte(name, '['); i >= 0 { // a List of something
		item := t.Field(0).Type.Elem()
		return object{"type": "object", "required": []string{"items"}, "properties": object{
			"items": object{"type": "array", "items": s.of(item)},
			"next":  object{"type": "string", "description": "the mark to go on from; absent at the end"},
		}}
	}
	if _, ok := s[name]; !ok {
		s[name] = nil // a type that refers to itself
		props, required := object{}, []string{}
		s.fields(t, props, &required)
		s[name] = object{"type": "object", "properties": props, "required": required}
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (s schemas) fields(t reflect.Type, props object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Tag.Get("json") == "" {
			s.fields(f.Type, props, required)
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		props[name] = s.of(f.Type)
		if !strings.Contains(opts, "omit") {
			*required = append(*required, name)
		}
	}
}

// operation is what a route does, in words and types.
type operation struct {
	summary string
	in, out reflect.Type
	query   []string
}

var operations = map[string]operation{
	"GET /v1/streams":          {"Every stream, what blocks it and since when; blocked ones first.", nil, reflect.TypeFor[List[StreamLine]](), nil},
	"GET /v1/streams/{stream}": {"Where one stream stands. ETag is its rev.", nil, reflect.TypeFor[handoff.StreamStatus](), nil},
	"GET /v1/streams/{stream}/holds": {"What waits for a person, oldest first: held and superseded events.", nil,
		reflect.TypeFor[List[handoff.Receipt]](), []string{"after", "limit"}},
	"GET /v1/streams/{stream}/events/{event}": {"One receipt, and its event from the archive. {event} is the id as canonical JSON. ETag is its rev.", nil,
		reflect.TypeFor[EventView](), []string{"conflict"}},
	"POST /v1/streams/{stream}/events/{event}/decisions": {"Decide about one event, as it was seen.", reflect.TypeFor[EventDecision](),
		reflect.TypeFor[handoff.DecisionAnswer](), []string{"conflict"}},
	"POST /v1/streams/{stream}/decisions": {"Decide about a stream. resume, reset, accept and lost need the rev that was seen.", reflect.TypeFor[StreamDecision](),
		reflect.TypeFor[handoff.DecisionAnswer](), nil},
	"POST /v1/streams/{stream}/bulk": {"One decision on an explicit list of up to 100 events; each has its own answer.", reflect.TypeFor[Bulk](),
		reflect.TypeFor[List[BulkResult]](), nil},
	"GET /v1/streams/{stream}/audit": {"The append-only record of decisions, oldest first.", nil, reflect.TypeFor[List[handoff.AuditRecord]](), []string{"after", "limit"}},
	"GET /v1/streams/{stream}/pages": {"Pages, ascending.", nil, reflect.TypeFor[List[handoff.Page]](), []string{"after", "limit"}},
	"GET /v1/streams/{stream}/docs":  {"The projection's documents.", nil, reflect.TypeFor[List[handoff.Doc]](), []string{"after", "limit"}},
	"GET /v1/streams/{stream}/check": {"Walk the whole record and name every broken invariant.", nil, reflect.TypeFor[List[handoff.Violation]](), nil},
	"GET /v1/openapi.json":           {"This document.", nil, nil, nil},
}

var parameters = map[string]object{
	"after":    {"name": "after", "in": "query", "schema": object{"type": "string"}, "description": "the mark of the batch before"},
	"limit":    {"name": "limit", "in": "query", "schema": object{"type": "integer", "minimum": 1, "maximum": maxLimit, "default": defaultLimit}},
	"conflict": {"name": "conflict", "in": "query", "schema": object{"type": "string"}, "description": "the digest of a second content under the same id"},
}

func (o operation) document(s schemas, path string) object {
	var params []any
	for _, name := range []string{"stream", "event"} {
		if strings.Contains(path, "{"+name+"}") {
			params = append(params, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}, "description": "escaped: / is %2F"})
		}
	}
	for _, q := range o.query {
		params = append(params, parameters[q])
	}
	good := object{"description": "done"}
	if o.out != nil {
		good["content"] = object{"application/json": object{"schema": s.of(o.out)}}
	}
	doc := object{"summary": o.summary, "responses": object{"200": good, "default": object{
		"description": "what could not be done: 400 invalid, 401 nobody vouches for who is asking, 404, 409 something changed, 428 no rev was given, " +
			"503 the outcome is unknown (repeat the same request with the same Idempotency-Key)",
		"content": object{"application/problem+json": object{"schema": s.of(reflect.TypeFor[Problem]())}},
	}}}
	if o.in != nil {
		doc["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(o.in)}}}
		params = append(params,
			object{"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "maxLength": 200}, "description": "makes the request safe to repeat"},
			object{"name": "If-Match", "in": "header", "schema": object{"type": "string"}, "description": "the rev that was seen, in double quotes; or rev in the body"})
	}
	if params != nil {
		doc["parameters"] = params
	}
	return doc
}

// The document says what the routes serve: it is made from them and from the types, so it cannot drift.
func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()
	all, paths := schemas{}, object{}
	for _, r := range routes {
		op, ok := operations[r.method+" "+r.path]
		if !ok {
			t.Errorf("%s %s is not described", r.method, r.path)
		}
		item, _ := paths[r.path].(object)
		if item == nil {
			item = object{}
		}
		item[strings.ToLower(r.method)] = op.document(all, r.path)
		paths[r.path] = item
	}
	document := object{
		"openapi": "3.1.0",
		"info": object{"title": "Turnleaf review", "version": "1", "description": "What blocks a stream, what is held, and every decision of the protocol. " +
			"On one machine it listens on loopback and wants the token of this start; deployed, the gateway vouches for who is asking."},
		"security": []any{object{"bearer": []any{}}}, "paths": paths,
		"components": object{"schemas": all, "securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer"}}},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b.Bytes(), openAPIDocument) {
		t.Error("openapi.json is not what is served: go test ./internal/reviewapi -run OpenAPI -update, and read the diff")
	}
}

// The enum lists hold every constant: each word is one that the protocol gives out.
func TestEnumsAreWhole(t *testing.T) {
	t.Parallel()
	for _, k := range enums[reflect.TypeFor[handoff.DecisionKind]()] {
		d := handoff.DecisionKind(k)
		if d.OnEvent() != (k == "release" || k == "applied" || k == "ignore" || k == "quarantine" || k == "retry_now") {
			t.Errorf("%s: is it about an event?", k)
		}
	}
	terminal := 0
	for _, o := range enums[reflect.TypeFor[handoff.Outcome]()] {
		if handoff.Outcome(o).Terminal() {
			terminal++
		}
	}
	if terminal != 3 {
		t.Errorf("%d outcomes are terminal, want 3", terminal)
	}
	for _, h := range enums[reflect.TypeFor[handoff.HaltReason]()] {
		if r := handoff.HaltReason(h); r.Remedy() == "" {
			t.Errorf("halt %s has no remedy", r)
		}
	}
}
