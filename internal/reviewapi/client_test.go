package reviewapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// Whatever is decided arrives as it was sent, with and without a socket, and so does the answer.
func TestDecisionsArriveWhole(t *testing.T) {
	t.Parallel()
	names := []handoff.Stream{"plain", "orders/eu 1", "a%2Fb", "..", ".", "ü?#&;=+", "a//b/../c"}
	ids := []string{`"1"`, `1`, `"a/b"`, `"?#%2F"`, `".."`, `..`, `.`, `"\u0000\""`, `"🍃"`, `"` + strings.Repeat("é", 1500) + `"`, `!0af3`}
	var sent []handoff.Decision
	for i, id := range ids {
		for j, k := range []handoff.DecisionKind{
			handoff.DecideRelease, handoff.DecideApplied, handoff.DecideIgnore, handoff.DecideQuarantine, handoff.DecideRetryNow,
		} {
			sent = append(sent, handoff.Decision{Stream: names[(i+j)%len(names)], Kind: k, Rev: uint64(i + 1), Event: handoff.ReceiptKey{EventID: id, Conflict: []string{"", "d/&"}[j%2]}})
		}
	}
	for _, name := range names {
		sent = append(sent,
			handoff.Decision{Stream: name, Kind: handoff.DecidePause},
			handoff.Decision{Stream: name, Kind: handoff.DecideResume, Rev: 1<<63 + 1},
			handoff.Decision{Stream: name, Kind: handoff.DecidePollNow},
			handoff.Decision{Stream: name, Kind: handoff.DecideReset, Rev: 3, Cursor: "\x00<&>\"\u2028 ?"},
			handoff.Decision{Stream: name, Kind: handoff.DecideAccept, Rev: 3, Check: handoff.HaltGap, Answer: "d"},
			handoff.Decision{Stream: name, Kind: handoff.DecideLost, Rev: 3, Version: 12},
			handoff.Decision{Stream: name, Kind: handoff.DecideStart, Cursor: "c", Definition: "orders"},
			handoff.Decision{Stream: name, Kind: handoff.DecideRetire},
		)
	}
	f := &fake{answer: handoff.DecisionAnswer{Outcome: handoff.Released, Version: 1<<63 + 7, Rev: 9}}
	for name, c := range clients(t, f.serve(t)) {
		for i, d := range sent {
			d.ID, d.Actor, d.Reason = fmt.Sprint("id/", i), "Ada Lövelace", "because\n<b>"
			f.decided = nil
			got, err := c.Decide(t.Context(), d)
			want := f.answer
			want.Decision = d.ID
			if err != nil || got != want {
				t.Errorf("%s: %s %.30s: %+v, %v", name, d.Kind, d.Event.EventID, got, err)
			}
			if len(f.decided) != 1 || !reflect.DeepEqual(f.decided[0], d) {
				t.Errorf("%s: sent %.300v, arrived %.300v", name, d, f.decided)
			}
		}
	}
}

// Each error comes back as what it was.
func TestErrorsComeBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 3, 1, 9, 30, 0, 0, time.UTC)
	conflict := &handoff.ConflictError{
		Reason:  "it is ignored by ada",
		Receipt: &handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: "1"}, Outcome: handoff.Ignored, By: "ada", WrittenAt: at, Rev: 4},
		Checkpoint: &handoff.Checkpoint{Version: 7, Rev: 9, Closing: 6, Paused: true, ResumeCursor: "secret-cursor",
			Halt: &handoff.Halt{Reason: handoff.HaltGap, Detail: "d", At: at}},
	}
	f := &fake{}
	for name, c := range clients(t, f.serve(t)) {
		ask := func(err error) error {
			f.err = err
			_, got := c.Decide(t.Context(), handoff.Decision{ID: "x", Stream: "s", Kind: handoff.DecidePause, Actor: "ada", Reason: "r"})
			return got
		}
		var back *handoff.ConflictError
		if err := ask(fmt.Errorf("pause s: %w", conflict)); !errors.As(err, &back) || !errors.Is(err, handoff.ErrRefused) {
			t.Fatalf("%s: a conflict: %v", name, err)
		}
		if back.Reason != conflict.Reason || !reflect.DeepEqual(back.Receipt, conflict.Receipt) {
			t.Errorf("%s: who decided what and when: %+v", name, back)
		}
		if cp := back.Checkpoint; cp == nil || cp.Version != 7 || cp.Rev != 9 || cp.Closing != 6 || cp.Status() != handoff.Paused || cp.Halt.Reason != handoff.HaltGap ||
			cp.ResumeCursor != "" {
			t.Errorf("%s: where the stream stands: %+v", name, back.Checkpoint)
		}
		var bad *handoff.InvalidError
		if err := ask(fmt.Errorf("pause s: %w", &handoff.InvalidError{Reason: "no"})); !errors.As(err, &bad) || bad.Reason != "no" {
			t.Errorf("%s: an invalid one: %v", name, err)
		}
		if err := ask(fmt.Errorf("bucket-7: %w", handoff.ErrNotFound)); !errors.Is(err, handoff.ErrNotFound) || strings.Contains(err.Error(), "bucket") {
			t.Errorf("%s: what is not there: %v", name, err)
		}
		if err := ask(errors.New("table-7 is on fire")); !errors.Is(err, handoff.ErrUnknown) || strings.Contains(err.Error(), "table") {
			t.Errorf("%s: anything else: %v", name, err)
		}
	}
}

// What no header or body carries unchanged is not sent; it would arrive as something else.
func TestWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	f := &fake{}
	for name, c := range clients(t, f.serve(t)) {
		for _, d := range []handoff.Decision{
			{ID: "x", Actor: "ada\nforged line", Reason: "r"}, {ID: "x\r\nX: y", Actor: "ada", Reason: "r"}, {ID: "x", Actor: "\xff", Reason: "r"},
			{ID: "x", Actor: "ada", Reason: "\xff"}, {ID: "x", Actor: "ada", Reason: "r", Cursor: "\xff"},
		} {
			d.Stream, d.Kind = "s", handoff.DecidePause
			var bad *handoff.InvalidError
			if _, err := c.Decide(t.Context(), d); !errors.As(err, &bad) {
				t.Errorf("%s: %+v: %v", name, d, err)
			}
		}
		var bad *handoff.InvalidError
		_, err := c.Decide(t.Context(), handoff.Decision{ID: "x", Actor: "  ", Stream: "s", Kind: handoff.DecidePause, Reason: "r"})
		if err == nil || errors.As(err, &bad) {
			t.Errorf("%s: nobody: %v", name, err)
		}
		for _, s := range []handoff.Stream{"", "nobody/"} {
			f.err = handoff.ErrNotFound
			if _, err := c.Status(t.Context(), s); !errors.Is(err, handoff.ErrNotFound) {
				t.Errorf("%s: stream %q: %v", name, s, err)
			}
			f.err = nil
		}
		if _, err := c.Event(t.Context(), "s", handoff.ReceiptKey{}); !errors.Is(err, handoff.ErrNotFound) {
			t.Errorf("%s: no event: %v", name, err)
		}
	}
	if len(f.decided) != 0 {
		t.Errorf("decided: %+v", f.decided)
	}
}

// An answer that is not the API's, or breaks off, may have come after the deed.
func TestForeignAnswersAreUnknown(t *testing.T) {
	t.Parallel()
	for _, h := range []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>welcome") },
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"decision":"x"`) },
		func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			w.WriteHeader(http.StatusOK) // too late: the first counts
			_ = json.NewEncoder(w).Encode(handoff.DecisionAnswer{Decision: "x"})
		},
	} {
		c := &reviewapi.Client{Base: "http://in.process", HTTP: reviewapi.InProcess(h)}
		_, err := c.Decide(t.Context(), handoff.Decision{ID: "x", Stream: "s", Kind: handoff.DecidePause, Actor: "ada", Reason: "r"})
		if !errors.Is(err, handoff.ErrUnknown) {
			t.Errorf("%v, want an unknown outcome", err)
		}
	}
	silent := reviewapi.InProcess(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	resp, err := silent.RoundTrip(httptest.NewRequestWithContext(t.Context(), "GET", "http://in.process/", nil))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("who writes nothing has answered 200: %v, %v", resp, err)
	}
	server := httptest.NewServer(nil)
	server.Close()
	c := &reviewapi.Client{Base: server.URL, HTTP: http.DefaultTransport}
	if _, err := c.Streams(t.Context()); !errors.Is(err, handoff.ErrUnknown) {
		t.Errorf("nobody listens: %v", err)
	}
}
