package reviewapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// A decision is based on what was seen, repeated safely, and its refusal says who decided what and when.
func TestDecisions(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	path := base() + "/events/17/decisions"
	good := `{"kind":"ignore","reason":"known","rev":1}`
	status, header, first := request(t, h, "POST", path, good, "Idempotency-Key", "once")
	if status != http.StatusOK || header.Get("ETag") != `"2"` {
		t.Fatalf("%d %s %s", status, header.Get("ETag"), first)
	}
	if len(w.sent) != 1 || !w.sent[0].Drive {
		t.Errorf("the decision sent %v, want one hint to drive", w.sent)
	}
	if status, _, again := request(t, h, "POST", path, good, "Idempotency-Key", "once"); status != http.StatusOK || again != first {
		t.Errorf("repeated: %d %s, first %s", status, again, first)
	}
	status, _, body := request(t, h, "POST", path, `{"kind":"quarantine","reason":"late","rev":1}`, "Idempotency-Key", "another")
	var p reviewapi.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || status != http.StatusConflict || p.Type != "conflict" {
		t.Fatalf("%d %s", status, body)
	}
	if p.Decision != "" {
		t.Errorf("a conflict is no unknown outcome, yet names %q to repeat", p.Decision)
	}
	if p.Receipt == nil || p.Receipt.By != "ada" || p.Receipt.Outcome != handoff.Ignored || !strings.Contains(p.Detail, "ignored by ada at 2031-03-01") {
		t.Errorf("the conflict does not say who decided what and when: %s", body)
	}
	if status, _, body := request(t, h, "POST", path, `{"kind":"quarantine","reason":"known","rev":1}`, "Idempotency-Key", "once"); status != http.StatusConflict {
		t.Errorf("another request under one id: %d %s", status, body)
	}
	audits, _, err := w.state.Audits(t.Context(), stream, "", 10)
	if err != nil || len(audits) != 1 || audits[0].Actor != "ada" || audits[0].Reason != "known" {
		t.Errorf("audit %+v, %v", audits, err)
	}
}

// The outcome is unknown: the answer says so, names the id to repeat, and repeating it answers what was done.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	w.fail = fmt.Errorf("%w: secret-host.internal went away", handoff.ErrUnknown)
	status, _, body := request(t, h, "POST", base()+"/events/17/decisions", `{"kind":"ignore","reason":"r","rev":1}`)
	var p reviewapi.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || status != http.StatusServiceUnavailable || p.Type != "unknown" || p.Decision == "" {
		t.Fatalf("%d %s", status, body)
	}
	if strings.Contains(body, "secret-host") {
		t.Errorf("the answer tells about the inside: %s", body)
	}
	if len(w.reported) != 1 || !strings.Contains(w.reported[0].Error(), "secret-host") {
		t.Errorf("the log was told %v", w.reported)
	}
	w.fail = handoff.ErrUnknown
	explained := reviewapi.New(reviewapi.Config{Engine: flaky{w.engine, w}, State: w.state, NewID: w.New, Explain: true})
	if _, _, body := request(t, explained, "POST", base()+"/decisions", `{"kind":"pause","reason":"r"}`); !strings.Contains(body, "(pause ") && !strings.Contains(body, "outcome unknown") {
		t.Errorf("this machine's user is not told why: %s", body)
	}
	status, _, body = request(t, h, "POST", base()+"/events/17/decisions", `{"kind":"ignore","reason":"r","rev":1}`, "Idempotency-Key", p.Decision)
	if status != http.StatusOK || !strings.Contains(body, `"ignored"`) {
		t.Errorf("repeated: %d %s", status, body)
	}
	w.fail = handoff.ErrUnknown
	c := &reviewapi.Client{Base: "http://in.process", HTTP: reviewapi.InProcess(h)}
	d := handoff.Decision{ID: "x", Stream: stream, Kind: handoff.DecidePause, Actor: "ada", Reason: "r"}
	if _, err := c.Decide(t.Context(), d); !errors.Is(err, handoff.ErrUnknown) {
		t.Errorf("the client says %v", err)
	}
}

// Every decision about a stream, through the client.
func TestStreamDecisions(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	c := clients(t, h)["over a socket"]
	decide := func(d handoff.Decision) (handoff.DecisionAnswer, error) {
		d.ID, d.Stream, d.Actor, d.Reason = w.New(), stream, "ada", "r"
		return c.Decide(t.Context(), d)
	}
	rev := func() uint64 {
		st, err := c.Status(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		return st.Rev
	}
	if a, err := decide(handoff.Decision{Kind: handoff.DecidePause}); err != nil || a.Status != handoff.Paused {
		t.Fatalf("%+v %v", a, err)
	}
	var conflict *handoff.ConflictError
	if _, err := decide(handoff.Decision{Kind: handoff.DecideResume, Rev: 1}); !errors.As(err, &conflict) || conflict.Checkpoint == nil {
		t.Errorf("a stale resume: %v", err)
	}
	if a, err := decide(handoff.Decision{Kind: handoff.DecideResume, Rev: rev()}); err != nil || a.Status != handoff.Active {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := decide(handoff.Decision{Kind: handoff.DecideAccept, Rev: rev(), Check: handoff.HaltGap, Answer: "d"}); !errors.As(err, &conflict) {
		t.Errorf("nothing to accept: %v", err)
	}
	if _, err := decide(handoff.Decision{Kind: handoff.DecideLost, Rev: rev(), Version: 1}); !errors.As(err, &conflict) {
		t.Errorf("nothing is lost: %v", err)
	}
	if a, err := decide(handoff.Decision{Kind: handoff.DecideReset, Rev: rev(), Cursor: "c9"}); err != nil || a.Version != 2 {
		t.Errorf("%+v %v", a, err)
	}
	var invalid *handoff.InvalidError
	if _, err := decide(handoff.Decision{Kind: handoff.DecideReset, Rev: rev()}); !errors.As(err, &invalid) {
		t.Errorf("a reset to nowhere: %v", err)
	}
	if pages, _, err := c.Pages(t.Context(), stream, ""); err != nil || len(pages) != 1 || pages[0].Version != 1 {
		t.Errorf("pages %+v %v", pages, err)
	}
	if docs, _, err := c.Docs(t.Context(), stream, ""); err != nil || len(docs) != 0 {
		t.Errorf("docs %+v %v", docs, err)
	}
	if audits, _, err := c.Audits(t.Context(), stream, ""); err != nil || len(audits) != 3 || audits[0].Undo+audits[1].Undo+audits[2].Undo != "c0" {
		t.Errorf("audits %+v %v", audits, err)
	}
	if found, err := c.Check(t.Context(), stream); err != nil || len(found) != 0 {
		t.Errorf("check %+v %v", found, err)
	}
}

// Every word on an event, on the real protocol: what it does, and what it is refused on.
func TestEveryWordOnAnEvent(t *testing.T) {
	t.Parallel()
	calls := func(kind handoff.EffectKind, call handoff.CallKind) func(*world) {
		return func(w *world) { w.verdict, w.kind, w.call = handoff.VerdictApply, kind, call }
	}
	for _, c := range []struct {
		name string
		edit func(*world)
		kind handoff.DecisionKind
		want handoff.Outcome // "" is a conflict
	}{
		{"release what is held", func(*world) {}, handoff.DecideRelease, handoff.Released},
		{"ignore what is held", func(*world) {}, handoff.DecideIgnore, handoff.Ignored},
		{"quarantine what is held", func(*world) {}, handoff.DecideQuarantine, handoff.Quarantined},
		{"declare applied what was never tried", func(*world) {}, handoff.DecideApplied, ""},
		{"hurry what does not wait", func(*world) {}, handoff.DecideRetryNow, ""},
		{"declare an unknown call applied", calls(handoff.Unsafe, handoff.CallUnknown), handoff.DecideApplied, handoff.Applied},
		{"hurry what waits", calls(handoff.Idempotent, handoff.CallRetry), handoff.DecideRetryNow, handoff.Retrying},
		{"release what waits", calls(handoff.Idempotent, handoff.CallRetry), handoff.DecideRelease, ""},
		{"ignore what is settled", calls(handoff.Transactional, ""), handoff.DecideIgnore, ""},
	} {
		w, h := newWorld(t, c.edit)
		w.now = w.now.Add(time.Hour) // whatever was called is surely over
		client := clients(t, h)["over a socket"]
		key := handoff.ReceiptKey{EventID: `".."`}
		before, err := client.Event(t.Context(), stream, key)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		d := handoff.Decision{ID: "d", Stream: stream, Kind: c.kind, Actor: "ada", Reason: "r", Event: key, Rev: before.Receipt.Rev}
		got, err := client.Decide(t.Context(), d)
		var conflict *handoff.ConflictError
		if c.want == "" {
			if !errors.As(err, &conflict) || conflict.Receipt == nil || conflict.Receipt.Rev != before.Receipt.Rev {
				t.Errorf("%s: %+v, %v", c.name, got, err)
			}
			continue
		}
		after, readErr := client.Event(t.Context(), stream, key)
		if err != nil || readErr != nil || got.Outcome != c.want || after.Receipt.Outcome != c.want || after.Receipt.Rev != got.Rev || after.Receipt.By != "ada" {
			t.Errorf("%s: %+v, then %+v, %v %v", c.name, got, after.Receipt, err, readErr)
		}
		if found, err := client.Check(t.Context(), stream); err != nil || len(found) != 0 {
			t.Errorf("%s: broken %v, %v", c.name, found, err)
		}
	}
}

// What was seen can come as If-Match, in the body, or in both alike.
func TestWhatWasSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, match string
		status      int
		rev         uint64
	}{
		{"", `"7"`, 200, 7}, {`,"rev":7`, "", 200, 7}, {`,"rev":7`, `"7"`, 200, 7}, {"", "", 428, 0}, {`,"rev":0`, "", 428, 0},
		{`,"rev":8`, `"7"`, 400, 0}, {"", `"0"`, 400, 0}, {"", `*`, 400, 0}, {"", `W/"7"`, 400, 0}, {"", `"7", "8"`, 400, 0},
	} {
		for path, kind := range map[string]string{"/v1/streams/s/events/1/decisions": "ignore", "/v1/streams/s/decisions": "resume"} {
			f := &fake{answer: handoff.DecisionAnswer{Rev: 8}}
			status, header, body := request(t, f.serve(t), "POST", path, `{"kind":"`+kind+`","reason":"r"`+c.body+`}`, "If-Match", c.match, "Idempotency-Key", " ")
			if status != c.status || len(f.decided) == 1 != (c.status == 200) {
				t.Errorf("%s %+v: %d %s", kind, c, status, body)
			}
			if c.status == 200 && (f.decided[0].Rev != c.rev || header.Get("ETag") != `"8"` || f.decided[0].ID != "made-up") {
				t.Errorf("%s %+v: %+v, %v", kind, c, f.decided[0], header)
			}
		}
	}
	for _, kind := range []string{"reset", "accept", "lost"} {
		f := &fake{}
		if status, _, body := request(t, f.serve(t), "POST", "/v1/streams/s/decisions", `{"kind":"`+kind+`","reason":"r","cursor":"c"}`); status != http.StatusPreconditionRequired {
			t.Errorf("%s: %d %s", kind, status, body)
		}
	}
	for _, kind := range []string{"pause", "poll_now", "start", "retire"} {
		f := &fake{}
		if status, _, body := request(t, f.serve(t), "POST", "/v1/streams/s/decisions", `{"kind":"`+kind+`","reason":"r","cursor":"c"}`); status != http.StatusOK {
			t.Errorf("%s: %d %s", kind, status, body)
		}
	}
}
