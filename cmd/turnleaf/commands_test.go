package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

func TestShowSaysFirstWhatBlocks(t *testing.T) {
	t.Parallel()
	code, out, _ := call(newFake(), "show", "demo", "--exit-code")
	first, rest, _ := strings.Cut(out, "\n")
	if code != exitBlocked || !strings.HasPrefix(first, "demo is blocked by hold: policy of event evt-0137, since ") || !strings.HasSuffix(first, "(1m0s)") {
		t.Errorf("code %d, first line %q", code, first)
	}
	if !strings.Contains(rest, "bin/turnleaf resolve demo evt-0137 --as release --reason checked\n") {
		t.Errorf("no command that decides:\n%s", rest)
	}
	if code, _, _ := call(newFake(), "show", "demo"); code != exitDone {
		t.Errorf("without --exit-code: %d", code)
	}
}

// The list says what is blocked and since when before anything else of a stream, in the order of the API; what could not be read is a
// line like the others, and so is what no definition names any more.
func TestStreamsSayFirstWhatBlocks(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.lines = []reviewapi.StreamLine{
		{Stream: "torn", Error: "it could not be read: ask again"},
		{Stream: "demo", Blocked: &handoff.Blocked{By: "hold: late", Since: noon}, Status: handoff.Active, Version: 7, Held: 3},
		{Stream: "calm", Status: handoff.Active, Version: 2, OrphanedAt: noon}, {Stream: "old", Status: handoff.Active, RetiredAt: noon},
	}
	code, out, _ := call(f, "streams")
	var rows [][]string
	for line := range strings.Lines(out) {
		rows = append(rows, regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(line), -1))
	}
	want := [][]string{
		{"STREAM", "BLOCKED BY", "SINCE", "STATUS", "PAGE", "HELD"}, {"torn", "it could not be read: ask again", "?", "unreadable", "0"},
		{"demo", "hold: late", "1m0s", "active", "7", "3"}, {"calm", "-", "-", "orphaned", "2", "0"}, {"old", "-", "-", "retired", "0"},
	}
	if code != exitDone || fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("code %d\ngot  %q\nwant %q", code, rows, want)
	}
	if _, out, _ = call(f, "streams", "--json"); !strings.Contains(out, `"error":"it could not be read: ask again"`) {
		t.Error(out)
	}
}

func TestShowEventKeepsDigitsAndDisarmsThePayload(t *testing.T) {
	t.Parallel()
	code, out, _ := call(newFake(), "show", "demo", "evt-0137")
	if code != exitDone || !strings.Contains(out, "-12500000000000000001") || !strings.Contains(out, "demo: event evt-0137 is held") {
		t.Errorf("code %d:\n%s", code, out)
	}
	disarmed(t, out)
	_, out, _ = call(newFake(), "show", "demo", "evt-0137", "--json")
	var v struct {
		Receipt struct {
			EventID string `json:"event_id"`
		} `json:"receipt"`
		Raw string `json:"raw"`
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Receipt.EventID != `"evt-0137"` || !strings.Contains(v.Raw, "-12500000000000000001") {
		t.Errorf("JSON %s: %v", out, err)
	}
	disarmed(t, out)
}

func disarmed(t *testing.T, out string) {
	t.Helper()
	for _, r := range out {
		if r != '\n' && (r < ' ' || (r >= 0x7f && r < 0xa0) || r == 0x202e) {
			t.Errorf("%U reached the terminal:\n%q", r, out)
		}
	}
}

func TestEventWordsAreNeverGuessed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		code int
		want string // the id decided about, or part of the message
	}{
		{"a word is text", []string{"evt-0137"}, exitDone, `"evt-0137"`},
		{"so is its JSON", []string{`"evt-0137"`}, exitDone, `"evt-0137"`},
		{"a number, if only the number exists", []string{"8"}, exitDone, `8`},
		{"both exist", []string{"7"}, exitUsage, `has both "7" and 7`},
		{"exactly the number", []string{"7", "--exact"}, exitDone, `7`},
		{"exactly the text", []string{`"7"`}, exitDone, `"7"`},
		{"the beginning of a long name", []string{"!3fa"}, exitDone, "!3fa900aa"},
		{"the beginning of two", []string{"!3f"}, exitUsage, "has both !3fa900aa and !3fb900aa"},
		{"nobody", []string{"evt-9"}, exitFailed, "no receipt of event evt-9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.answer = handoff.DecisionAnswer{Outcome: handoff.Ignored}
			args := append([]string{"resolve", "demo"}, c.args...)
			code, out, errs := call(f, append(args, "--as", "ignore", "--reason", "test")...)
			if code != c.code {
				t.Fatalf("code %d, want %d: %s%s", code, c.code, out, errs)
			}
			if c.code != exitDone {
				if !strings.Contains(errs, c.want) || len(f.decisions) > 0 {
					t.Errorf("message %q, %d decisions", errs, len(f.decisions))
				}
				return
			}
			if d := f.decisions[0]; d.Event.EventID != c.want || d.Rev != 3 || d.Actor != "ada" || d.Kind != handoff.DecideIgnore || d.ID == "" {
				t.Errorf("decided %+v", d)
			}
		})
	}
}

func TestDecisionsCarryWhatWasSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		kind handoff.DecisionKind
		rev  uint64
	}{
		{[]string{"pause", "demo", "--reason", "x"}, handoff.DecidePause, 0},
		{[]string{"poll", "demo"}, handoff.DecidePollNow, 0},
		{[]string{"resume", "demo", "--reason", "x"}, handoff.DecideResume, 21},
		{[]string{"resume", "demo", "--reason", "x", "--rev", "4"}, handoff.DecideResume, 4},
		{[]string{"lost", "demo", "--page", "9", "--reason", "x"}, handoff.DecideLost, 21},
		{[]string{"reset", "demo", "--to", "beginning", "--reason", "x", "--yes"}, handoff.DecideReset, 21},
	} {
		f := newFake()
		code, out, errs := call(f, append(c.args, "--actor", "grace")...)
		if code != exitDone || len(f.decisions) != 1 {
			t.Errorf("%v: code %d, %d decisions: %s%s", c.args, code, len(f.decisions), out, errs)
			continue
		}
		if d := f.decisions[0]; d.Kind != c.kind || d.Rev != c.rev || d.Actor != "grace" || d.Stream != "demo" {
			t.Errorf("%v decided %+v", c.args, d)
		}
	}
}

func TestResetOnlyTellsUntilItIsSure(t *testing.T) {
	t.Parallel()
	f := newFake()
	code, out, _ := call(f, "reset", "demo", "--to", "token:a b", "--reason", "it's time")
	want := `bin/turnleaf reset demo --to 'token:a b' --reason 'it'\''s time' --rev 21 --yes`
	if code != exitDone || len(f.decisions) != 0 || !strings.Contains(out, want) || !strings.Contains(out, "page 9 is open with 18 events, 6 of them held") {
		t.Errorf("code %d, %d decisions:\n%s", code, len(f.decisions), out)
	}
}

func TestAcceptNamesTheAnswerOfTheHalt(t *testing.T) {
	t.Parallel()
	f := newFake()
	if code, _, errs := call(f, "accept", "demo", "--reason", "x"); code != exitConflict || len(f.decisions) != 0 {
		t.Errorf("no halt: code %d, %s", code, errs)
	}
	st := f.status["demo"]
	st.Checkpoint.Halt = &handoff.Halt{Reason: handoff.HaltGap, Answer: handoff.ObjectRef{Key: "raw/x", Digest: "d1"}}
	f.status["demo"] = st
	st.Status, st.Blocked = handoff.Halted, &handoff.Blocked{By: "halt: gap", Since: noon}
	f.status["demo"] = st
	if _, out, _ := call(f, "show", "demo"); !strings.Contains(out, "bin/turnleaf accept demo --reason checked") {
		t.Errorf("show does not say how to accept:\n%s", out)
	}
	if code, _, errs := call(f, "accept", "demo", "--reason", "x"); code != exitDone || f.decisions[0].Check != handoff.HaltGap || f.decisions[0].Answer != "d1" {
		t.Errorf("code %d, %s, %+v", code, errs, f.decisions)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	resolve := []string{"resolve", "demo", "evt-0137", "--as", "release", "--reason", "x"}
	for _, c := range []struct {
		name string
		err  error
		args []string
		code int
		says string
	}{
		{"refused as invalid", &handoff.InvalidError{Reason: "never"}, resolve, exitUsage, "never"},
		{"conflict", fmt.Errorf("release: %w", &handoff.ConflictError{Reason: "settled by bob"}), resolve, exitConflict, "settled by bob"},
		{"unknown", handoff.ErrUnknown, resolve, exitUnknown, "--id "},
		{"anything else", os.ErrPermission, resolve, exitFailed, "permission"},
		{"unknown word", nil, []string{"resolv"}, exitUsage, "resolve"},
		{"missing reason", nil, []string{"pause", "demo"}, exitUsage, "--reason"},
		{"wrong decision", nil, []string{"resolve", "demo", "e", "--as", "explode", "--reason", "x"}, exitUsage, "quarantine"},
		{"unknown stream", nil, []string{"show", "nope"}, exitFailed, "no stream nope"},
		{"help", nil, []string{"resolve", "--help"}, exitDone, ""},
	} {
		f := newFake()
		f.decideErr = c.err
		code, _, errs := call(f, c.args...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%s: code %d (want %d), stderr %q", c.name, code, c.code, errs)
		}
	}
	f := newFake()
	if code, out, _ := call(f, "check", "demo"); code != exitDone || !strings.Contains(out, "every invariant holds") {
		t.Errorf("clean check: %d %s", code, out)
	}
	f.found = []handoff.Violation{{Invariant: "I1", Version: 4, EventID: `"e"`, Detail: "not terminal"}}
	if code, out, _ := call(f, "check", "demo"); code != exitBlocked || !strings.Contains(out, "I1") {
		t.Errorf("violations: %d %s", code, out)
	}
}

func TestErrorsAreJSONWhereAskedFor(t *testing.T) {
	t.Parallel()
	_, out, errs := call(newFake(), "show", "nope", "--json")
	var e struct {
		Error string
		Exit  int
	}
	if err := json.Unmarshal([]byte(errs), &e); err != nil || e.Exit != exitFailed || e.Error == "" || out != "" {
		t.Errorf("stdout %q, stderr %q: %v", out, errs, err)
	}
}

func TestHeldListsEveryBatch(t *testing.T) {
	t.Parallel()
	_, out, _ := call(newFake(), "held", "demo")
	if got := strings.Count(out, "\n"); got != 7 || !strings.Contains(out, "policy: refund_over_limit  acct-04") {
		t.Errorf("%d lines, want a head and 6:\n%s", got, out)
	}
	_, out, _ = call(newFake(), "held", "--json")
	if got := strings.Count(out, `"event_id"`); got != 6 {
		t.Errorf("%d JSON lines, want 6:\n%s", got, out)
	}
}

func TestEveryCommandHelpsWithAnExample(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"local", "validate", "streams list", "streams start", "streams retire", "held", "show", "resolve", "pause", "resume", "poll",
		"reset", "accept", "lost", "audit-log", "audit", "docs", "schema",
	} {
		code, out, _ := call(newFake(), append(strings.Fields(command), "--help")...)
		if code != exitDone || !strings.Contains(out, "Example: turnleaf "+strings.TrimSuffix(command, " list")) {
			t.Errorf("%s --help: code %d\n%s", command, code, out)
		}
	}
	if _, out, _ := call(newFake(), "--help"); !strings.Contains(out, "Exit codes: 0 done; 1 failed; 2 wrong usage") {
		t.Errorf("the exit codes are not in the help:\n%s", out)
	}
}

func TestValidateSaysWhereAndWhat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, err := os.ReadFile("../../streams/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ok := write("orders.yaml", string(good))
	code, out, errs := call(nil, "validate", ok)
	if code != exitDone || !strings.Contains(out, "stream orders is valid; effect: projection, transactional") {
		t.Errorf("good file: code %d, %s%s", code, out, errs)
	}
	bad := write("bad.yaml", strings.Replace(string(good), "every: 1m ", "every: soon", 1))
	line := 1 + strings.Count(string(good)[:strings.Index(string(good), "every: 1m")], "\n")
	code, out, errs = call(nil, "validate", "--streams", dir)
	want := fmt.Sprintf("%s:%d:8: every: expected a duration such as 90s, 24h or 30d, found \"soon\"", bad, line)
	if code != exitUsage || !strings.Contains(out, want) {
		t.Errorf("bad file: code %d\n%s%s\nwant %s", code, out, errs, want)
	}
	if code, _, _ := call(nil, "validate", filepath.Join(dir, "absent.yaml")); code != exitUsage {
		t.Errorf("absent file: code %d", code)
	}
	_, out, _ = call(nil, "validate", bad, "--json")
	var p struct {
		Line, Col      int
		Path, Expected string
	}
	if err := json.Unmarshal([]byte(out), &p); err != nil || p.Line != line || p.Path != "every" {
		t.Errorf("JSON %s: %v", out, err)
	}
}

func TestSchemaAndVersionAreJSON(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"schema"}, {"version", "--json"}} {
		if code, out, _ := call(nil, args...); code != exitDone || !json.Valid([]byte(out)) {
			t.Errorf("%v: code %d, %.80s", args, code, out)
		}
	}
}

// A command that a person is told to run says which stack again; a copied hint must not work on another.
func TestHintsNameTheStack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    deployed
		want string
	}{
		{deployed{}, "turnleaf poll orders"},
		{deployed{Stack: "prod"}, "turnleaf poll orders --stack prod"},
		{deployed{StreamsTable: "s", ChunkQueue: "http://q"}, "turnleaf poll orders --streams-table s --chunk-queue http://q"},
	} {
		s := &session{host: host{command: "turnleaf"}, globals: globals{Data: defaultData, deployed: c.d}}
		if got := s.hints().Line("poll", "orders"); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
