package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnleaf/turnleaf/localstack/deploy"
)

// fetching names the call of a source, which does not pass the gate: the feed asks it (atFeed).
const fetching = "fetch"

// gate stands between everybody and the emulator. It says that calls came over TLS (the emulator has it listen without, and the template's
// policies refuse that), asks reads again that MiniStack 1.5.33 breaks off, and ends the functions' processes in the middle of a call.
type gate struct {
	*httptest.Server
	peers peers

	mu      sync.Mutex
	strikes []*strike         // guarded by mu: those that are still to come
	struck  map[string]int    // guarded by mu: function and call to the processes that died in it
	denied  map[string]int    // guarded by mu: what a function was refused
	made    map[string]int    // guarded by mu: function and call to how often it was made
	names   map[string]string // guarded by mu: the emulator's name of a function to the template's
	keys    map[string]string // guarded by mu: the access key of a function's role to that function's name
}

// silent is for servers whose connections are broken on purpose.
var silent = log.New(io.Discard, "", 0)

// strike is the end of the process that makes a certain call.
type strike struct {
	function string // poll, apply or review
	call     string // as callOf names it
	skip     int    // calls that are let through first
	after    bool   // the emulator carried the call out, and the answer is lost with the process
}

func newGate(t *testing.T) *gate {
	g := &gate{struck: map[string]int{}, denied: map[string]int{}, made: map[string]int{}, names: map[string]string{}, keys: map[string]string{}}
	g.Server = httptest.NewUnstartedServer(http.NotFoundHandler())
	g.Server.Config.ErrorLog = silent
	g.Server.Start()
	t.Cleanup(g.Close)
	return g
}

// open begins to hand calls on to the emulator.
func (g *gate) open(endpoint string, p peers) error {
	to, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	g.peers = p
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, r.In.Host // the host is signed
			r.Out.Header.Set("X-Forwarded-Proto", "https")
		},
		Transport:    again{&http.Transport{DisableCompression: true, DisableKeepAlives: true}},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // broken there, broken here
	}
	g.Server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(proxy, w, r) })
	return nil
}

// name tells the gate what the template calls a function.
func (g *gate) name(function, template string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names[function] = template
}

func (g *gate) serve(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
	who := g.caller(r)
	if who == "" {
		proxy.ServeHTTP(w, r)
		return
	}
	call := callOf(r)
	hit := g.note(who, call)
	if hit != nil && !hit.after {
		g.strike(hit, r)
	}
	rec := &status{ResponseWriter: w}
	if hit != nil {
		rec.ResponseWriter = httptest.NewRecorder() // nobody is to hear it
	}
	proxy.ServeHTTP(rec, r)
	if hit != nil {
		g.strike(hit, r)
	}
	if rec.code == http.StatusForbidden || bareWrite(r) {
		g.mu.Lock()
		g.denied[who+" "+call]++
		g.mu.Unlock()
	}
}

// atFeed is serve for a request that the feed is about to answer: no signature says whose it is.
func (g *gate) atFeed(r *http.Request) {
	p, ok := g.peers.of(r.RemoteAddr)
	if !ok {
		return
	}
	g.mu.Lock()
	who := g.names[p.function]
	g.mu.Unlock()
	if hit := g.note(who, fetching); hit != nil {
		g.strike(hit, r)
	}
}

// strike ends the caller and the connection. Whoever is gone by himself cannot be struck: then the strike is for the next one.
func (g *gate) strike(s *strike, r *http.Request) {
	p, ok := g.peers.of(r.RemoteAddr)
	g.mu.Lock()
	if ok && p.kill() == nil {
		g.struck[s.function+" "+s.call]++
	} else {
		g.strikes = append(g.strikes, s)
	}
	g.mu.Unlock()
	panic(http.ErrAbortHandler)
}

// caller is the function that sent a request, by the template's name; empty for the test itself and its helpers. The role's key tells it;
// whose a key is, the first process that uses it tells.
func (g *gate) caller(r *http.Request) string {
	_, after, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(after, "/")
	if key == "" || key == deploy.Key {
		return ""
	}
	g.mu.Lock()
	who, known := g.keys[key]
	g.mu.Unlock()
	if known {
		return who
	}
	p, ok := g.peers.of(r.RemoteAddr)
	g.mu.Lock()
	defer g.mu.Unlock()
	if name := g.names[p.function]; ok && name != "" { // before connect nobody has a name
		g.keys[key] = name
	}
	return g.keys[key]
}

// note counts a call, and takes the strike that is meant for it.
func (g *gate) note(who, call string) *strike {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.made[who+" "+call]++
	for i, s := range g.strikes {
		if s.function != who || s.call != call {
			continue
		}
		if s.skip > 0 {
			s.skip--
			return nil
		}
		g.strikes = slices.Delete(g.strikes, i, i+1)
		return s
	}
	return nil
}

// arm adds strikes; those of the same call take effect one after the other.
func (g *gate) arm(s ...*strike) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.strikes = append(g.strikes, s...)
}

// left names the strikes that have not come yet.
func (g *gate) left() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for _, s := range g.strikes {
		out = append(out, fmt.Sprintf("%s %s", s.function, s.call))
	}
	return out
}

// counts copies one of the gate's tallies.
func (g *gate) counts(of *map[string]int) map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(*of)
}

// promoting names apply's write of a checkpoint: only a promote makes one.
const promoting = "PutItem CHECKPOINT"

func writesCheckpoint(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false // a caller that went away
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte(`{"S":"CHECKPOINT"}`))
}

// callOf names what a request asks for: the operation, or what is done to an object.
func callOf(r *http.Request) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, op, _ := strings.Cut(target, ".")
		if op == "PutItem" && writesCheckpoint(r) {
			op = promoting
		}
		return op
	}
	if r.URL.Query().Has("list-type") {
		return "ListObjects"
	}
	return r.Method + " object"
}

// status remembers how a call ended.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) { s.code = code; s.ResponseWriter.WriteHeader(code) }

// Unwrap lets the proxy flush.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// again asks a read once more whose answer broke off. MiniStack 1.5.33 breaks a connection now and then, and the faults that the test asks
// for are to be the only ones. A write is never repeated: that is what is under test.
type again struct{ http.RoundTripper }

const tries = 4

func (a again) RoundTrip(r *http.Request) (*http.Response, error) {
	if !isRead(r) {
		return a.RoundTripper.RoundTrip(r)
	}
	question, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("buffer request: %w", err)
	}
	for try := 1; ; try++ {
		r.Body = io.NopCloser(bytes.NewReader(question))
		resp, err := a.RoundTripper.RoundTrip(r)
		if err == nil {
			var answer []byte
			answer, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close() // read, or broken
			resp.Body = io.NopCloser(bytes.NewReader(answer))
		}
		if err == nil || try == tries || errors.Is(r.Context().Err(), context.Canceled) {
			return resp, err
		}
	}
}

// reads are the operations that change nothing.
var reads = []string{"GetItem", "BatchGetItem", "Query", "Scan", "DescribeTable", "DescribeStacks", "GetQueueAttributes"}

func isRead(r *http.Request) bool {
	if r.Body == nil {
		return false
	}
	if r.Header.Get("X-Amz-Target") != "" {
		return slices.Contains(reads, callOf(r))
	}
	return r.Method == http.MethodGet && r.Header.Get("Upgrade") == ""
}
