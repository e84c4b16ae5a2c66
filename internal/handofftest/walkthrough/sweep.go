package walkthrough

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Sweep plays one long story over and over, striking one operation of it with one outcome each time, until a run meets no fault.
// After each strike the process restarts clean, nobody helps, and the end must be what it is without a fault. It returns how often
// each operation was struck.
func Sweep(t *testing.T, open func(*testing.T) Backend) map[string]int {
	struck := map[string]int{}
	for _, what := range []outcome{errorBefore, errorAfter, refusedAfter, crashBefore, crashAfter} {
		for n := 1; ; n++ {
			hit := sweepOnce(t, open, fault{n, what})
			if hit == "" {
				break
			}
			struck[hit]++
			if t.Failed() {
				t.Fatalf("the first failure: operation %d (%s), %s", n, hit, what)
			}
		}
	}
	return struck
}

// sites are the operations that the story must meet.
var sites = []string{
	"archive", "chunk", "close", "continue", "decide", "drive", "halt", "note", "open", "promote", "send", "settle", "start", "turn",
	"read-checkpoint", "read-chunk", "read-decision", "read-directory", "read-page", "read-receipts", "read-spool",
}

func sweepOnce(t *testing.T, open func(*testing.T) Backend, f fault) (hit string) {
	ok := t.Run(fmt.Sprintf("%s/%d", f.what, f.n), func(t *testing.T) {
		w := longStory(t, open)
		w.tap.fault = f
		w.drive()
		hit = w.tap.hit
		if hit == "" {
			hit = w.hit
		}
		w.longStoryEnds()
	})
	if !ok {
		t.Fail()
	}
	return hit
}

// longStory: overlaps, three lanes, a held event and its release, a second content, one event quarantined by policy and one by an operator,
// an empty page, a page of replays, a halt that is resumed, a reset over a held page, the end, then new events.
func longStory(t *testing.T, open func(*testing.T) Backend) *world {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Overlap = true; s.ChunkSize = 2 })
	second := ev(2, "b")
	second.Body = "v2"
	w.policy["3"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	w.policy["4"] = handoff.Ruling{Verdict: handoff.VerdictQuarantine, Rule: "spam"}
	w.policy["6"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	w.policy["9"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"), ev(3, "c"), ev(4, "a"))
	w.source.page("c1", "c2", second, ev(4, "a"), ev(5, "a"), ev(6, "b"), ev(7, "c"))
	w.source.page("c2", "c3")
	w.source.page("c3", "c4", ev(6, "b"), ev(7, "c"))
	w.source.page("c4", "lost", ev(8, "a"), ev(9, "b"), ev(10, "b"), ev(11, "c"))
	w.source.page("r", "r1", ev(8, "a"), ev(10, "b"), ev(9, "b"))
	w.source.end("r1", "r2", ev(10, "b"), ev(11, "c"), ev(12, "a"))
	w.source.end("r2", "r2", ev(13, "a"), ev(14, "b"))
	return w
}

// drive is the schedule, the queue and the operator, until nothing is left to do. Dead processes are restarted.
func (w *world) drive() {
	w.Helper()
	fixed := false
	for idle := 0; idle < 4; {
		r, err := w.poll(w.engine, handoff.PollMessage{})
		moved := w.revive(err)
		for _, m := range w.queue.takeChunks() {
			_, err := w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1})
			if w.revive(err) && w.redelivered < 50 { // an error lets the queue deliver it again
				w.redelivered++
				w.queue.chunks = append(w.queue.chunks, m)
			}
			moved = true
		}
		w.queue.takePolls()
		moved = w.operator(&fixed) || moved
		if moved || !slices.Contains([]handoff.PollAct{handoff.ActCaughtUp, handoff.ActNotDue, handoff.ActHalted, handoff.ActBlocked, handoff.ActDriven}, r.Did) {
			idle = 0
		} else {
			idle++
		}
		w.clock.advance(4 * time.Minute)
		if w.steps++; w.steps > 2000 {
			w.Fatal("no progress: the story never ends")
		}
	}
}

// revive restarts a dead process, and reports whether anything went wrong.
func (w *world) revive(err error) bool {
	if err == nil {
		return false
	}
	if w.tap.dead {
		w.hit = w.tap.hit
		w.restart()
	} else if !errors.Is(err, handoff.ErrUnknown) && !errors.Is(err, handoff.ErrRefused) {
		w.Fatalf("an error that is neither refused nor unknown: %v", err)
	}
	return true
}

// operator looks at the list of holds and the halt, and decides each by the story's book, under an id that makes repeating safe.
func (w *world) operator(fixed *bool) (moved bool) {
	w.Helper()
	cp, err := w.inner.State.Checkpoint(w.ctx, w.b.Stream)
	if err != nil {
		return false
	}
	decide := func(id string, d handoff.Decision) {
		d.ID, d.Stream, d.Actor, d.Reason = id, w.b.Stream, "ada", "by the book"
		_, err := w.engine.Decide(w.ctx, d)
		moved = w.revive(err) || moved || err == nil
	}
	if cp.Halt != nil && cp.Closing == 0 {
		w.source.page("r", "r1", ev(8, "a"), ev(9, "b"), ev(10, "b"))
		*fixed = true
		decide(fmt.Sprint("resume", cp.Rev), handoff.Decision{Kind: handoff.DecideResume, Rev: cp.Rev})
		return moved
	}
	held, _, err := w.inner.State.HeldReceipts(w.ctx, w.b.Stream, "", 100)
	w.must(err)
	for _, r := range held {
		d := handoff.Decision{Event: r.ReceiptKey, Rev: r.Rev}
		switch {
		case r.Conflict != "":
			d.Kind = handoff.DecideIgnore
		case r.EventID == jsonID("3"):
			d.Kind = handoff.DecideRelease
		case r.EventID == jsonID("6"):
			d.Kind = handoff.DecideQuarantine
		case r.EventID == jsonID("9") && cp.Epoch == 0 && cp.Closing == 0: // the page it blocks is the wrong one: reset over it
			decide("reset", handoff.Decision{Kind: handoff.DecideReset, Rev: cp.Rev, Cursor: "r"})
			return moved
		case r.EventID == jsonID("9") && r.Outcome == handoff.Held && r.PageVersion == cp.Version && cp.Closing == 0:
			d.Kind = handoff.DecideRelease
		default:
			continue
		}
		decide(fmt.Sprint(r.EventID, r.Conflict, r.Rev), d)
	}
	return moved
}

// longStoryEnds is the second model: written by hand from the story.
func (w *world) longStoryEnds() {
	w.Helper()
	w.clean()
	cp := w.checkpoint()
	if cp.ResumeCursor != "r2" || cp.Halt != nil || cp.Closing != 0 {
		w.Fatalf("the end was not reached: cursor %q, halt %v, closing %d", cp.ResumeCursor, cp.Halt, cp.Closing)
	}
	w.applied("14")
	w.effects("a", "1 12 13 5 8 < 13")
	w.effects("b", "10 14 2 9 < 14")
	w.effects("c", "11 3 7 < 11")
	total, err := w.inner.State.Doc(w.ctx, w.b.Stream, "all")
	w.must(err)
	if got := string(total.Fields["total"]); got != "12" {
		w.Errorf("the ledger counts %s effects, want 12", got)
	}
	w.is("4", handoff.Quarantined)
	w.is("6", handoff.Quarantined)
	if r := w.conflicts("2"); r.Outcome != handoff.Ignored {
		w.Errorf("the second content of 2 is %s", r.Outcome)
	}
}

// Missing names the sites that were never struck.
func Missing(struck map[string]int) []string {
	return slices.DeleteFunc(slices.Clone(sites), func(s string) bool { return struck[s] > 0 })
}
