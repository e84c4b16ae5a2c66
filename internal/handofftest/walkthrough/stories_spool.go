package walkthrough

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func acceptedCycle(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "t0")
	w.source.page("t0", "t1")
	w.source.page("t1", "t0")
	for range 10 {
		if r, err := w.poll(w.engine, handoff.PollMessage{}); err != nil || r.Did == handoff.ActHalted {
			w.must(err)
			break
		}
	}
	h := w.haltedBy(handoff.HaltTokenCycle)
	w.must(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: h.Answer.Digest}))
	w.tick(handoff.ActTurned)
	cp := w.checkpoint()
	if len(cp.Accepts) != 0 {
		w.Fatal("the promote left the accept behind")
	}
	w.source.end("t0", "x1", ev(1, "a"))
	w.source.end("t1", "x1", ev(1, "a"))
	w.source.end("x1", "x1")
	w.settleAll()
	w.effects("a", "1 < 1")
	w.clean()
}

func foreignSpool(t *testing.T, open func(*testing.T) Backend) {
	for name, entry := range map[string]handoff.SpoolEntry{
		"another cursor": {RequestCursor: "elsewhere", Epoch: 1}, "another epoch": {RequestCursor: "c0", Epoch: 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
			w.source.page("c0", "c1", ev(1, "a"))
			w.tick(handoff.ActOpened)
			w.apply()
			w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c0"})) // event 1 is superseded, and would count as new
			w.source.end("c0", "c2", ev(2, "a"))
			dir, err := w.inner.State.Directory(w.ctx, w.b.Stream, 1)
			w.must(err)
			entry.Stream, entry.Version, entry.Raw, entry.FetchedAt = w.b.Stream, 2, dir.Raw, w.clock.Now()
			w.must(w.inner.State.PutSpool(w.ctx, entry))
			asked := len(w.source.asked)
			w.tick(handoff.ActOpened)
			if len(w.source.asked) != asked+1 {
				w.Fatal("the cached answer was used")
			}
			w.source.end("c2", "c2")
			w.settleAll()
			w.effects("a", "2 < 2")
			w.clean()
		})
	}
}

func spoolUsed(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "no"}
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c0"}))
	dir, err := w.inner.State.Directory(w.ctx, w.b.Stream, 1)
	w.must(err)
	w.must(w.inner.State.PutSpool(w.ctx, handoff.SpoolEntry{
		Stream: w.b.Stream, Version: 2, RequestCursor: "c0", Epoch: 1, Raw: dir.Raw, FetchedAt: w.clock.Now(),
	}))
	delete(w.policy, "1")
	asked := len(w.source.asked)
	w.tick(handoff.ActOpened)
	if len(w.source.asked) != asked {
		w.Fatal("the source was asked although the answer was at hand")
	}
	if left, err := w.inner.State.Spool(w.ctx, w.b.Stream, 2); err != nil || len(left) != 0 {
		w.Fatalf("the used entry was left: %v %v", left, err)
	}
	w.settleAll()
	w.at(3, "c1")
	w.effects("a", "1 < 1")
	w.clean()
}

func acceptedAnswerGone(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"))
	w.tick(handoff.ActHalted)
	h := w.haltedBy(handoff.HaltOrderRegression)
	w.must(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: h.Answer.Digest}))
	w.tap.archive = &forgetful{Archive: w.inner.Archive, gone: map[string]bool{h.Answer.Key: true}}
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActWaiting)
	w.settleAll()
	w.at(2, "c1")
	w.effects("a", "1 2 < 2")
	w.clean()
}

func idleSingleUse(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.OnceToken = true })
	w.source.end("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.settleAll()
	for range 5 {
		w.tick(handoff.ActCaughtUp)
	}
	keys, err := w.inner.Archive.List(w.ctx, "raw/", 100)
	w.must(err)
	if len(keys) != 2 { // body and metadata of the one answer that changed something
		w.Fatalf("%d objects are archived: %v", len(keys), keys)
	}
	w.clean()
}
