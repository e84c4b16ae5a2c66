package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"github.com/turnleaf/turnleaf/internal/cloud"
)

type handler struct {
	api   http.Handler
	log   *slog.Logger
	steps *cloud.Steps
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
	who := actor(e.RequestContext)
	req, err := request(context.WithValue(ctx, actorKey{}, who), e)
	if err != nil {
		h.log.LogAttrs(ctx, slog.LevelWarn, "review", slog.Any("err", err))
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusBadRequest}, nil
	}
	if who == "" { // also for reading: payloads are nobody's but the operators'
		h.log.LogAttrs(ctx, slog.LevelWarn, "review", slog.Int("status", http.StatusUnauthorized))
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusUnauthorized}, nil
	}
	rec := &recorder{header: http.Header{}, status: http.StatusOK}
	h.api.ServeHTTP(rec, req)
	h.log.LogAttrs(ctx, slog.LevelInfo, "review", slog.String("method", req.Method), slog.Int("status", rec.status), slog.String("actor", who), h.steps.Take())
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

// request keeps the path as it was sent: %2F inside a stream's name must not become a slash.
func request(ctx context.Context, e events.APIGatewayV2HTTPRequest) (*http.Request, error) {
	path := e.RawPath
	if stage := e.RequestContext.Stage; stage != "" && stage != "$default" {
		path = strings.TrimPrefix(path, "/"+stage)
	}
	if e.RawQueryString != "" {
		path += "?" + e.RawQueryString
	}
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return nil, fmt.Errorf("decode body: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, e.RequestContext.HTTP.Method, path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	for k, v := range e.Headers {
		req.Header.Set(k, v)
	}
	return req, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

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
