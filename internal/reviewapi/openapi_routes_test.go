package reviewapi

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// operation is what a route does, in words and types.
type operation struct {
	summary string
	in, out reflect.Type
	query   []string
	refused []int // besides refusals that any request may meet
}

var (
	listing  = []string{"after", "limit"}
	ofList   = []int{400}
	ofOne    = []int{404}
	decision = []int{400, 404, 409, 415, 428}
)

var operations = map[string]operation{
	"GET /v1/streams": {"Every stream, what blocks it and since when: blocked ones first, longest blocked before the others.", nil,
		reflect.TypeFor[List[StreamLine]](), nil, nil},
	"GET /v1/streams/{stream}": {"Where one stream stands. ETag is its rev.", nil, reflect.TypeFor[StreamStatus](), nil, ofOne},
	"GET /v1/streams/{stream}/holds": {"What waits for a person, oldest first: held and superseded events.", nil, reflect.TypeFor[List[Receipt]](),
		listing, ofList},
	"GET /v1/streams/{stream}/events/{event}": {"One receipt, and its event from the archive. ETag is its rev.", nil, reflect.TypeFor[EventView](),
		[]string{"conflict"}, ofOne},
	"POST /v1/streams/{stream}/events/{event}/decisions": {"Decide about one event, as it was seen.", reflect.TypeFor[EventDecision](),
		reflect.TypeFor[DecisionAnswer](), []string{"conflict"}, decision},
	"POST /v1/streams/{stream}/decisions": {"Decide about a stream.", reflect.TypeFor[StreamDecision](), reflect.TypeFor[DecisionAnswer](), nil, decision},
	"POST /v1/streams/{stream}/bulk": {"One decision on an explicit list of events, one after the other; each has an answer or a problem of its own. Repeating the " +
		"request with its Idempotency-Key repeats none of them.", reflect.TypeFor[Bulk](), reflect.TypeFor[List[BulkResult]](), nil, []int{400, 415}},
	"GET /v1/streams/{stream}/audit": {"The append-only record of decisions, oldest first.", nil, reflect.TypeFor[List[AuditRecord]](), listing, ofList},
	"GET /v1/streams/{stream}/pages": {"Pages, ascending. The mark is a page version.", nil, reflect.TypeFor[List[Page]](), listing, ofList},
	"GET /v1/streams/{stream}/docs":  {"The projection's documents.", nil, reflect.TypeFor[List[Doc]](), listing, ofList},
	"GET /v1/streams/{stream}/check": {"Walk the whole record and name every broken invariant: for people and tests, not for a dashboard.", nil,
		reflect.TypeFor[List[Violation]](), nil, ofOne},
	"GET /v1/openapi.json": {"This document.", nil, nil, nil, nil},
}

// refusals say what each status means.
var refusals = map[int]string{
	400: "The request cannot be carried out as it stands.",
	401: "Nobody vouches for who is asking, or the token of this start is missing or wrong.",
	403: "On one machine: another host or another origin. Deployed: the gateway refused.",
	404: "There is no such stream, event or page.",
	409: "What the decision was based on has changed. The problem says what stands now: who decided what, and when.",
	413: "The body is larger than 64 KiB. (Deployed, a 413 can also mean that the answer is larger than a function may give: what was asked for is done.)",
	415: "The body must be application/json.",
	428: "The decision acts on what was seen: give its rev, as If-Match or in the body.",
	503: "It may or may not have been done: repeat the same request with the Idempotency-Key named in `decision`. A read can simply be asked again.",
}

var parameters = map[string]object{
	"stream": {"name": "stream", "in": "path", "required": true, "schema": object{"type": "string"},
		"description": "The stream's name, percent-encoded: a / in it is %2F.", "example": "orders/eu"},
	"event": {"name": "event", "in": "path", "required": true, "schema": object{"type": "string"},
		"description": "The event's id as canonical JSON, quotes included, percent-encoded.", "example": `"evt/1042"`},
	"after": {"name": "after", "in": "query", "schema": object{"type": "string"}, "description": "The mark that the batch before gave as `next`."},
	"limit": {"name": "limit", "in": "query", "schema": object{"type": "integer", "minimum": 1, "maximum": maxLimit, "default": defaultLimit},
		"description": "How many items at most."},
	"conflict": {"name": "conflict", "in": "query", "schema": object{"type": "string"},
		"description": "The digest of a second content that came under the same id; without it, the event's own receipt is meant."},
	"Idempotency-Key": {"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "maxLength": maxID},
		"description": "The decision's id, which makes the request safe to repeat: it is answered as the first time. Without it, one is made and given in the answer."},
	"If-Match": {"name": "If-Match", "in": "header", "schema": object{"type": "string"}, "example": `"3"`,
		"description": "The rev that was seen, in double quotes: the ETag. Or give rev in the body."},
	ActorHeader: {"name": ActorHeader, "in": "header", "schema": object{"type": "string", "maxLength": maxActor},
		"description": "Who decides. On one machine only; deployed, the gateway names the actor and this header counts for nothing."},
}

func problemContent(s schemas) object {
	return object{"application/problem+json": object{"schema": s.of(reflect.TypeFor[Problem]())}}
}

// responses are the shared refusals.
func responses(s schemas) object {
	out := object{}
	for status, words := range refusals {
		content := problemContent(s)
		if example, ok := problemExamples[status]; ok {
			content["application/problem+json"].(object)["example"] = example
		}
		out[strconv.Itoa(status)] = object{"description": words, "content": content}
	}
	return out
}

// document describes an operation.
func (o operation) document(s schemas, route string) object {
	names := []string{}
	for _, name := range []string{"stream", "event"} {
		if strings.Contains(route, "{"+name+"}") {
			names = append(names, name)
		}
	}
	names = append(names, o.query...)
	good := object{"description": "Done."}
	switch {
	case o.out != nil:
		good["content"] = object{"application/json": object{"schema": s.of(o.out), "example": answerExamples[route]}}
	default:
		good["content"] = object{"application/json": object{"schema": object{"type": "object"}}}
	}
	answers := object{strconv.Itoa(http.StatusOK): good}
	for _, status := range append([]int{401, 403, 413, 503}, o.refused...) {
		answers[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + strconv.Itoa(status)}
	}
	doc := object{"summary": o.summary, "responses": answers}
	if o.in != nil {
		doc["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(o.in), "example": requestExamples[route]}}}
		names = append(names, "Idempotency-Key", ActorHeader)
		if o.in != reflect.TypeFor[Bulk]() {
			names = append(names, "If-Match")
		}
	}
	if len(names) > 0 {
		var refs []any
		for _, name := range names {
			refs = append(refs, object{"$ref": "#/components/parameters/" + name})
		}
		doc["parameters"] = refs
	}
	return doc
}
