package httpsource

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// serve gives a source that asks a real server on this host.
func serve(t *testing.T, h http.HandlerFunc, change func(*streamdef.Definition)) *Source {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	def := trapDefinition()
	def.FetchHash = "f1"
	def.Source.URL, def.Source.AllowPrivate = srv.URL+"/events", true
	if change != nil {
		change(&def)
	}
	return mustSource(t, def, Options{})
}

func ask(t *testing.T, s *Source, c handoff.Cursor) handoff.Answer {
	t.Helper()
	a, err := s.Ask(context.Background(), c, fetchedAt)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAskSendsAndKeeps(t *testing.T) {
	t.Parallel()
	var got http.Header
	var uri string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, uri = r.Header.Clone(), r.RequestURI
		w.Header().Set("Set-Cookie", "session=abc")
		w.Header().Set("X-Echo", "you sent "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		w.Header().Set("X-Kept", "yes")
		fmt.Fprint(w, `{"data":[]}`)
	}, func(d *streamdef.Definition) {
		d.Source.Headers = map[string]string{"X-Api-Version": "3"}
		d.Source.Query["key"] = "s3cret-value"
		d.Source.Query["q"] = "a,b;c&d::+ é"
	})
	a := ask(t, s, t0)
	if uri != "/events?cursor=T0&key=s3cret-value&limit=2&q=a%2Cb%3Bc%26d%3A%3A%2B+%C3%A9" {
		t.Errorf("asked %s", uri)
	}
	if got.Get("Authorization") != "Bearer s3cret-value" || got.Get("User-Agent") != "turnleaf" || got.Get("X-Api-Version") != "3" || got.Get("Cache-Control") != "no-cache" {
		t.Errorf("sent %v", got)
	}
	if a.Cursor != t0 || a.FetchHash != "f1" || !a.FetchedAt.Equal(fetchedAt) || a.Status != 200 || string(a.Body) != `{"data":[]}` {
		t.Errorf("kept %+v", a)
	}
	if a.Header["X-Kept"][0] != "yes" || !strings.HasSuffix(a.Request.URL, "cursor=T0&key=%5Bredacted%5D&limit=2&q=a%2Cb%3Bc%26d%3A%3A%2B+%C3%A9") {
		t.Errorf("kept %+v", a)
	}
	meta, _ := json.Marshal(a)
	for _, secret := range []string{"s3cret", "session=abc"} {
		if bytes.Contains(meta, []byte(secret)) {
			t.Errorf("the archived form holds %s: %s", secret, meta)
		}
	}
}

func TestAskPostsNumbersDigitForDigit(t *testing.T) {
	t.Parallel()
	var sent, kind string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent, kind = string(b), r.Header.Get("Content-Type")
		fmt.Fprint(w, `{}`)
	}, func(d *streamdef.Definition) {
		d.Source.Method, d.Source.Cursor.Send = "POST", "body:variables.after"
		d.Source.Body = map[string]any{"q": "a<b&c", "n": json.Number("90071992547409931"), "variables": map[string]any{"first": 2}, "key": "s3cret-value"}
	})
	a := ask(t, s, `{"p":"1152922976252290887.10","pt":"n"}`)
	want := `{"key":"s3cret-value","n":90071992547409931,"q":"a<b&c","variables":{"after":1152922976252290887.10,"first":2}}`
	if sent != want || kind != "application/json" {
		t.Errorf("sent %s as %s", sent, kind)
	}
	if a.Request.Body != strings.Replace(want, "s3cret-value", "[redacted]", 1) {
		t.Errorf("kept %s", a.Request.Body)
	}
	ask(t, s, `{"p":"17","pt":"s"}`)
	if !strings.Contains(sent, `"after":"17"`) {
		t.Errorf("a text token was sent in %s", sent)
	}
}

func TestAskGzip(t *testing.T) {
	t.Parallel()
	gz := func(size int64) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.CopyN(z, zeros{}, size)
		_ = z.Close()
		return b.Bytes()
	}
	// The bomb is two hundred members of a megabyte each: packing it whole would take the source longer than it is given.
	bomb := bytes.Repeat(gz(1<<20), 200)
	body := gz(5000)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("accepts %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body)
	}, func(d *streamdef.Definition) { d.Source.MaxBody = 2 << 20 })
	if a := ask(t, s, t0); len(a.Body) != 5000 || a.Truncated || a.Header["Content-Encoding"] != nil {
		t.Errorf("%d bytes, truncated %v, %v", len(a.Body), a.Truncated, a.Header)
	}
	body = gz(2 << 20)
	if a := ask(t, s, t0); a.Truncated || len(a.Body) != 2<<20 {
		t.Errorf("at the limit: %d bytes, truncated %v", len(a.Body), a.Truncated)
	}
	body = bomb
	a := ask(t, s, t0)
	if !a.Truncated || len(a.Body) != keepTruncated {
		t.Errorf("a bomb: %d bytes, truncated %v", len(a.Body), a.Truncated)
	}
	if r := s.Read(a); r.Kind != handoff.ReadTooLarge {
		t.Errorf("a bomb reads as %s", r.Kind)
	}
	body = gz(5000)
	body = body[:len(body)-9]
	if _, err := s.Ask(context.Background(), t0, fetchedAt); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("a cut gzip stream: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAskBoundsMemory(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, zeros{}, 60<<20) },
		func(d *streamdef.Definition) { d.Source.MaxBody = 4 << 20 })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := ask(t, s, t0)
	runtime.ReadMemStats(&after)
	if !a.Truncated || len(a.Body) != keepTruncated || cap(a.Body) > 2*keepTruncated {
		t.Errorf("%d bytes (capacity %d), truncated %v", len(a.Body), cap(a.Body), a.Truncated)
	}
	// Growing a buffer to 4 MiB allocates several times that in all; 60 MiB would allocate hundreds. Other tests run beside.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 150<<20 {
		t.Errorf("%d MiB were allocated", grown>>20)
	}
}

func TestAskTimesOut(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		func(d *streamdef.Definition) { d.Source.Timeout = 30 * time.Millisecond })
	_, err := s.Ask(context.Background(), t0, fetchedAt)
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, handoff.ErrConfig) || !strings.Contains(err.Error(), "no answer within 30ms") {
		t.Errorf("%v", err)
	}
}

func TestAskErrorsShowNothing(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{
		errors.New(`malformed HTTP response "PRIVATE T0"`), fmt.Errorf("PRIVATE: %w", io.ErrUnexpectedEOF), fmt.Errorf("PRIVATE: %w", context.Canceled),
	} {
		s := mustSource(t, trapDefinition(), Options{Transport: transportFunc(func(*http.Request) (*http.Response, error) { return nil, cause })})
		_, err := s.Ask(context.Background(), t0, fetchedAt)
		if err == nil || !errors.Is(err, cause) || strings.Contains(err.Error(), "PRIVATE") || strings.Contains(err.Error(), "T0") {
			t.Errorf("%v", err)
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	var here atomic.Int32
	handler := func(w http.ResponseWriter, r *http.Request) {
		here.Add(1)
		switch r.URL.Path {
		case "/events":
			w.Header().Set("Location", r.URL.Query().Get("cursor"))
			w.WriteHeader(http.StatusFound)
		case "/loop":
			w.Header().Set("Location", "/loop")
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			fmt.Fprint(w, r.Method+" "+r.Header.Get("Authorization"))
		}
	}
	get := serve(t, handler, nil)
	post := serve(t, handler, func(d *streamdef.Definition) { d.Source.Method = "POST" })
	for _, c := range []struct {
		s      *Source
		to     string
		status int
		asked  int32
		body   string
	}{
		{get, "/moved?x=1", 200, 2, "GET Bearer s3cret-value"},
		{get, "/loop", 307, 5 - 1, ""},
		{get, other.URL + "/x", 302, 1, ""},
		{get, "//" + strings.TrimPrefix(other.URL, "http://"), 302, 1, ""},
		{get, "https://" + get.endpoint.Host + "/moved", 302, 1, ""},
		{get, "http://u:p@" + get.endpoint.Host + "/moved", 302, 1, ""},
		{get, "http://%zz/PRIVATE", 302, 1, ""},
		{post, "/moved", 302, 1, ""},
	} {
		here.Store(0)
		a := ask(t, c.s, startAt(t, c.to))
		if a.Status != c.status || here.Load() != c.asked || string(a.Body) != c.body {
			t.Errorf("to %s: status %d after %d requests: %s", c.to, a.Status, here.Load(), a.Body)
		}
		if r := c.s.Read(a); c.status != 200 && (r.Kind != handoff.ReadUnreadable || r.Class != "redirect") {
			t.Errorf("to %s: reads as %s %s", c.to, r.Kind, r.Class)
		}
	}
	if elsewhere.Load() != 0 {
		t.Errorf("%d requests left the origin", elsewhere.Load())
	}
}

func startAt(t *testing.T, token string) handoff.Cursor {
	t.Helper()
	c, err := StartAt(streamdef.Start{Token: token}, fetchedAt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An address that redirects a POST with 307 gets the body again.
func TestRedirectKeepsTheBody(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			http.Redirect(w, r, "/moved", http.StatusPermanentRedirect)
			return
		}
		_, _ = io.Copy(w, r.Body)
	}, func(d *streamdef.Definition) {
		d.Source.Method, d.Source.Body, d.Source.Cursor.Send = "POST", map[string]any{"a": 1}, "body:cursor"
	})
	if a := ask(t, s, t0); string(a.Body) != `{"a":1,"cursor":"T0"}` {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
