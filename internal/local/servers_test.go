package local

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestServersListenOnLoopbackAndTakeAnotherPort(t *testing.T) {
	t.Parallel()
	var s servers
	hello := func(address string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, address) })
	}
	first, err := s.start(t.Context(), "127.0.0.1:0", hello)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.start(t.Context(), first, hello) // taken
	if err != nil || second == first {
		t.Fatalf("second listener at %s, %v; the first is at %s", second, err, first)
	}
	for _, address := range []string{first, second} {
		if !strings.HasPrefix(address, "127.0.0.1:") {
			t.Errorf("listens on %s", address)
		}
		resp, err := http.Get("http://" + address)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != address {
			t.Errorf("the handler at %s was made for %s", address, body)
		}
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", first); err == nil {
		_ = c.Close()
		t.Error("still listening after stop")
	}
}

func TestServersRefuseToLeaveLoopback(t *testing.T) {
	t.Parallel()
	var s servers
	defer func() { _ = s.stop() }()
	if address, err := s.start(t.Context(), "0.0.0.0:0", func(string) http.Handler { return http.NotFoundHandler() }); err == nil {
		t.Errorf("listens on %s, where others can reach it", address)
	}
}
