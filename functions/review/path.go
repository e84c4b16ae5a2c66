package main

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// plain marks a path segment that is sent as base64url: ~ and the text's bytes without padding. An HTTP API decodes the path before it
// calls a function (every escape but %25, rawPath or not), so a slash in a name or an id becomes a separator and what follows a
// question mark is gone. A segment of these letters arrives as it was sent. No stream and no event id begins with the mark.
const plain = "~"

// target is the path as the API's router wants it: each segment escaped once, whoever escaped or decoded it before. A segment that needs
// no marking may come in any form: decoded by a gateway, or as the client sent it, through a function URL.
func target(e events.APIGatewayV2HTTPRequest) (*url.URL, error) {
	path := e.RawPath
	if stage := e.RequestContext.Stage; stage != "" && stage != "$default" {
		if rest, ok := strings.CutPrefix(path, "/"+stage+"/"); ok {
			path = "/" + rest
		}
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		text, err := segment(s)
		if err != nil {
			return nil, err
		}
		segments[i] = escape(text)
	}
	escaped := strings.Join(segments, "/")
	decoded, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("read path: %w", err)
	}
	return &url.URL{Path: decoded, RawPath: escaped, RawQuery: e.RawQueryString}, nil
}

// escape is for the router, which would take dots for a way up.
func escape(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// segment is the text that a segment stands for. A percent sign that begins no escape was decoded already, and stands for itself.
func segment(s string) (string, error) {
	if coded, ok := strings.CutPrefix(s, plain); ok {
		text, err := base64.RawURLEncoding.Strict().DecodeString(coded)
		if err != nil {
			return "", fmt.Errorf("a path segment that begins with %s is base64url: %w", plain, err)
		}
		return string(text), nil
	}
	if text, err := url.PathUnescape(s); err == nil {
		return text, nil
	}
	return s, nil
}
