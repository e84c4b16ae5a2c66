// Package source holds what only the mutants of internal/httpsource asked for: seen from outside, over a real connection.
package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/httpsource"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

const secret = "s3cret-value"

// serve asks a server on this host, which answers with one body.
func serve(t *testing.T, body string, edit func(*streamdef.Definition)) *httpsource.Source {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
	t.Cleanup(srv.Close)
	def := &streamdef.Definition{
		Source: streamdef.Source{
			URL: srv.URL + "/events", AllowPrivate: true, Events: "has(body.data) ? body.data : []",
			Cursor: streamdef.Cursor{Token: "has(body.next) ? body.next : null", Send: "query:cursor"},
		},
		Event: streamdef.EventRules{ID: "event.id"},
	}
	if edit != nil {
		edit(def)
	}
	s, err := httpsource.New(def, secrets{}, httpsource.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type secrets struct{}

func (secrets) Secret(context.Context, streamdef.Secret) (string, error) { return secret, nil }

func ask(t *testing.T, s *httpsource.Source) handoff.Answer {
	t.Helper()
	a, err := s.Ask(t.Context(), `{"p":"T0","pt":"s"}`, time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What cannot be read is no empty page, however forgiving the definition is: that would look like the end.
func TestUnreadableIsNoEmptyPage(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"html": "<html>back soon</html>", "cut": `{"data":[{"id":1}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, body, func(d *streamdef.Definition) {
				d.Source.Success, d.Source.Events = "status == 200", "body == null ? [] : body.data"
				d.Source.Cursor.Token = "body == null ? null : body.next"
			})
			if r := s.Read(ask(t, s)); r.Kind != handoff.ReadUnreadable {
				t.Errorf("read as %s with %d events", r.Kind, len(r.Events))
			}
		})
	}
}

// A token that is there and is no text is not absent: that would look like the end.
func TestUnreadableTokenIsNotAbsent(t *testing.T) {
	t.Parallel()
	for _, token := range []string{`["T1"]`, `{"next":"T1"}`, `true`} {
		s := serve(t, `{"data":[],"next":`+token+`}`, nil)
		if r := s.Read(ask(t, s)); r.Kind != handoff.ReadUnreadable {
			t.Errorf("token %s: read as %s, next %q", token, r.Kind, r.Next)
		}
	}
}

// A cursor that is none of ours can never be sent: that is the definition's fault, and no fault of the network.
func TestForeignCursorIsConfiguration(t *testing.T) {
	t.Parallel()
	s := serve(t, `{}`, nil)
	if _, err := s.Ask(t.Context(), "no cursor", time.Now()); !errors.Is(err, handoff.ErrConfig) {
		t.Errorf("got %v, want a configuration error", err)
	}
}

// No header that holds a secret, or whose name says that it does, is kept with the answer, whoever set it.
func TestRequestHeadersAreKeptWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := serve(t, `{}`, func(d *streamdef.Definition) {
		d.Source.Auth = &streamdef.Auth{Header: &streamdef.HeaderAuth{Name: "X-Key"}}
		d.Source.Headers = map[string]string{
			"Cookie": "session=abc", "X-Key": "a placeholder", "X-Signed": "v1=" + secret, "X-Api-Version": "3",
		}
	})
	got := ask(t, s).Request.Header
	for name, want := range map[string]string{"Cookie": "[redacted]", "X-Key": "[redacted]", "X-Signed": "[redacted]", "X-Api-Version": "3"} {
		if text := strings.Join(got[name], ","); text != want {
			t.Errorf("%s is kept as %q, want %q", name, text, want)
		}
	}
}
