package httpsource

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	endpoint := mustURL(t, "https://api.example.com/v1/events?limit=2")
	for ref, want := range map[string]string{
		"https://api.example.com/other?after=a%3D&before=": "https://api.example.com/other?after=a%3D&before=",
		"HTTPS://API.example.com:443/x":                    "HTTPS://API.example.com:443/x",
		"/v2/events?p=%2B+":                                "https://api.example.com/v2/events?p=%2B+",
		"?p=a,b;c&d=":                                      "https://api.example.com/v1/events?p=a,b;c&d=",
		"more":                                             "https://api.example.com/v1/more",
		"//api.example.com/x":                              "https://api.example.com/x",
	} {
		if got, err := resolve(endpoint, endpoint, ref); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", ref, got, err, want)
		}
	}
	for _, ref := range []string{
		"http://api.example.com/v1/events", "http://api.example.com:443/", "https://api.example.com:8443/", "https://api.example.com.evil.example/",
		"https://evil.example/api.example.com", "//evil.example/", "https://user:pw@api.example.com/", "https://api.example.com@evil.example/",
		"https://169.254.169.254/", "file:///etc/passwd", "javascript:1", "https:api.example.com", "https://api.example.com./", `https:\\evil.example\`, "https://[::1", "\x00",
	} {
		if got, err := resolve(endpoint, endpoint, ref); err == nil {
			t.Errorf("%q was taken as %s", ref, got)
		} else if strings.Contains(err.Error(), "evil") {
			t.Errorf("the error shows the URL: %v", err)
		}
	}
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for raw, private := range map[string]bool{
		"http://api.example.com/": false, "ftp://api.example.com/": true, "https:///x": true, "https://u:p@api.example.com/": true,
		"api.example.com": true, "https://a b/": true,
	} {
		if _, err := parseEndpoint(raw, private); !errors.Is(err, handoff.ErrConfig) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if _, err := parseEndpoint("http://127.0.0.1:1/", true); err != nil {
		t.Error(err)
	}
}

func TestGuardAddress(t *testing.T) {
	t.Parallel()
	never := []string{
		"0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.0.1", "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "240.0.0.1",
		"::", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "fd00:ec2::254", "100.100.100.200", "::ffff:169.254.169.254",
		"64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "2001:0:1::1", "::169.254.169.254",
	}
	private := []string{
		"127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255", "::1", "fc00::1",
		"fd12::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:0a00:1::1", "198.18.0.1",
	}
	public := []string{"8.8.8.8", "172.32.0.1", "100.63.255.255", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "11.0.0.1"}
	for _, a := range never {
		for _, allowed := range []bool{false, true} {
			if err := guardAddress(netip.MustParseAddr(a), allowed); !errors.Is(err, handoff.ErrConfig) {
				t.Errorf("%s with allow_private %v: %v", a, allowed, err)
			}
		}
	}
	for _, a := range private {
		if err := guardAddress(netip.MustParseAddr(a), false); !errors.Is(err, handoff.ErrConfig) {
			t.Errorf("%s: %v", a, err)
		}
		if err := guardAddress(netip.MustParseAddr(a), true); err != nil {
			t.Errorf("%s with allow_private: %v", a, err)
		}
	}
	for _, a := range public {
		if err := guardAddress(netip.MustParseAddr(a), false); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
}

// The guard stands at the connection, so a public name that resolves to a private address is refused, and nothing arrives.
func TestDialIsGuarded(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ConnState = func(net.Conn, http.ConnState) { connections.Add(1) }
	srv.StartTLS()
	defer srv.Close()
	def := trapDefinition()
	def.Source.URL = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	s := mustSource(t, def, Options{})
	_, err := s.Ask(context.Background(), t0, fetchedAt)
	if !errors.Is(err, handoff.ErrConfig) || connections.Load() != 0 {
		t.Errorf("%v, and %d connections", err, connections.Load())
	}
}

// A proxy in the environment would see the credentials.
func TestNoProxy(t *testing.T) {
	t.Parallel()
	if newTransport(false).Proxy != nil {
		t.Error("the transport takes a proxy")
	}
}

func TestStoredURLOffTheOriginIsNeverAsked(t *testing.T) {
	t.Parallel()
	asked := 0
	def := trapDefinition()
	def.Source.Cursor = streamdef.Cursor{Link: "next"}
	s := mustSource(t, def, Options{Transport: transportFunc(func(*http.Request) (*http.Response, error) { asked++; return response(200, "{}"), nil })})
	for _, c := range []handoff.Cursor{`{"p":"https://evil.example/","pt":"u"}`, `{"at":"token","v":"https://evil.example/"}`} {
		if _, err := s.Ask(context.Background(), c, fetchedAt); !errors.Is(err, handoff.ErrConfig) || asked != 0 {
			t.Errorf("%s: %v, asked %d times", c, err, asked)
		}
	}
}
