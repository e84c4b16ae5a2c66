package reviewapi_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	_, h := newWorld(t)
	event, whole := base()+"/events/17/decisions", base()+"/decisions"
	for _, c := range []struct {
		name, path, body string
		want             int
		header           []string
	}{
		{"no rev", event, `{"kind":"ignore","reason":"r"}`, http.StatusPreconditionRequired, nil},
		{"no rev for a reset", whole, `{"kind":"reset","reason":"r","cursor":"c"}`, http.StatusPreconditionRequired, nil},
		{"two revs", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusBadRequest, []string{"If-Match", `"2"`}},
		{"a rev that is none", event, `{"kind":"ignore","reason":"r"}`, http.StatusBadRequest, []string{"If-Match", `"x"`}},
		{"no reason", event, `{"kind":"ignore","reason":"  ","rev":1}`, http.StatusBadRequest, nil},
		{"a long reason", event, `{"kind":"ignore","reason":"` + strings.Repeat("r", 1001) + `","rev":1}`, http.StatusBadRequest, nil},
		{"an unknown kind", event, `{"kind":"explode","reason":"r","rev":1}`, http.StatusBadRequest, nil},
		{"a stream's kind on an event", event, `{"kind":"pause","reason":"r","rev":1}`, http.StatusBadRequest, nil},
		{"an event's kind on a stream", whole, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusBadRequest, nil},
		{"an unknown field", event, `{"kind":"ignore","reason":"r","rev":1,"force":true}`, http.StatusBadRequest, nil},
		{"two objects", event, `{"kind":"ignore","reason":"r","rev":1}{}`, http.StatusBadRequest, nil},
		{"a name twice", event, `{"kind":"ignore","kind":"quarantine","reason":"r","rev":1}`, http.StatusBadRequest, nil},
		{"a name in other letters", event, `{"KIND":"ignore","reason":"r","rev":1}`, http.StatusBadRequest, nil},
		{"a reason that is no text", event, "{\"kind\":\"ignore\",\"reason\":\"\xff\",\"rev\":1}", http.StatusBadRequest, nil},
		{"half a character", whole, `{"kind":"reset","reason":"r","rev":1,"cursor":"\ud800"}`, http.StatusBadRequest, nil},
		{"a rev that is no whole number", event, `{"kind":"ignore","reason":"r","rev":1.5}`, http.StatusBadRequest, nil},
		{"a negative rev", event, `{"kind":"ignore","reason":"r","rev":-1}`, http.StatusBadRequest, nil},
		{"nothing", event, ``, http.StatusBadRequest, nil},
		{"null", event, `null`, http.StatusBadRequest, nil},
		{"a list", event, `[]`, http.StatusBadRequest, nil},
		{"no content type", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnsupportedMediaType, []string{"Content-Type", ""}},
		{"spaces for a name", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnauthorized, []string{reviewapi.ActorHeader, "  "}},
		{"a long name", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnauthorized, []string{reviewapi.ActorHeader, strings.Repeat("n", 257)}},
		{"a name of two lines", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnauthorized, []string{reviewapi.ActorHeader, "a\nb"}},
		{"a name that is no text", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnauthorized, []string{reviewapi.ActorHeader, "a\xff"}},
		{"an id of two lines", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusBadRequest, []string{"Idempotency-Key", "a\nb"}},
		{"no JSON", event, `kind=ignore`, http.StatusBadRequest, nil},
		{"a form", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnsupportedMediaType, []string{"Content-Type", "text/plain"}},
		{"a large body", event, `{"kind":"ignore","reason":"` + strings.Repeat("r", 70<<10) + `"}`, http.StatusRequestEntityTooLarge, nil},
		{"nobody", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusUnauthorized, []string{reviewapi.ActorHeader, ""}},
		{"a long id", event, `{"kind":"ignore","reason":"r","rev":1}`, http.StatusBadRequest, []string{"Idempotency-Key", strings.Repeat("k", 201)}},
		{"an event that is not there", base() + "/events/99/decisions", `{"kind":"ignore","reason":"r","rev":1}`, http.StatusNotFound, nil},
		{"a release past its page", event, `{"kind":"applied","reason":"r","rev":1}`, http.StatusConflict, nil},
	} {
		status, header, body := request(t, h, "POST", c.path, c.body, c.header...)
		if status != c.want || header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s %s, want %d", c.name, status, header.Get("Content-Type"), body, c.want)
		}
	}
	f := &fake{}
	if status, _, _ := request(t, f.serve(t), "POST", "/v1/streams/s/decisions", `{"kind":"ignore","reason":"r","rev":1}`); status != http.StatusBadRequest || len(f.decided) != 0 {
		t.Errorf("an event's kind on a stream was let through: %d %+v", status, f.decided)
	}
	if status, header, _ := request(t, h, "GET", base(), ""); status != http.StatusOK || header.Get("Cache-Control") != "no-store" ||
		header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'none'") || header.Get("ETag") == "" {
		t.Errorf("headers of a good answer: %d %v", status, header)
	}
}

// An actor that the gateway vouches for wins over whatever the caller says of himself.
func TestTheGatewayNamesTheActor(t *testing.T) {
	t.Parallel()
	w, _ := newWorld(t)
	who := "arn:ada"
	h := reviewapi.New(reviewapi.Config{Engine: w.engine, State: w.state, Actor: func(*http.Request) (string, error) {
		if who == "" {
			return "", errors.New("nobody")
		}
		return who, nil
	}})
	path := base() + "/events/17/decisions"
	if status, _, body := request(t, h, "POST", path, `{"kind":"ignore","reason":"r","rev":1}`, reviewapi.ActorHeader, "mallory"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	audits, _, _ := w.state.Audits(t.Context(), stream, "", 10)
	if len(audits) != 1 || audits[0].Actor != "arn:ada" {
		t.Errorf("the record names %+v", audits)
	}
	who = ""
	if status, _, _ := request(t, h, "POST", path, `{"kind":"ignore","reason":"r","rev":1}`); status != http.StatusUnauthorized {
		t.Errorf("nobody: %d", status)
	}
}
