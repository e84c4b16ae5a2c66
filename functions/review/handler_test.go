package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// reviewer remembers what it was asked, and answers.
type reviewer struct {
	reviewapi.Reviewer
	decided []handoff.Decision
	asked   []handoff.Stream
}

func (r *reviewer) Decide(_ context.Context, d handoff.Decision) (handoff.DecisionAnswer, error) {
	r.decided = append(r.decided, d)
	return handoff.DecisionAnswer{Outcome: handoff.Released}, nil
}

func (r *reviewer) Status(_ context.Context, s handoff.Stream) (handoff.StreamStatus, error) {
	r.asked = append(r.asked, s)
	return handoff.StreamStatus{}, nil
}

func subject(api http.Handler) (*handler, *bytes.Buffer) {
	var log bytes.Buffer
	l := cloud.Log(&log, slog.LevelInfo)
	return &handler{api: api, rec: cloud.NewRecorder(l, cloud.Meter{}, time.Now)}, &log
}

func real(t *testing.T) (*handler, *reviewer, *bytes.Buffer) {
	t.Helper()
	r := &reviewer{}
	h, log := subject(reviewapi.New(reviewapi.Config{Engine: r, Actor: actorOf}))
	return h, r, log
}

// ask is a request that IAM vouched for.
func ask(method, rawPath, body string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{RawPath: rawPath, Body: body, Headers: map[string]string{"content-type": "application/json"}}
	e.RequestContext.HTTP.Method = method
	e.RequestContext.Stage = "$default"
	e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
		IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{UserARN: ada},
	}
	return e
}

const (
	ada     = "arn:aws:iam::000000000000:user/ada"
	release = `{"kind":"release","reason":"checked","rev":3}`
)

// event.json is what a gateway sends, so that the function can be tried by hand.
func TestTheSampleEvent(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("event.json")
	if err != nil {
		t.Fatal(err)
	}
	var e events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	h, r, _ := real(t)
	out, err := h.handle(t.Context(), e)
	if err != nil || out.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(r.decided) != 1 {
		t.Fatalf("decided %+v", r.decided)
	}
	d := r.decided[0]
	if d.Stream != "orders" || d.Event.EventID != `"e137"` || d.Kind != handoff.DecideRelease || d.Actor != ada || d.Rev != 3 || d.ID != "8f2c" {
		t.Errorf("decided %+v", d)
	}
}

// However a path arrives, the names in it are those that were sent: encoded (a function URL), decoded but for %25 (an HTTP API), or
// marked, where decoding would lose a slash or a question mark.
func TestNamesInThePath(t *testing.T) {
	t.Parallel()
	coded := func(s string) string { return plain + base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct{ rawPath, stream, event string }{
		{`/v1/streams/orders/events/%22e1%22/decisions`, "orders", `"e1"`},
		{`/v1/streams/orders/events/"e1"/decisions`, "orders", `"e1"`},
		{`/v1/streams/orders%2Feu/events/7/decisions`, "orders/eu", `7`},
		{`/v1/streams/orders%2feu/events/7/decisions`, "orders/eu", `7`},
		{`/v1/streams/orders/events/"grüße dich"/decisions`, "orders", `"grüße dich"`},
		{`/v1/streams/orders/events/"100%25"/decisions`, "orders", `"100%"`},
		{`/v1/streams/orders/events/"100%"/decisions`, "orders", `"100%"`},
		{`/v1/streams/orders/events/"a%252Fb"/decisions`, "orders", `"a%2Fb"`},
		{`/v1/streams/orders/events/"a#b;c+d"/decisions`, "orders", `"a#b;c+d"`},
		{`/v1/streams/` + coded("orders/eu") + `/events/` + coded(`"a/b?c=%2F"`) + `/decisions`, "orders/eu", `"a/b?c=%2F"`},
	} {
		h, r, _ := real(t)
		out, err := h.handle(t.Context(), ask("POST", c.rawPath, release))
		if err != nil || out.StatusCode != http.StatusOK || len(r.decided) != 1 {
			t.Errorf("%s: %+v, %v", c.rawPath, out, err)
			continue
		}
		if d := r.decided[0]; string(d.Stream) != c.stream || d.Event.EventID != c.event {
			t.Errorf("%s: stream %q, event %q; want %q, %q", c.rawPath, d.Stream, d.Event.EventID, c.stream, c.event)
		}
	}
}

func TestAMarkedSegmentThatIsNotBase64(t *testing.T) {
	t.Parallel()
	h, r, _ := real(t)
	out, err := h.handle(t.Context(), ask("POST", "/v1/streams/~*/events/7/decisions", release))
	if err != nil || out.StatusCode != http.StatusBadRequest || len(r.decided) != 0 {
		t.Errorf("%+v, %v, decided %v", out, err, r.decided)
	}
	problem(t, out, "invalid")
}

// A named stage is a part of the raw path; a name that only begins like it is none.
func TestStage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stage, rawPath string }{
		{"$default", "/v1/streams/orders"}, {"", "/v1/streams/orders"}, {"prod", "/prod/v1/streams/orders"}, {"v1", "/v1/v1/streams/orders"},
		{"v", "/v1/streams/orders"},
	} {
		h, r, _ := real(t)
		e := ask("GET", c.rawPath, "")
		e.RequestContext.Stage = c.stage
		out, err := h.handle(t.Context(), e)
		if err != nil || out.StatusCode != http.StatusOK || len(r.asked) != 1 || r.asked[0] != "orders" {
			t.Errorf("stage %q: %+v, %v, asked %v", c.stage, out, err, r.asked)
		}
	}
}

// Whoever the gateway does not vouch for gets nothing, whatever his headers say: not even to read.
func TestNobodyIsRefused(t *testing.T) {
	t.Parallel()
	type authorizer = events.APIGatewayV2HTTPRequestContextAuthorizerDescription
	jwt := &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"email": "mallory@example.com"}}
	for name, a := range map[string]*authorizer{
		"none": nil, "empty": {}, "IAM without an ARN": {IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{}},
		"JWT without sub": {JWT: jwt}, "Lambda without a principal": {Lambda: map[string]any{"principalId": 7}},
	} {
		for _, method := range []string{"GET", "POST"} {
			called := false
			h, log := subject(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
			e := ask(method, "/v1/streams/orders/decisions", release)
			e.RequestContext.Authorizer = a
			e.Headers[strings.ToLower(reviewapi.ActorHeader)], e.Headers["authorization"] = "mallory", "Bearer mallory"
			out, err := h.handle(t.Context(), e)
			if err != nil || out.StatusCode != http.StatusUnauthorized || called {
				t.Errorf("%s: %+v, %v; the API was called: %v", name, out, err, called)
			}
			problem(t, out, "unauthorized")
			if strings.Contains(log.String(), "mallory") {
				t.Errorf("the log repeats what a stranger sent: %s", log)
			}
		}
	}
}

func TestActors(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]*events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
		ada:        {IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{UserARN: ada}},
		"sub-of-b": {JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "sub-of-b"}}},
		"carl":     {Lambda: map[string]any{"principalId": "carl"}},
	} {
		h, r, log := real(t)
		e := ask("POST", "/v1/streams/orders/events/7/decisions", release)
		e.RequestContext.Authorizer = a
		e.Headers[strings.ToLower(reviewapi.ActorHeader)] = "mallory"
		out, err := h.handle(t.Context(), e)
		if err != nil || out.StatusCode != http.StatusOK || len(r.decided) != 1 || r.decided[0].Actor != want {
			t.Errorf("%s: %+v, %v, decided %+v", want, out, err, r.decided)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 || strings.Contains(log.String(), "checked") {
			t.Errorf("%d log lines: %s", n, log)
		}
	}
}

// Bodies that are not text travel as base64, both ways; queries and headers as they are.
func TestRequestAndAnswer(t *testing.T) {
	t.Parallel()
	h, _ := subject(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil || body.String() != "\xff\x00in" {
			t.Errorf("body %q, %v", body.String(), err)
		}
		if r.URL.Query().Get("after") != "a/b c" || r.Header.Get("If-Match") != `"7"` || r.Method != "PUT" {
			t.Errorf("%s %s, If-Match %s", r.Method, r.URL, r.Header.Get("If-Match"))
		}
		w.Header().Set("ETag", `"8"`)
		w.WriteHeader(http.StatusAccepted)
		w.WriteHeader(http.StatusTeapot) // too late: a server has sent the first
		_, _ = w.Write([]byte("\xffout"))
	}))
	e := ask("PUT", "/x", base64.StdEncoding.EncodeToString([]byte("\xff\x00in")))
	e.IsBase64Encoded, e.RawQueryString = true, "after=a%2Fb%20c"
	e.Headers["if-match"] = `"7"`
	out, err := h.handle(t.Context(), e)
	if err != nil || out.StatusCode != http.StatusAccepted || out.Headers["Etag"] != `"8"` || !out.IsBase64Encoded {
		t.Fatalf("%+v, %v", out, err)
	}
	if body, err := base64.StdEncoding.DecodeString(out.Body); err != nil || string(body) != "\xffout" {
		t.Errorf("answered %q, %v", body, err)
	}
	e.Body = "not base64!"
	if out, err = h.handle(t.Context(), e); err != nil || out.StatusCode != http.StatusBadRequest {
		t.Errorf("a broken body: %+v, %v", out, err)
	}
}

// One Info line, whoever asks and whatever comes of it; neither path nor body is in it.
func TestOneInfoLine(t *testing.T) {
	t.Parallel()
	stranger := ask("GET", "/v1/streams/secret-stream", "")
	stranger.RequestContext.Authorizer = nil
	broken := ask("PUT", "/x", "not base64!")
	broken.IsBase64Encoded = true
	for _, c := range []struct {
		e   events.APIGatewayV2HTTPRequest
		has string
	}{
		{stranger, `"status":401`}, {broken, `"status":400`}, {ask("GET", "/v1/streams/secret-stream", ""), `"status":200`}, {ask("GET", "/secret-path", ""), `"status":404`},
		{ask("POST", `/v1/streams/secret-stream/events/"secret-id"/decisions`, release), `"method":"POST","status":200`},
	} {
		h, _, log := real(t)
		if _, err := h.handle(t.Context(), c.e); err != nil {
			t.Fatal(err)
		}
		text := log.String()
		if strings.Count(text, `"level":"INFO","msg":"review","cold":true`) != 1 || strings.Count(text, "\n") != 1 || !strings.Contains(text, c.has) || strings.Contains(text, "secret") {
			t.Errorf("%s: %s", c.has, text)
		}
	}
}

// Nothing written is a good answer without a body; without a status, a gateway would make up one.
func TestAnEmptyAnswer(t *testing.T) {
	t.Parallel()
	h, log := subject(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	out, err := h.handle(t.Context(), ask("GET", "/x", ""))
	if err != nil || out.StatusCode != http.StatusOK || out.Body != "" || !strings.Contains(log.String(), `"status":200`) {
		t.Errorf("%+v, %v, %s", out, err, log)
	}
}

// Lambda carries 6 MB as JSON: more is said in words, not as a gateway's 500.
func TestAnswersThatAreTooLarge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		body  string
		large bool
	}{
		{"text that fits", strings.Repeat("a", 5_900_000), false}, {"text", strings.Repeat("a", 6_000_000), true},
		{"quotes that fit", strings.Repeat(`"`, 2_900_000), false}, {"quotes", strings.Repeat(`"`, 3_000_000), true},
		{"bytes that fit", strings.Repeat("\xff", 4_400_000), false}, {"bytes", strings.Repeat("\xff", 4_600_000), true},
	} {
		h, _ := subject(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(c.body)) }))
		out, err := h.handle(t.Context(), ask("GET", "/x", ""))
		if err != nil || (out.StatusCode == http.StatusOK) == c.large {
			t.Errorf("%s: %d, %v", c.name, out.StatusCode, err)
		}
		if raw, err := json.Marshal(out); err != nil || len(raw) > 6*1024*1024 {
			t.Errorf("%s: %d bytes, %v", c.name, len(raw), err)
		}
	}
}

func problem(t *testing.T, out events.APIGatewayV2HTTPResponse, kind string) {
	t.Helper()
	var p reviewapi.Problem
	if err := json.Unmarshal([]byte(out.Body), &p); err != nil || p.Type != kind || p.Status != out.StatusCode || p.Detail == "" {
		t.Errorf("problem %+v, %v", p, err)
	}
	if out.Headers["Content-Type"] != "application/problem+json" {
		t.Errorf("headers %v", out.Headers)
	}
}
