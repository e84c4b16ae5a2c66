package walkthrough

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// decideStories are about operators' words.
func decideStories() []story {
	return []story{
		{"DecisionsThatSayTooLittle", sayTooLittle}, {"DecisionNotLookedUp", notLookedUp}, {"QuietDecisions", quietDecisions},
		{"DecisionOnWhatChanged", onWhatChanged}, {"ReleaseRacingAReset", releaseRacingReset}, {"TwinRequests", twinRequests},
		{"PauseTwice", pauseTwice}, {"ResetSaysTheWayBack", wayBack}, {"AcceptOfNothing", acceptOfNothing},
		{"RetiredOrphan", retiredOrphan}, {"ResumeUnlisted", resumeUnlisted},
	}
}

// sayTooLittle: a decision names itself, its stream, who, why, on what, and what was seen. What is missing is the caller's fault, and
// nothing is written.
func sayTooLittle(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	r, rev := w.is("1", handoff.Held), w.checkpoint().Rev
	for name, edit := range map[string]func(*handoff.Decision){
		"no id":                 func(d *handoff.Decision) { d.ID = "" },
		"no stream":             func(d *handoff.Decision) { d.Stream = "" },
		"no actor":              func(d *handoff.Decision) { d.Actor = "" },
		"no reason":             func(d *handoff.Decision) { d.Reason = " \n" },
		"too long a reason":     func(d *handoff.Decision) { d.Reason = strings.Repeat("x", 1001) },
		"no event":              func(d *handoff.Decision) { d.Event = handoff.ReceiptKey{} },
		"no rev of the receipt": func(d *handoff.Decision) { d.Rev = 0 },
		"no such decision":      func(d *handoff.Decision) { d.Kind = "undo" },
		"a resume of anything":  func(d *handoff.Decision) { d.Kind, d.Rev = handoff.DecideResume, 0 },
		"a reset of anything":   func(d *handoff.Decision) { d.Kind, d.Rev, d.Cursor = handoff.DecideReset, 0, "r" },
		"a reset to nowhere":    func(d *handoff.Decision) { d.Kind, d.Rev = handoff.DecideReset, rev },
		"a start from nowhere":  func(d *handoff.Decision) { d.Kind = handoff.DecideStart },
	} {
		d := handoff.Decision{ID: "d-" + name, Stream: w.b.Stream, Kind: handoff.DecideIgnore, Actor: "ada", Reason: "known", Event: r.ReceiptKey, Rev: r.Rev}
		edit(&d)
		var invalid *handoff.InvalidError
		if _, err := w.engine.Decide(w.ctx, d); !errors.As(err, &invalid) {
			w.Errorf("%s: got %v, want an InvalidError", name, err)
		}
	}
	w.is("1", handoff.Held)
	w.at(1, "c0")
}

// notLookedUp: whether a decision was taken before could not be read: it is not taken again.
func notLookedUp(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.tap.hook("before", "read/decision", func() error { return handoff.ErrUnknown })
	if err := w.decide(handoff.DecideIgnore, "1"); !errors.Is(err, handoff.ErrUnknown) {
		w.Fatalf("got %v, want unknown", err)
	}
	w.is("1", handoff.Held)
}

// quietDecisions: a decision asks for a drive at once, unless its caller has more to decide.
func quietDecisions(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1", "2")
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.turn()
	for id, quiet := range map[string]bool{"1": true, "2": false} {
		r := w.is(id, handoff.Held)
		_, err := w.engine.Decide(w.ctx, handoff.Decision{
			ID: w.ids.New(), Stream: w.b.Stream, Kind: handoff.DecideIgnore, Actor: "ada", Reason: "known", Event: r.ReceiptKey, Rev: r.Rev, Quiet: quiet,
		})
		w.must(err)
		if ms := w.queue.takePolls(); len(ms) == 0 != quiet || !quiet && !ms[0].Drive {
			w.Fatalf("quiet %v, and sent %v", quiet, ms)
		}
	}
}

// onWhatChanged: a decision on a receipt that changed since it was seen is refused, and says what stands.
func onWhatChanged(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	seen := w.is("1", handoff.Held)
	w.must(w.decide(handoff.DecideRelease, "1"))
	err := w.decideOn(handoff.DecideQuarantine, seen)
	w.refused(err)
	var c *handoff.ConflictError
	if errors.As(err, &c); c.Receipt == nil || c.Receipt.Outcome != handoff.Released {
		w.Fatalf("the refusal says %+v", c)
	}
	w.is("1", handoff.Released)
}

// releaseRacingReset: a reset lands between a release's look at the page and its write: nothing is released on a page that is closing.
func releaseRacingReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.tap.hook("before", "decide", func() error { w.reset("r"); return nil })
	w.refused(w.decide(handoff.DecideRelease, "1"))
	w.is("1", handoff.Held, handoff.HoldPolicy)
	w.clean()
}

// twinRequests: one request comes twice at the same moment, on an event and on a stream: both get the same answer, and it happens once.
func twinRequests(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.holds("1")
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	r := w.is("1", handoff.Held)
	for _, d := range []handoff.Decision{{ID: "on the event", Kind: handoff.DecideIgnore, Event: r.ReceiptKey, Rev: r.Rev}, {ID: "on the stream", Kind: handoff.DecidePause}} {
		d.Stream, d.Actor, d.Reason = w.b.Stream, "ada", "twice"
		var first handoff.DecisionAnswer
		w.tap.hook("before", "decide", func() (err error) { first, err = w.other.Decide(w.ctx, d); return err })
		answer, err := w.engine.Decide(w.ctx, d)
		w.must(err)
		if answer != first {
			w.Fatalf("%s: answered %+v, and first %+v", d.ID, answer, first)
		}
	}
	audits, _, err := w.inner.State.Audits(w.ctx, w.b.Stream, "", 10)
	w.must(err)
	if len(audits) != 2 {
		w.Fatalf("%d lines of two decisions", len(audits))
	}
}

// pauseTwice: a pause is as old as its first word.
func pauseTwice(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.end("c0", "c0")
	w.tick(handoff.ActCaughtUp)
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	w.clock.advance(time.Hour)
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	if at := w.checkpoint().PausedAt; !at.Equal(epoch) {
		w.Fatalf("paused since %v", at)
	}
}

// wayBack: the record of a reset has the cursor before it.
func wayBack(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.reset("r")
	audits, _, err := w.inner.State.Audits(w.ctx, w.b.Stream, "", 10)
	w.must(err)
	if len(audits) != 1 || audits[0].Undo != "c1" {
		w.Fatalf("the record says %+v", audits)
	}
}

// acceptOfNothing: an accept is bound to a halt, its check and its answer.
func acceptOfNothing(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.page("c1", "c2", ev(3, "a"), ev(2, "a"))
	w.turn()
	d := handoff.Decision{Kind: handoff.DecideAccept, Check: handoff.HaltOrderRegression, Answer: "x"}
	w.refused(w.command(d))
	w.tick(handoff.ActHalted)
	w.refused(w.command(d))
	d.Check, d.Answer = handoff.HaltGap, w.checkpoint().Halt.Answer.Digest
	w.refused(w.command(d))
	w.tick(handoff.ActHalted)
}

// retiredOrphan: a stream that is retired on purpose is no orphan any more.
func retiredOrphan(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.end("c0", "c0")
	w.settleAll()
	w.roll()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideRetire}))
	entries, err := w.inner.State.Streams(w.ctx)
	w.must(err)
	i := slices.IndexFunc(entries, func(e handoff.StreamEntry) bool { return e.Stream == w.b.Stream })
	if e := entries[i]; e.RetiredAt.IsZero() || !e.OrphanedAt.IsZero() {
		w.Fatalf("retired at %v, orphaned at %v", e.RetiredAt, e.OrphanedAt)
	}
}

// resumeUnlisted: a stream that is on no list, of a time before there was one, can be resumed.
func resumeUnlisted(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	cp := handoff.Checkpoint{Stream: w.b.Stream, ResumeCursor: "c0", Version: 1, Rev: 1, Token: "t", Paused: true, PausedAt: epoch, StartedAt: epoch, UpdatedAt: epoch}
	w.must(w.inner.State.Commit(w.ctx, handoff.Tx{Token: "t", Stream: w.b.Stream, Checkpoint: &handoff.CheckpointWrite{If: handoff.Guard{Absent: true}, Put: &cp}}))
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
}
