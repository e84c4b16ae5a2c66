package reviewapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite openapi.json")

// openAPI makes the document from the routes, the types and the words.
func openAPI(t *testing.T) object {
	t.Helper()
	all, paths := schemas{}, object{}
	for _, r := range routes {
		name := r.method + " " + r.path
		op, ok := operations[name]
		if !ok {
			t.Errorf("%s is not described", name)
		}
		item, _ := paths[r.path].(object)
		if item == nil {
			item = object{}
		}
		item[strings.ToLower(r.method)] = op.document(all, name)
		paths[r.path] = item
	}
	shared := responses(all)
	if bulk, ok := all["Bulk"].(object); ok {
		events := bulk["properties"].(object)["events"].(object)
		events["minItems"], events["maxItems"] = 1, maxBulk
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "Turnleaf review", "version": "1", "description": "What blocks a stream, what is held, and every decision of the protocol. " +
			"On one machine it listens on loopback and wants the token of this start. Deployed, requests are signed (IAM), or carry what the gateway's authorizer takes; " +
			"it names the actor. Payloads are other people's text: show them as text."},
		"security": []any{object{"bearer": []any{}}, object{"iam": []any{}}}, "paths": paths,
		"components": object{"schemas": all, "responses": shared, "parameters": parameters, "securitySchemes": object{
			"bearer": object{"type": "http", "scheme": "bearer", "description": "On one machine: the token of this start, from the file that only its user can read."},
			"iam": object{"type": "apiKey", "in": "header", "name": "Authorization",
				"description": "Deployed: an AWS Signature Version 4 of the request, for the service execute-api. Its identity is the actor."},
		}},
	}
}

// The document says what the routes serve: it is made from them and from the types, so it cannot drift.
func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(openAPI(t)); err != nil {
		t.Fatal(err)
	}
	if len(operations) != len(routes) {
		t.Errorf("%d operations are described, %d routes are served", len(operations), len(routes))
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
