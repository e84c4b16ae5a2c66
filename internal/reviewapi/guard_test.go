package reviewapi_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// Only programs of this machine that know the token get through.
func TestLoopbackRefuses(t *testing.T) {
	t.Parallel()
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") })
	for _, c := range []struct {
		name, token, host string
		header            []string
		want              int
	}{
		{"right", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t"}, 200},
		{"localhost", "t", "localhost", []string{"Authorization", "Bearer t"}, 200},
		{"IPv6", "t", "[::1]:80", []string{"Authorization", "Bearer t"}, 200},
		{"its own origin", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "http://127.0.0.1:80"}, 200},
		{"IPv6 without a port", "t", "[::1]", []string{"Authorization", "Bearer t"}, 200},
		{"another loopback address", "t", "127.8.9.1:80", []string{"Authorization", "Bearer t"}, 200},
		{"typed into the browser", "t", "localhost:80", []string{"Authorization", "Bearer t", "Sec-Fetch-Site", "none"}, 200},
		{"its own page", "t", "localhost:80", []string{"Authorization", "Bearer t", "Sec-Fetch-Site", "same-origin"}, 200},
		{"a neighbour's page", "t", "localhost:80", []string{"Authorization", "Bearer t", "Sec-Fetch-Site", "same-site"}, 403},
		{"a name that begins like one", "t", "127.0.0.1.evil.example", []string{"Authorization", "Bearer t"}, 403},
		{"a name that ends like one", "t", "evil.localhost:80", []string{"Authorization", "Bearer t"}, 403},
		{"an IPv6 address beyond loopback", "t", "[fe80::1]:80", []string{"Authorization", "Bearer t"}, 403},
		{"every address", "t", "0.0.0.0:80", []string{"Authorization", "Bearer t"}, 403},
		{"an origin that is none", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "http://[bad"}, 403},
		{"a token without its scheme", "t", "127.0.0.1:80", []string{"Authorization", "t"}, 401},
		{"a longer token", "t", "127.0.0.1:80", []string{"Authorization", "Bearer tt"}, 401},
		{"no token where none is set", "", "127.0.0.1:80", nil, 401},
		{"no token", "t", "127.0.0.1:80", nil, 401},
		{"wrong token", "t", "127.0.0.1:80", []string{"Authorization", "Bearer u"}, 401},
		{"empty token", "", "127.0.0.1:80", []string{"Authorization", "Bearer "}, 401},
		{"another scheme", "t", "127.0.0.1:80", []string{"Authorization", "Basic t"}, 401},
		{"a name that points here", "t", "evil.example", []string{"Authorization", "Bearer t"}, 403},
		{"an address beyond loopback", "t", "10.0.0.1", []string{"Authorization", "Bearer t"}, 403},
		{"another origin", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "http://evil.example"}, 403},
		{"another port", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "http://127.0.0.1:81"}, 403},
		{"no origin", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Origin", "null"}, 403},
		{"across sites", "t", "127.0.0.1:80", []string{"Authorization", "Bearer t", "Sec-Fetch-Site", "cross-site"}, 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://"+c.host+"/", nil)
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		rec := httptest.NewRecorder()
		reviewapi.Loopback(c.token, served).ServeHTTP(rec, r)
		if rec.Code != c.want || (c.want == 200) != bytes.Equal(rec.Body.Bytes(), []byte("in")) {
			t.Errorf("%s: %d, want %d", c.name, rec.Code, c.want)
		}
	}
}
