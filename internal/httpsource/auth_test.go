package httpsource

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// rotating gives the values one after the other, the last one for ever.
type rotating struct {
	values []string
	asked  int
	err    error
}

func (r *rotating) Secret(context.Context, streamdef.Secret) (string, error) {
	r.asked++
	if r.err != nil {
		return "", r.err
	}
	return r.values[min(r.asked, len(r.values))-1], nil
}

// door takes one key and counts the requests.
func door(key string, asked *int) Options {
	return Options{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		*asked++
		if r.Header.Get("Authorization") == "Bearer "+key {
			return response(200, `{"data":[],"has_more":false}`), nil
		}
		return response(401, ``), nil
	})}
}

func TestSecretIsRenewedOnceOn401(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values       []string
		status       int
		asks, looked int
	}{
		"good":             {[]string{"new-key"}, 200, 1, 1},
		"rotated":          {[]string{"old-key", "new-key"}, 200, 2, 2},
		"wrong for good":   {[]string{"old-key"}, 401, 1, 2},
		"wrong, and again": {[]string{"old-key", "older-key", "new-key"}, 401, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asks, secrets := 0, &rotating{values: c.values}
			def := trapDefinition()
			s, err := New(&def, secrets, door("new-key", &asks))
			if err != nil {
				t.Fatal(err)
			}
			a := ask(t, s, t0)
			if a.Status != c.status || asks != c.asks || secrets.asked != c.looked {
				t.Errorf("status %d after %d requests and %d looks at the secret", a.Status, asks, secrets.asked)
			}
			if r := s.Read(a); c.status == 401 && (r.Kind != handoff.ReadUnavailable || r.Class != "http_401") {
				t.Errorf("reads as %s %s", r.Kind, r.Class)
			}
		})
	}
}

func TestSecretIsCachedForItsLife(t *testing.T) {
	t.Parallel()
	asks, secrets := 0, &rotating{values: []string{"new-key"}}
	def := trapDefinition()
	s, err := New(&def, secrets, door("new-key", &asks))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {time.Minute, 1}, {5*time.Minute - 1, 1}, {5 * time.Minute, 2}, {6 * time.Minute, 2}, {-time.Hour, 3}} {
		if _, err := s.Ask(context.Background(), t0, fetchedAt.Add(c.after)); err != nil || secrets.asked != c.want {
			t.Errorf("after %v: %d looks, %v; want %d", c.after, secrets.asked, err, c.want)
		}
	}
}

func TestSecretFaults(t *testing.T) {
	t.Parallel()
	asks := 0
	for name, c := range map[string]struct {
		secrets Secrets
		config  bool
	}{
		"not set":     {secretTable{}.source(), true},
		"empty":       {&rotating{values: []string{""}}, true},
		"line break":  {&rotating{values: []string{"a\r\nX-Evil: 1"}}, true},
		"none at all": {nil, true},
		"later":       {&rotating{err: errors.New("throttled")}, false},
	} {
		def := trapDefinition()
		s, err := New(&def, c.secrets, door("x", &asks))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Ask(context.Background(), t0, fetchedAt); err == nil || errors.Is(err, handoff.ErrConfig) != c.config || strings.Contains(err.Error(), "Evil") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if asks != 0 {
		t.Errorf("asked %d times without a secret", asks)
	}
}

func TestHostSecrets(t *testing.T) {
	t.Parallel()
	h := HostSecrets{
		LookupEnv: func(string) (string, bool) { return "", true },
		ReadFile: func(path string) ([]byte, error) {
			return map[string][]byte{"/run/key": []byte("k e y\r\n"), "/run/empty": []byte("\n")}[path], nil
		},
	}
	if v, err := h.Secret(context.Background(), streamdef.Secret{File: "/run/key"}); v != "k e y" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	for _, ref := range []streamdef.Secret{{File: "/run/empty"}, {Env: "EMPTY"}} {
		if _, err := h.Secret(context.Background(), ref); !errors.Is(err, handoff.ErrConfig) {
			t.Errorf("%+v: %v", ref, err)
		}
	}
}

func TestAuthForms(t *testing.T) {
	t.Parallel()
	key := streamdef.Secret{Env: "KEY"}
	for want, auth := range map[string]*streamdef.Auth{
		"Authorization: Bearer s3cret-value":            {Bearer: &key},
		"Authorization: Basic dXNlcjpzM2NyZXQtdmFsdWU=": {Basic: &streamdef.Basic{User: "user", Password: key}},
		"X-Api-Key: s3cret-value":                       {Header: &streamdef.HeaderAuth{Name: "X-Api-Key", Value: key}},
		"Authorization: SSWS s3cret-value":              {Header: &streamdef.HeaderAuth{Name: "authorization", Prefix: "SSWS ", Value: key}},
		"Authorization: ":                               nil,
	} {
		name, value, _ := strings.Cut(want, ": ")
		var got string
		def := trapDefinition()
		def.Source.Auth = auth
		s := mustSource(t, def, Options{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			got = r.Header.Get(name)
			return response(200, "{}"), nil
		})})
		if a := ask(t, s, t0); got != value || a.Request.Header[name] != nil {
			t.Errorf("sent %s: %s, and kept %v", name, got, a.Request.Header)
		}
	}
}
