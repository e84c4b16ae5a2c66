package walkthrough

import (
	"context"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// outsideStories are about calls that leave a trace outside.
func outsideStories() []story {
	return []story{
		{"ClaimIsRefused", claimRefused}, {"ClaimIsNotReadBack", claimUnread}, {"ClaimRunsOutBeforeTheCall", claimRunsOut},
		{"ClaimAliveWithMargin", claimMargin}, {"KeysNameStreamAndEvent", keysName}, {"WindowOfADeadProcess", windowOfDead},
		{"KindChangedUnderACall", kindChanged}, {"LimitAndWindow", limitAndWindow}, {"OwnSettlementReadBack", ownReadBack},
		{"DecisionEndsTheClaim", decisionEndsClaim}, {"AnotherClaimsAfterARelease", anotherClaims}, {"RetryOnAnOpenPage", retryOnOpenPage},
		{"WindowThroughAReset", windowThroughReset}, {"LastWordUnderAnAttempt", lastWord}, {"RetryNowKeepsTheWindow", retryNowKeepsWindow},
	}
}

// unsafely opens a page of one event for a sink that knows nothing, and gives its message.
func unsafely(t *testing.T, open func(*testing.T) Backend) (*world, handoff.ChunkMessage) {
	t.Helper()
	w := stage(t, open)
	w.sink.kind = handoff.Unsafe
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActOpened)
	return w, w.message()
}

// again lets another process deliver a message once more.
func (w *world) again(m handoff.ChunkMessage) {
	w.Helper()
	if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2}); err != nil {
		w.Error(err)
	}
}

// called requires how often the sink was called.
func (w *world) called(want int) {
	w.Helper()
	if got := len(w.sink.calls); got != want {
		w.Fatalf("calls %v, want %d", w.sink.calls, want)
	}
}

// claimRefused: another delivery claims and calls first: nothing is called by the one that lost.
func claimRefused(t *testing.T, open func(*testing.T) Backend) {
	w, m := unsafely(t, open)
	w.tap.hook("before", "apply/claim", func() error { w.again(m); return nil })
	_, err := w.deliver(m, 1)
	w.must(err)
	w.is("1", handoff.Applied)
	w.called(1)
	w.clean()
}

// claimUnread: a claim that cannot be read back is not called under; it ends, and is tried again.
func claimUnread(t *testing.T, open func(*testing.T) Backend) {
	w, m := unsafely(t, open)
	w.tap.hook("after", "apply/claim", func() error {
		w.tap.hook("before", "read/receipts", func() error { return handoff.ErrUnknown })
		return nil
	})
	_, err := w.deliver(m, 1)
	w.must(err)
	if r := w.is("1", handoff.Retrying); r.Attempt != nil {
		w.Fatal("an attempt that called nobody is still under way")
	}
	w.called(0)
	w.settleAll()
	w.called(1)
	w.at(2, "c1")
	w.clean()
}

// claimRunsOut: the call and a margin must fit into what is left of the lease.
func claimRunsOut(t *testing.T, open func(*testing.T) Backend) {
	w, m := unsafely(t, open)
	w.tap.hook("after", "apply/claim", func() error { w.clock.advance(22 * time.Second); return nil }) // 8 s left; 5 s and 5 s are needed
	_, err := w.deliver(m, 1)
	w.must(err)
	w.is("1", handoff.Retrying)
	w.called(0)
	w.clean()
}

// dies runs a delivery in a process of its own that dies right after a site.
func (w *world) dies(m handoff.ChunkMessage, site string) {
	w.Helper()
	p := fault.New(nil)
	p.After(site, func() error { p.Kill(); return fault.ErrDead })
	e := handoff.New(w.deps(p.State(w.inner.State), p.Archive(w.inner.Archive), p.Queue(w.queue)))
	if _, err := e.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 2}); err == nil {
		w.Error("the process that was to die did not")
	}
}

// claimMargin: clocks differ: a claim is alive for a margin longer than a function lives, for others and for decisions.
func claimMargin(t *testing.T, open func(*testing.T) Backend) {
	w, m := unsafely(t, open)
	w.dies(m, "apply/claim")
	w.clock.advance(32 * time.Second)
	_, err := w.deliver(m, 2)
	w.must(err)
	w.is("1", handoff.Claimed)
	w.refused(w.decide(handoff.DecideIgnore, "1"))
	w.clock.advance(10 * time.Second)
	_, err = w.deliver(m, 2)
	w.must(err)
	w.is("1", handoff.Held, handoff.HoldAmbiguous)
	w.called(0)
	w.clean()
}

// keyed notes the keys that a sink is given.
type keyed struct {
	*sink
	keys map[string]string // event → key
}

func (k keyed) Call(ctx context.Context, e handoff.Event, key string) handoff.CallResult {
	k.keys[e.ID] = key
	return k.sink.Call(ctx, e, key)
}

// keysName: a key names the stream and the event, and never changes.
func keysName(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind = handoff.Idempotent
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry}}
	own, other := keyed{w.sink, map[string]string{}}, keyed{w.sink, map[string]string{}}
	w.b.Effect = own
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.turn()
	first := own.keys[`"1"`]
	w.clock.advance(time.Hour)
	w.apply()
	if own.keys[`"1"`] != first || first == own.keys[`"2"`] {
		w.Fatalf("keys are %v, and 1 first had %s", own.keys, first)
	}
	b := w.b
	b.Stream, b.Effect = w.b.Stream+"/eu", other
	_, err := w.engine.Poll(w.ctx, b, handoff.PollMessage{Stream: b.Stream})
	w.must(err)
	for _, m := range w.queue.takeChunks() {
		if m.Stream == b.Stream {
			_, err := w.engine.Apply(w.ctx, b, handoff.Delivery{ChunkMessage: m, Receives: 1})
			w.must(err)
		}
	}
	if other.keys[`"1"`] == first || other.keys[`"1"`] == "" {
		w.Fatalf("two streams have the key %q", first)
	}
}

// windowOfDead: a process dies between its attempt and its call: within the window the next delivery calls at once; under another effect
// it does not.
func windowOfDead(t *testing.T, open func(*testing.T) Backend) {
	for name, effect := range map[string]string{"the same effect": "e1", "another effect": "e2"} {
		t.Run(name, func(t *testing.T) {
			w := stage(t, open)
			w.sink.kind, w.sink.window = handoff.Idempotent, 5*time.Minute
			w.source.page("c0", "c1", ev(1, "a"))
			w.tick(handoff.ActOpened)
			m := w.message()
			w.dies(m, "apply/claim")
			w.b.Settings.Effect = effect
			_, err := w.deliver(m, 2)
			w.must(err)
			if effect == "e1" {
				w.is("1", handoff.Applied)
				w.called(1)
			} else {
				w.is("1", handoff.Held, handoff.HoldAmbiguous)
				w.called(0)
			}
			w.clean()
		})
	}
}

// kindChanged: the sink that was called knew keys, and the one deployed meanwhile knows nothing: the unknown call is not made again.
func kindChanged(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind, w.sink.window = handoff.Idempotent, 5*time.Minute
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallUnknown}}
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	w.is("1", handoff.Retrying)
	w.sink.kind = handoff.Unsafe
	w.clock.advance(10 * time.Second)
	w.apply()
	w.is("1", handoff.Held, handoff.HoldAmbiguous)
	w.called(1)
	w.clean()
}

// limitAndWindow: after its last attempt an event whose call may still be unknown is not held for another reason.
func limitAndWindow(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.MaxAttempts = 2 })
	w.sink.kind, w.sink.window = handoff.Idempotent, 5*time.Minute
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallUnknown}}
	w.source.page("c0", "c1", ev(1, "a"))
	w.turn()
	for range 3 {
		if r := w.is("1", handoff.Retrying); r.Attempt == nil {
			w.Fatal("the window is not remembered")
		}
		w.clock.advance(20 * time.Second)
		w.apply()
	}
	w.clock.advance(5 * time.Minute)
	w.apply()
	w.is("1", handoff.Held, handoff.HoldAmbiguous)
	w.clean()
}

// ownReadBack: the settlement of a claim is durable and its answer lost: read back by its token, it is done.
func ownReadBack(t *testing.T, open func(*testing.T) Backend) {
	w, m := unsafely(t, open)
	w.tap.hook("after", "apply/settle", func() error { return handoff.ErrUnknown })
	if r, err := w.deliver(m, 1); err != nil || r.Applied != 1 || !r.Promoted {
		w.Fatalf("%+v %v, want applied and promoted", r, err)
	}
	w.called(1)
	w.clean()
}

// expired lets others find the claim of a call that hangs, long after its lease.
func (w *world) expired(m handoff.ChunkMessage) {
	w.Helper()
	w.clock.advance(time.Minute)
	w.again(m)
	w.is("1", handoff.Held, handoff.HoldAmbiguous)
}

// decisionEndsClaim: an operator released the ambiguous hold: the claimant that wakes settles nothing any more.
func decisionEndsClaim(t *testing.T, open func(*testing.T) Backend) {
	w, m := unsafely(t, open)
	w.sink.onCall = func() {
		w.expired(m)
		w.must(w.decideBy(w.other, handoff.DecideRelease, "1"))
	}
	_, err := w.deliver(m, 1)
	w.must(err)
	w.is("1", handoff.Released)
	w.clean()
}

// anotherClaims: and neither does it when the released event was claimed by somebody else.
func anotherClaims(t *testing.T, open func(*testing.T) Backend) {
	w, m := unsafely(t, open)
	w.sink.onCall = func() {
		w.expired(m)
		w.must(w.decideBy(w.other, handoff.DecideRelease, "1"))
		w.dies(m, "apply/claim")
	}
	_, err := w.deliver(m, 1)
	w.must(err)
	w.is("1", handoff.Claimed)
	w.clean()
}

// retryOnOpenPage: the sink surely did nothing, and says so after the lease, while the page is still open: that is a wait.
func retryOnOpenPage(t *testing.T, open func(*testing.T) Backend) {
	w, m := unsafely(t, open)
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallRetry}}
	w.sink.onCall = func() { w.expired(m) }
	_, err := w.deliver(m, 1)
	w.must(err)
	w.is("1", handoff.Retrying)
	w.sink.answers = nil
	w.settleAll()
	w.is("1", handoff.Applied)
	w.called(2)
	w.clean()
}

// windowThroughReset: a call within a window is unknown, and a reset has passed its page meanwhile: its hold as ambiguous stays, listed.
func windowThroughReset(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind, w.sink.window = handoff.Idempotent, 5*time.Minute
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallUnknown}}
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.end("r", "r")
	w.tick(handoff.ActOpened)
	w.sink.onCall = func() {
		w.reset("r")
		if _, err := w.poll(w.other, handoff.PollMessage{}); err != nil {
			w.Error(err)
		}
	}
	w.apply()
	if r := w.is("1", handoff.Held, handoff.HoldAmbiguous); r.Attempt == nil || !r.Listed() {
		w.Fatal("nobody sees the unknown call any more")
	}
	w.clean()
}

// lastWord: while a call within a window hangs, another is made under its attempt. That the first was done is the last word; that it is
// unknown leaves the event to be tried again; that it did nothing says nothing about the other.
func lastWord(t *testing.T, open func(*testing.T) Backend) {
	for kind, want := range map[handoff.CallKind]handoff.Outcome{
		handoff.CallDone: handoff.Applied, handoff.CallUnknown: handoff.Retrying, handoff.CallRefused: handoff.Claimed, handoff.CallRetry: handoff.Claimed,
	} {
		t.Run(string(kind), func(t *testing.T) {
			w := stage(t, open)
			w.sink.kind, w.sink.window = handoff.Idempotent, 5*time.Minute
			w.sink.answers = map[string]handoff.CallResult{"1": {Kind: kind}}
			w.source.page("c0", "c1", ev(1, "a"))
			w.tick(handoff.ActOpened)
			m := w.message()
			w.sink.onCall = func() { w.dies(m, "apply/claim") }
			_, err := w.deliver(m, 1)
			w.must(err)
			w.is("1", want)
			w.clean()
		})
	}
}

// retryNowKeepsWindow: `retry_now` cuts the wait short, not the window of the call; it is no word on a hold.
func retryNowKeepsWindow(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.sink.kind, w.sink.window = handoff.Idempotent, 5*time.Minute
	w.sink.answers = map[string]handoff.CallResult{"1": {Kind: handoff.CallUnknown, After: 2 * time.Minute}}
	w.holds("2")
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.turn()
	first := w.is("1", handoff.Retrying).Attempt
	w.clock.advance(time.Minute)
	w.refused(w.decide(handoff.DecideRelease, "1"))
	w.refused(w.decide(handoff.DecideRetryNow, "2"))
	w.refused(w.decide(handoff.DecideApplied, "2"))
	w.must(w.decide(handoff.DecideRetryNow, "1"))
	if r := w.is("1", handoff.Retrying); r.Attempt == nil || r.Attempt.Token != first.Token || !r.NextAt.Equal(w.clock.Now()) {
		w.Fatalf("the attempt is %+v, next at %v", r.Attempt, r.NextAt)
	}
	w.clean()
}
