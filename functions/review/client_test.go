package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// gateway plays an HTTP API: it decodes the path before it calls the function, every escape but %25.
type gateway struct{ h *handler }

func (g gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	body := []byte{}
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	path, err := url.PathUnescape(strings.ReplaceAll(r.URL.EscapedPath(), "%25", "%2525"))
	if err != nil {
		return nil, err
	}
	if at := strings.IndexByte(path, '?'); at >= 0 {
		path = path[:at]
	}
	e := ask(r.Method, path, string(body))
	e.RawQueryString = r.URL.RawQuery
	for k := range r.Header {
		e.Headers[strings.ToLower(k)] = r.Header.Get(k)
	}
	out, err := g.h.handle(r.Context(), e)
	if err != nil {
		return nil, err
	}
	return answerOf(out), nil
}

func answerOf(out events.APIGatewayV2HTTPResponse) *http.Response {
	return &http.Response{StatusCode: out.StatusCode, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(out.Body)))}
}

// A client that codes its paths is understood behind a gateway that decodes them, whatever stands in names and ids.
func TestCodedClientThroughAGateway(t *testing.T) {
	t.Parallel()
	h, r, _ := real(t)
	c := &reviewapi.Client{Base: "http://api.example", HTTP: gateway{h}, Coded: true}
	for i, name := range []string{"orders", "orders/eu 1", "a%2Fb", "..", ".", "ü?#&;=+", "a//b/../c", "100%"} {
		for j, id := range []string{`"e-1"`, `7`, `"a/b"`, `"?#%2F"`, `".."`, `..`, `.`, `"🍃"`, `!0af3`, "\"\x00\""} {
			d := handoff.Decision{
				ID: fmt.Sprintf("%d-%d", i, j), Stream: handoff.Stream(name), Event: handoff.ReceiptKey{EventID: id, Conflict: "d/&"},
				Kind: handoff.DecideIgnore, Actor: "nobody asks", Reason: "tested", Rev: 3,
			}
			r.decided = nil
			if _, err := c.Decide(t.Context(), d); err != nil {
				t.Errorf("%q %q: %v", name, id, err)
				continue
			}
			d.Actor = ada // the gateway's word
			if len(r.decided) != 1 || r.decided[0] != d {
				t.Errorf("sent %+v, arrived %+v", d, r.decided)
			}
		}
	}
}
