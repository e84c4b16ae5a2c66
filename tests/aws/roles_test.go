package aws

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
	"github.com/turnleaf/turnleaf/tests/template/cfn"
	"github.com/turnleaf/turnleaf/tests/template/roles"
)

// compare: a function's role allows, table by table, exactly what the function was seen to do. tests/template compares, from the code
// itself, which calls a function can make at all.
func compare(t *testing.T, rec *roles.Recorder) {
	t.Helper()
	template, err := cfn.Read("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range rec.Lost() {
		t.Errorf("recorded, but not understood: %s", call)
	}
	for _, f := range roles.Functions() {
		allowed, err := roles.Allowed(template, f, "dynamodb", "s3")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range roles.Difference(allowed, rec.Seen(f)) {
			t.Errorf("%s %s", f, line)
		}
	}
}

// readAll asks the API for everything that it can show, of a stream with a held event that a story left behind.
func readAll(t *testing.T, store reviewapi.Reader, archive func(prefix string) handoff.Archive) {
	t.Helper()
	state, _ := store.(handoff.State)
	streams, err := store.Streams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		held, _, err := store.HeldReceipts(t.Context(), s.Stream, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		prefix := strings.Replace(string(s.Stream), "TestWalkthroughs-stories-", "TestWalkthroughs/stories/", 1) + "/"
		engine := handoff.New(handoff.Deps{State: state, Archive: archive(prefix), Queue: unsent{}, Clock: now{}, IDs: sameID{}, Timing: handoff.DefaultTiming()})
		if len(held) == 0 || readable(t, engine, held[0]) != nil {
			continue
		}
		api := reviewapi.New(reviewapi.Config{Engine: engine, State: store, Actor: func(*http.Request) (string, error) { return "ada", nil }})
		for _, path := range getters(t, api) {
			path = strings.NewReplacer("{stream}", url.PathEscape(string(s.Stream)), "{event}", url.PathEscape(held[0].EventID)).Replace(path)
			if status, body := get(t, api, path); status != http.StatusOK {
				t.Errorf("GET %s: %d %s", path, status, body)
			}
		}
		return
	}
	t.Fatal("no story left an event held whose payload is in the archive")
}

func readable(t *testing.T, e *handoff.Engine, r handoff.Receipt) error {
	_, err := e.EventOf(t.Context(), r)
	return err
}

// getters are the paths that the API's own description can be asked for.
func getters(t *testing.T, api http.Handler) (paths []string) {
	t.Helper()
	_, body := get(t, api, "/v1/openapi.json")
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		if _, ok := methods["get"]; ok {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		t.Fatal("the API's description has no path to get")
	}
	return paths
}

func get(t *testing.T, api http.Handler, path string) (int, []byte) {
	t.Helper()
	rec := httptest.NewRecorder()
	api.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return rec.Code, rec.Body.Bytes()
}
