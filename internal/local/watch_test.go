package local

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// stage is a stand-in for engine and state: it says what a test puts there.
type stage struct {
	status   handoff.StreamStatus
	receipts map[handoff.ReceiptKey]handoff.Receipt
}

func (s *stage) Status(context.Context, handoff.Stream) (handoff.StreamStatus, error) {
	return s.status, nil
}

func (s *stage) Receipts(context.Context, handoff.Stream, []handoff.ReceiptKey, bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	return s.receipts, nil
}

func heldReceipt() handoff.Receipt {
	position, _ := handoff.NumberPosition("137")
	return handoff.Receipt{
		ReceiptKey: handoff.ReceiptKey{EventID: `"evt-0137"`}, Stream: "demo", Outcome: handoff.Held, Reason: handoff.HoldPolicy,
		Detail: "refund_over_limit", PageVersion: 9, Position: position, Entity: "acct-\x1b[31m04", HeldAt: noon, Rev: 1,
	}
}

func heldStatus() handoff.StreamStatus {
	r := heldReceipt()
	return handoff.StreamStatus{
		Stream: "demo", Version: 9, Held: 1,
		Blocked: &handoff.Blocked{By: "hold: policy", Since: noon, Event: &r, Detail: r.Detail},
	}
}

func newStage(terminal Terminal, flags ...string) (*watch, *stage, *strings.Builder) {
	out := &strings.Builder{}
	s := &stage{status: handoff.StreamStatus{Stream: "demo", Version: 9}}
	w := newWatch(s, s, &screen{terminal: terminal, out: out}, Hints{"bin/turnleaf", flags}, func() time.Time { return noon.Add(42 * time.Second) })
	w.add("demo")
	return w, s, out
}

func TestWatchTellsOnceWhatBlocksAndHowToGoOn(t *testing.T) {
	t.Parallel()
	w, s, out := newStage(Terminal{}, "--data", "/tmp/my data")
	w.look(t.Context())
	s.status = heldStatus()
	w.polled("demo", handoff.PollReport{Did: handoff.ActBlocked, Version: 9})
	w.look(t.Context())
	w.polled("demo", handoff.PollReport{Did: handoff.ActBlocked, Version: 9})
	w.look(t.Context())
	text := out.String()
	for _, want := range []string{
		"demo: event evt-0137 is held, so page 9 cannot turn.",
		"hold: policy (refund_over_limit)",
		`page 9, position 137, entity acct-\x1b[31m04`,
		"bin/turnleaf show demo evt-0137 --data '/tmp/my data'",
		"bin/turnleaf resolve demo evt-0137 --as release --reason checked --data '/tmp/my data'",
		"bin/turnleaf resolve demo evt-0137 --as ignore --reason 'not wanted' --data '/tmp/my data'",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times %q in:\n%s", strings.Count(text, want), want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("an escape sequence reached an output that is no terminal")
	}
}

func TestWatchTellsThatTheCursorMovedOn(t *testing.T) {
	t.Parallel()
	w, s, out := newStage(Terminal{})
	s.status = heldStatus()
	w.look(t.Context())
	out.Reset()
	r := heldReceipt()
	r.Outcome, r.By = handoff.Ignored, "ada"
	s.receipts = map[handoff.ReceiptKey]handoff.Receipt{r.ReceiptKey: r}
	s.status = handoff.StreamStatus{Stream: "demo", Version: 12}
	w.polled("demo", handoff.PollReport{Did: handoff.ActPromoted, Version: 12})
	w.look(t.Context())
	want := "demo: event evt-0137 is ignored by ada after 42s. Page 9 is turned, the cursor moved on.\n"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got:\n%s\nwant:\n%s", out, want)
	}
}

func TestWatchTellsOfTheNextHoldOfTheSamePage(t *testing.T) {
	t.Parallel()
	w, s, out := newStage(Terminal{})
	s.status = heldStatus()
	w.look(t.Context())
	out.Reset()
	second := heldReceipt()
	second.EventID, second.Reason, second.Detail = "!3fa9", handoff.HoldInvalidEvent, "no id"
	st := heldStatus()
	st.Blocked = &handoff.Blocked{By: "hold: invalid_event", Since: noon, Event: &second, Detail: "no id"}
	s.status = st
	w.polled("demo", handoff.PollReport{Did: handoff.ActBlocked, Version: 9})
	w.look(t.Context())
	for _, want := range []string{"Page 9 still waits:", "event !3fa9 is held", "bin/turnleaf resolve demo '!3fa9' --as ignore"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestHaltsAndPausesCarryTheirCommands(t *testing.T) {
	t.Parallel()
	h := Hints{Command: "turnleaf"}
	halted := func(reason handoff.HaltReason) handoff.StreamStatus {
		return handoff.StreamStatus{
			Stream: "s", Version: 3, Remedy: reason.Remedy(), Checkpoint: handoff.Checkpoint{Halt: &handoff.Halt{Reason: reason}},
			Blocked: &handoff.Blocked{By: "halt: " + string(reason), Since: noon},
		}
	}
	plain := func(s string) string { return s }
	if got := h.announceBlock(halted(handoff.HaltGap), plain); !strings.Contains(got, "turnleaf accept s --reason checked") {
		t.Errorf("a gap can be accepted:\n%s", got)
	}
	got := h.announceBlock(halted(handoff.HaltPageUnreadable), plain)
	if strings.Contains(got, "turnleaf accept") || !strings.Contains(got, "turnleaf resume s --reason checked") {
		t.Errorf("an unreadable page can be asked for again, not accepted:\n%s", got)
	}
	failing := handoff.StreamStatus{Stream: "s", Blocked: &handoff.Blocked{By: "failing: http_500", Since: noon}}
	if got := h.announceBlock(failing, plain); got != "" {
		t.Errorf("what heals by itself calls for nobody:\n%s", got)
	}
}

func TestTheLiveLineIsRewrittenAndFits(t *testing.T) {
	t.Parallel()
	w, s, out := newStage(Terminal{Width: func() int { return 60 }})
	s.status = heldStatus()
	s.status.Blocked = nil
	w.applied("demo", handoff.ApplyReport{Applied: 18, Ignored: 2, Promoted: true})
	w.look(t.Context())
	w.look(t.Context())
	text := out.String()
	if strings.ContainsAny(text, "\n\x1b") || strings.Count(text, "\r") != 2 {
		t.Errorf("not one line, rewritten once, without escapes: %q", text)
	}
	first, _, _ := strings.Cut(text, "\r")
	if want := "demo  page 9 · 1 pages turned · 18 applied · 2 ignored · 0 quar"; !strings.HasPrefix(first, want[:50]) || len([]rune(first)) > 57 {
		t.Errorf("line %q of %d columns", first, len([]rune(first)))
	}
	w.screen.print("news\n")
	if !strings.HasSuffix(out.String(), strings.Repeat(" ", 59)+"\rnews\n") {
		t.Errorf("the line was not cleared for what is printed above it: %q", out.String())
	}
}

func TestPlainProgressIsQuietWhenNothingHappens(t *testing.T) {
	t.Parallel()
	w, _, out := newStage(Terminal{})
	now := noon
	w.now = func() time.Time { return now }
	for range 40 {
		w.look(t.Context())
		now = now.Add(time.Second)
	}
	if got := strings.Count(out.String(), "\n"); got != 1 {
		t.Errorf("%d lines in 40 idle seconds, want 1:\n%s", got, out)
	}
	for range 10 {
		w.applied("demo", handoff.ApplyReport{Applied: 10})
		w.look(t.Context())
		now = now.Add(time.Second)
	}
	if got := strings.Count(out.String(), "\n"); got != 3 {
		t.Errorf("%d lines after 10 busy seconds, want 3:\n%s", got, out)
	}
	if !strings.Contains(out.String(), "10/s") {
		t.Errorf("no speed of 10 events a second:\n%s", out)
	}
}

func TestSeveralStreamsShareTheLine(t *testing.T) {
	t.Parallel()
	a := &progress{stream: "a", tally: tally{2, 10, 1, 0}, status: heldStatus()}
	b := &progress{stream: "b", tally: tally{3, 20, 0, 1}}
	got := summary([]*progress{a, b}, noon.Add(12*time.Second))
	want := "2 streams · 1 blocked: a 12s by hold: policy of evt-0137" +
		" · 5 pages turned · 30 applied · 1 ignored · 1 quarantined · 1 held · 0/s"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s", 90 * time.Minute: "1h30m", 72 * time.Hour: "3d",
	} {
		if got := ago(noon.Add(d), noon); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
