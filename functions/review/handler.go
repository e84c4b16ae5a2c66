package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

type handler struct {
	api http.Handler
	rec *cloud.Recorder
}

// actorKey carries the actor that the gateway vouched for.
type actorKey struct{}

// actorOf is reviewapi's question; a header of the caller's counts for nothing.
func actorOf(r *http.Request) (string, error) {
	who, _ := r.Context().Value(actorKey{}).(string)
	if who == "" {
		return "", errors.New("the gateway vouches for nobody")
	}
	return who, nil
}

// handle turns an HTTP API event (payload 2.0) into a request and its answer back.
func (h *handler) handle(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	in := h.rec.Begin(ctx, "review")
	out, attrs, err := h.answer(ctx, e)
	in.End(append(attrs, slog.Int("status", out.StatusCode))...)
	return out, err
}

// answer also gives what the log may know of the request: never its path, which names events, nor a stranger's words.
func (h *handler) answer(ctx context.Context, e events.APIGatewayV2HTTPRequest) (out events.APIGatewayV2HTTPResponse, attrs []slog.Attr, err error) {
	who := actor(e.RequestContext)
	if who == "" { // also for reading: payloads are nobody's but the operators'
		out, err = refuse(reviewapi.Problem{Type: "unauthorized", Status: http.StatusUnauthorized, Detail: "the gateway vouches for nobody"})
		return out, nil, err
	}
	attrs = []slog.Attr{slog.String("actor", who)}
	req, err := request(context.WithValue(ctx, actorKey{}, who), e)
	if err != nil { // its text repeats what was sent: the caller's to see, not the log's
		out, err = refuse(reviewapi.Problem{Type: "invalid", Status: http.StatusBadRequest, Detail: err.Error()})
		return out, attrs, err
	}
	attrs = append(attrs, slog.String("method", req.Method))
	out, err = h.serve(req)
	return out, attrs, err
}

// serve asks the API.
func (h *handler) serve(req *http.Request) (events.APIGatewayV2HTTPResponse, error) {
	rec := &recorder{header: http.Header{}}
	h.api.ServeHTTP(rec, req)
	rec.WriteHeader(http.StatusOK) // counts if nothing was written
	if tooLarge(rec.body.Bytes()) {
		return refuse(reviewapi.Problem{
			Type: "too_large", Status: http.StatusRequestEntityTooLarge,
			Detail: "what was done is done, but the answer is larger than a function may give: use the command line, or ask for less",
		})
	}
	return rec.response(), nil
}

// actor is whoever the authorizer named: IAM, a JWT, or a Lambda authorizer.
func actor(c events.APIGatewayV2HTTPRequestContext) string {
	a := c.Authorizer
	switch {
	case a == nil:
		return ""
	case a.IAM != nil && a.IAM.UserARN != "":
		return a.IAM.UserARN
	case a.JWT != nil && a.JWT.Claims["sub"] != "":
		return a.JWT.Claims["sub"]
	}
	who, _ := a.Lambda["principalId"].(string)
	return who
}

// request is what the gateway was asked, as the standard library says it.
func request(ctx context.Context, e events.APIGatewayV2HTTPRequest) (*http.Request, error) {
	where, err := target(e)
	if err != nil {
		return nil, err
	}
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return nil, fmt.Errorf("decode body: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, e.RequestContext.HTTP.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.URL = where
	for k, v := range e.Headers {
		req.Header.Set(k, v)
	}
	return req, nil
}

// maxAnswer is what Lambda carries back, 6 MB as JSON, and a margin for headers. Beyond it the caller would see a 500 and no reason.
const maxAnswer = 6_000_000

// tooLarge measures the body as it travels: inside a JSON string, where each quote takes two bytes; or as base64.
func tooLarge(body []byte) bool {
	if len(body) <= maxAnswer/6 { // no byte takes more than six
		return false
	}
	if !utf8.Valid(body) {
		return base64.StdEncoding.EncodedLen(len(body)) > maxAnswer
	}
	text, err := json.Marshal(string(body))
	return err != nil || len(text) > maxAnswer
}

// refuse answers without asking the API, in the API's own words.
func refuse(p reviewapi.Problem) (events.APIGatewayV2HTTPResponse, error) {
	p.Title = http.StatusText(p.Status)
	body, err := json.Marshal(p)
	if err != nil {
		return events.APIGatewayV2HTTPResponse{}, fmt.Errorf("encode problem: %w", err)
	}
	header := map[string]string{"Content-Type": "application/problem+json", "Cache-Control": "no-store"}
	return events.APIGatewayV2HTTPResponse{StatusCode: p.Status, Headers: header, Body: string(body)}, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the first status, as a server does.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

func (r *recorder) response() events.APIGatewayV2HTTPResponse {
	out := events.APIGatewayV2HTTPResponse{StatusCode: r.status, Headers: map[string]string{}, Body: r.body.String()}
	for k := range r.header {
		out.Headers[k] = r.header.Get(k)
	}
	if !utf8.Valid(r.body.Bytes()) {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(r.body.Bytes()), true
	}
	return out
}
