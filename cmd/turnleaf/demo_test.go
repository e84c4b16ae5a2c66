package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/demo"
)

func TestDemoIsBlockedResolvedAndReadToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.once(exitBlocked)
	if !strings.Contains(out, "demo: starts") || !strings.Contains(out, "event evt-0137 is held, so page 9 cannot turn") || strings.Contains(out, "\x1b") {
		t.Errorf("first run:\n%s", out)
	}
	if s := w.standing(); s.Version != 9 || s.Blocked == nil || s.Blocked.By != "hold: policy" || s.Blocked.Event.EventID != `"evt-0137"` {
		t.Errorf("after the first run: %+v", s)
	}
	if out := w.must(exitDone, "show", "demo", "evt-0137"); !strings.Contains(out, `"amount": -125000`) {
		t.Errorf("the payload is not shown:\n%s", out)
	}
	w.pasted(out, "release")
	out = w.once(exitBlocked)
	if !strings.Contains(out, "demo: continues at page 9") || !strings.Contains(out, "invalid_event") {
		t.Errorf("second run:\n%s", out)
	}
	w.pasted(out, "ignore")
	out = w.once(exitBlocked)
	if !strings.Contains(out, "event evt-0251 is held") {
		t.Errorf("third run:\n%s", out)
	}
	w.pasted(out, "release")
	w.once(exitDone)
	if out := w.must(exitDone, "audit", "--deep"); !strings.Contains(out, "demo: every invariant holds") {
		t.Errorf("check: %s", out)
	}
	if got := strings.Count(w.must(exitDone, "audit-log", "demo", "--json"), `"actor":"ada"`); got != 3 {
		t.Errorf("%d decisions by ada on record, want 3", got)
	}
	w.must(exitConflict, "resolve", "demo", "evt-0137", "--as", "ignore", "--reason", "too late")
	compareDocs(w)
}

// compareDocs holds the projection against a second, simple model of the feed: add up what is neither ping, test nor nameless.
func compareDocs(w world) {
	w.Helper()
	type doc struct {
		Entity string
		Fields map[string]json.RawMessage
	}
	got, last := map[string]int{}, 0
	for line := range strings.Lines(w.must(exitDone, "docs", "demo")) {
		var d doc
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			w.Fatalf("%s: %v", line, err)
		}
		var n int
		field := "balance"
		if strings.Contains(d.Entity, "totals") {
			field = "amount"
			if err := json.Unmarshal(d.Fields["movements"], &last); err != nil {
				w.Fatal(err)
			}
		}
		if err := json.Unmarshal(d.Fields[field], &n); err != nil {
			w.Fatalf("%s of %s: %v", field, d.Entity, err)
		}
		got[strings.Trim(d.Entity, `"`)] = n
	}
	saved, err := demo.Load(w.folder().Demo(), 0, time.Time{})
	if err != nil {
		w.Fatal(err)
	}
	want, applied := map[string]int{}, 0
	for k := 1; applied < last; k++ {
		var e struct {
			ID, Type, Account string
			Amount            int
		}
		if err := json.Unmarshal(saved.Feed().Record(k), &e); err != nil {
			w.Fatal(err)
		}
		if e.ID != "" && e.Type != "ping" && e.Type != "test" {
			want[e.Account] += e.Amount
			want["totals"] += e.Amount
			applied++
		}
	}
	if last < 270 || len(got) != len(want) {
		w.Errorf("%d movements in %d documents, want at least 270 in %d", last, len(got), len(want))
	}
	for entity, n := range want {
		if got[entity] != n {
			w.Errorf("%s: %d, want %d", entity, got[entity], n)
		}
	}
}

func TestOneProcessHoldsTheFolderAndServesTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start("--demo-delay", "0s")
	code, _, errs := w.run("local", "--demo", "--once")
	if code != exitFailed || !strings.Contains(errs, "another turnleaf works on this data folder") {
		t.Errorf("a second process: code %d, %s", code, errs)
	}
	w.until("it tells of the hold", p.out.has("event evt-0137 is held, so page 9 cannot turn"))
	if s := w.standing(); s.Version != 9 || s.Blocked == nil || s.Blocked.By != "hold: policy" {
		t.Errorf("while it is blocked: %+v", s)
	}
	w.pasted(p.out.String(), "release")
	w.until("it tells that the cursor moved on", p.out.has("event evt-0137 is applied"))
	w.until("it tells of the next hold", p.out.has("hold: invalid_event"))
	guard(t, p.api.Token, "http://"+p.api.Address+"/v1/streams/demo")
	saved, err := demo.Load(w.folder().Demo(), 0, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(w.folder().Demo(), "token"))
	if err != nil {
		t.Fatal(err)
	}
	guard(t, string(token), "http://"+saved.Address+"/events")
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v\n%s", err, p.out)
	}
	for _, want := range []string{"the cursor moved on", "Stopped at: demo  page 12", "The next run continues there."} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, p.out)
		}
	}
	if _, err := w.folder().ReadAPI(); err == nil {
		t.Error("api.json outlived a clean exit")
	}
}

// guard asks a listener as strangers would.
func guard(t *testing.T, token, url string) {
	t.Helper()
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		ok     bool
	}{
		{"the owner", func(*http.Request) {}, true},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, false},
		{"a wrong token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.Repeat("A", 26)) }, false},
		{"a foreign Host", func(r *http.Request) { r.Host = "evil.example:80" }, false},
		{"a foreign Origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		c.change(r)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if ok := resp.StatusCode == http.StatusOK; ok != c.ok {
			t.Errorf("%s of %s: status %d", c.name, url, resp.StatusCode)
		}
	}
}

func TestKillInTheMiddleAndContinue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for page := 3; page <= 7; page += 2 {
		p := w.start("--demo-delay", "20ms")
		w.until("some pages are turned", func() bool { return w.standing().Version >= page })
		if err := p.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = p.Wait()
	}
	out := w.once(exitBlocked)
	if !strings.Contains(out, "demo: continues at page") || !strings.Contains(out, "event evt-0137 is held") {
		t.Errorf("after the kills:\n%s", out)
	}
	w.must(exitDone, "check", "demo")
	w.pasted(out, "release")
	w.pasted(w.once(exitBlocked), "ignore")
	w.pasted(w.once(exitBlocked), "release")
	w.once(exitDone)
	compareDocs(w) // each event counted once, as often as the process died
}

func TestNothingToLookAtYet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code, _, errs := w.run("show", "demo")
	if code != exitFailed || !strings.Contains(errs, "no data yet in .turnleaf") {
		t.Errorf("code %d: %s", code, errs)
	}
	if out := w.must(exitDone, "streams"); !strings.Contains(out, "No streams") {
		t.Errorf("streams: %s", out)
	}
	if _, err := os.Stat(string(w.folder())); err == nil {
		t.Error("looking made a data folder")
	}
}
