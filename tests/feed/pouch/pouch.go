// Package pouch runs a live pouchdb-server for tests: a third-party event source that serves the CouchDB _changes feed.
package pouch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Server is a running pouchdb-server with one database, orders.
type Server struct {
	Address string // host:port
	client  *http.Client
}

// Start runs the server in memory, on loopback, until the test ends.
func Start(t *testing.T, program string) *Server {
	t.Helper()
	port := freePort(t)
	folder := t.TempDir() // it writes config.json and log.txt where it stands
	cmd := exec.Command("node", program, "--in-memory", "--host", "127.0.0.1", "--port", strconv.Itoa(port),
		"--no-stdout-logs", "--no-color", "--config", filepath.Join(folder, "config.json"))
	cmd.Dir = folder
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails only if it has ended
		_ = cmd.Wait()
	})
	s := &Server{Address: "127.0.0.1:" + strconv.Itoa(port), client: &http.Client{Timeout: time.Minute}}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, err := s.Try(http.MethodGet, "", nil)
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("pouchdb-server does not answer: %v", err)
		}
	}
	refusesOthers(t, port)
	s.Do(t, http.MethodPut, "/orders", nil)
	return s
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // free again for the server
	return l.Addr().(*net.TCPAddr).Port
}

// refusesOthers requires that the port is open on loopback alone.
func refusesOthers(t *testing.T, port int) {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip, _, err := net.ParseCIDR(a.String())
		if err != nil || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			continue
		}
		if c, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), strconv.Itoa(port)), time.Second); err == nil {
			_ = c.Close()
			t.Fatalf("the server listens on %s, beyond loopback", ip)
		}
	}
}

// Do makes a request that must succeed.
func (s *Server) Do(t *testing.T, method, path string, body any) []byte {
	t.Helper()
	answer, err := s.Try(method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Try makes a request.
func (s *Server) Try(method, path string, body any) ([]byte, error) {
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequest(method, "http://"+s.Address+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %.200s", method, path, res.Status, answer)
	}
	return answer, err
}

// Documents gives the server's own documents by id, without their ids.
func (s *Server) Documents(t *testing.T) map[string]map[string]any {
	t.Helper()
	var all struct {
		Rows []struct {
			ID  string         `json:"id"`
			Doc map[string]any `json:"doc"`
		} `json:"rows"`
	}
	Decode(t, s.Do(t, http.MethodGet, "/orders/_all_docs?include_docs=true", nil), &all)
	docs := map[string]map[string]any{}
	for _, row := range all.Rows {
		row.Doc["rev"] = row.Doc["_rev"]
		delete(row.Doc, "_id")
		delete(row.Doc, "_rev")
		docs[row.ID] = row.Doc
	}
	return docs
}

// Decode keeps numbers digit for digit.
func Decode(t *testing.T, b []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("decode %.200s: %v", b, err)
	}
}
