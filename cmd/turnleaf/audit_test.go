package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
)

// fakeAuditor finds what a test says, and tells progress for ten seconds.
type fakeAuditor struct {
	found []handoff.Finding
	err   error
	opt   handoff.AuditOptions
	clock *time.Time
}

func (f *fakeAuditor) Audit(_ context.Context, s handoff.Stream, opt handoff.AuditOptions, tell func(handoff.Finding) error) (handoff.AuditSummary, error) {
	f.opt = opt
	sum := handoff.AuditSummary{Stream: s, Version: 9, Pages: 8, Events: 1}
	for n := range 20 {
		*f.clock = f.clock.Add(500 * time.Millisecond)
		if opt.Progress != nil {
			opt.Progress(handoff.AuditProgress{Stage: "pages", Pages: n, Versions: 20, Receipts: 7 * n})
		}
	}
	for _, found := range f.found {
		switch found.Level {
		case handoff.Broken:
			sum.Broken++
		case handoff.Unread:
			sum.Unread++
		case handoff.Changed:
			sum.Changed++
		case handoff.Leftover:
			sum.Leftover++
		}
		if err := tell(found); err != nil {
			return sum, err
		}
	}
	return sum, f.err
}

// audit runs the command on a fake; columns is the width of standard error, 0 if that is no terminal.
func audit(f *fakeAuditor, columns int, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	clock := noon
	f.clock = &clock
	h := host{
		command: "bin/turnleaf", stdout: &out, stderr: &errs, now: func() time.Time { return clock }, getenv: func(string) string { return "" },
		lookupEnv: func(string) (string, bool) { return "", false }, username: func() string { return "ada" }, operator: newFake(), auditor: f,
	}
	if columns > 0 {
		h.progress = local.Terminal{Width: func() int { return columns }}
	}
	code = run(context.Background(), append([]string{"audit"}, args...), h)
	return code, out.String(), errs.String()
}

// one is a finding whose texts are hostile.
func one(level handoff.Level) handoff.Finding {
	return handoff.Finding{
		Violation: handoff.Violation{Invariant: "I1", Version: 3, EventID: `"evt-7"`, Detail: "held \x1b[2J"}, Level: level, Kind: handoff.FoundUnsettled,
		Stream: "demo", Conflict: "d1g", Promise: "Barrier", Remedy: "do this",
	}
}

func TestAuditSaysWhatItFoundByItsExitCode(t *testing.T) {
	t.Parallel()
	broken, unread, changed, leftover := one(handoff.Broken), one(handoff.Unread), one(handoff.Changed), one(handoff.Leftover)
	for _, c := range []struct {
		name  string
		found []handoff.Finding
		err   error
		code  int
		says  string
	}{
		{"nothing", nil, nil, exitDone, "every invariant holds"},
		{"what nobody needs", []handoff.Finding{leftover}, nil, exitDone, "left over at page 3"},
		{"a broken promise", []handoff.Finding{broken}, nil, exitBlocked, "I1 broken at page 3, event evt-7"},
		{"a broken promise among others", []handoff.Finding{changed, unread, broken}, nil, exitBlocked, "1 broken promise"},
		{"what could not be read", []handoff.Finding{changed, unread}, nil, exitFailed, "not readable at page 3"},
		{"what kept changing", []handoff.Finding{changed}, nil, exitConflict, "I1 changed while looked at at page 3"},
		{"a store that is down", nil, errors.New("no tables"), exitFailed, ""},
		{"a store that went down after a finding", []handoff.Finding{broken}, errors.New("no tables"), exitBlocked, "I1 broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := audit(&fakeAuditor{found: c.found, err: c.err}, 0, "demo")
			if code != c.code || !strings.Contains(out, c.says) {
				t.Errorf("code %d, want %d\n%s%s", code, c.code, out, errs)
			}
			if c.err != nil && !strings.Contains(errs, c.err.Error()) {
				t.Errorf("the error is not told: %s", errs)
			}
			disarmed(t, out)
		})
	}
}

func TestAuditNamesPageEventReceiptPromiseAndRemedy(t *testing.T) {
	t.Parallel()
	_, out, _ := audit(&fakeAuditor{found: []handoff.Finding{one(handoff.Broken)}}, 0, "demo")
	want := "demo: I1 broken at page 3, event evt-7, receipt of its second content d1g: held \\x1b[2J\n  promise: Barrier\n  to do: do this\n" +
		"demo: 1 broken promise (at version 9; 8 pages, 1 event, 0 receipts, 0 holds, 0 decisions, 0 documents looked at)\n"
	if out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

// Findings come one a line, as they are found; the summary last.
func TestAuditAsJSON(t *testing.T) {
	t.Parallel()
	code, out, _ := audit(&fakeAuditor{found: []handoff.Finding{one(handoff.Broken), one(handoff.Leftover)}}, 0, "demo", "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitBlocked || len(lines) != 3 {
		t.Fatalf("code %d:\n%s", code, out)
	}
	var f handoff.Finding
	if err := json.Unmarshal([]byte(lines[0]), &f); err != nil || f != one(handoff.Broken) {
		t.Errorf("%s: %v", lines[0], err)
	}
	var end struct {
		Stream  string               `json:"stream"`
		Summary handoff.AuditSummary `json:"summary"`
	}
	if err := json.Unmarshal([]byte(lines[2]), &end); err != nil || end.Stream != "demo" || end.Summary.Broken != 1 || end.Summary.Pages != 8 {
		t.Errorf("%s: %v", lines[2], err)
	}
}

func TestAuditTellsProgressOnceASecond(t *testing.T) {
	t.Parallel()
	if _, _, errs := audit(&fakeAuditor{}, 0, "demo"); errs != "" {
		t.Errorf("nobody asked, and it is no terminal: %q", errs)
	}
	_, _, errs := audit(&fakeAuditor{}, 0, "demo", "--progress")
	if got := strings.Count(errs, "\n"); got != 10 || !strings.HasPrefix(errs, "demo: pages: 1 of 20 pages, 7 receipts\n") {
		t.Errorf("%d lines in ten seconds:\n%s", got, errs)
	}
	_, out, errs := audit(&fakeAuditor{}, 20, "demo")
	if !strings.HasPrefix(errs, "demo: pages: 1 of 2\r\x1b[Kdemo: pages: 3 of 2\r") || !strings.HasSuffix(errs, "\r\x1b[K") || strings.Contains(errs, "\n") {
		t.Errorf("on a terminal of 20 columns: %q", errs)
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("on standard output: %q", out)
	}
}

func TestAuditIsLimitedAndDeepened(t *testing.T) {
	t.Parallel()
	f := &fakeAuditor{}
	if code, _, errs := audit(f, 0, "demo", "--from", "4", "--last", "2"); code != exitDone || f.opt.From != 4 || f.opt.Last != 2 || f.opt.Deep {
		t.Errorf("code %d, %+v: %s", code, f.opt, errs)
	}
	if code, _, errs := audit(f, 0, "demo", "--deep"); code != exitUsage || !strings.Contains(errs, "definition") {
		t.Errorf("deep without a definition: code %d, %s", code, errs)
	}
	if code, _, _ := audit(f, 0, "demo", "--last", "-1"); code != exitUsage {
		t.Errorf("the last -1: code %d", code)
	}
}

// While a process runs on the folder, it is asked: it audits whole, and only so.
func TestAuditAsksTheRunningProcess(t *testing.T) {
	t.Parallel()
	f := newFake()
	if code, out, errs := call(f, "audit", "demo"); code != exitDone || !strings.Contains(out, "demo: every invariant holds\n") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	f.found = []handoff.Violation{{Invariant: "I9", Version: 2, Detail: "gone"}}
	if code, out, _ := call(f, "audit", "demo"); code != exitBlocked || !strings.Contains(out, "I9 broken at page 2: gone\n  promise: Nothing read is lost") {
		t.Errorf("code %d: %s", code, out)
	}
	if code, _, errs := call(f, "audit", "demo", "--last", "3"); code != exitUsage || !strings.Contains(errs, "stop it first") {
		t.Errorf("limited: code %d, %s", code, errs)
	}
}
