package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/localstack/deploy"
)

// The whole story, in order. Each part leaves the deployment as the next one wants it.
func TestDeployed(t *testing.T) {
	w := newWorld(t)
	w.deploy()
	t.Run("promises", func(t *testing.T) { w.as(t).promises() })
	w.undefined()
	ada := w.hire("ada", http.MethodGet, http.MethodPost)
	t.Run("guarded", func(t *testing.T) { w.as(t).guarded(ada) })
	again := w.rebuild()
	w.firstTick()
	w.underFire(again)
	w.release(ada)
	w.conflict(ada)
	w.revive()
	w.finish()
	w.audit(ada)
	w.tell()
}

// as is this world for a part of the story that may fail by itself.
func (w *world) as(t *testing.T) *world {
	part := *w
	part.T, part.ctx = t, t.Context()
	return &part
}

// deploy builds and deploys the real template with the first definition.
func (w *world) deploy() {
	w.define("ledger", w.feed.fill(definition, ""))
	built := make(chan error, 1)
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	go func() { built <- w.sam.Build(ctx) }()
	w.must(deploy.Ready(w.ctx, w.emulator))
	w.must(<-built)
	w.say("built")
	w.must(w.sam.Deploy(w.ctx, stackName, parameters()...))
	w.must(deploy.Mend(w.ctx, w.gate.URL))
	w.mendRoles()
	w.connect()
	w.say("deployed")
}

// undefined sends messages of a stream that no definition names yet: they fail until they lie in the dead-letter queues.
func (w *world) undefined() {
	w.post(w.conf.Chunks, handoff.ChunkMessage{Stream: late, Version: 1})
	w.post(w.conf.Polls, handoff.PollMessage{Stream: late})
}

// guarded: who is not signed in gets nothing, who may only read decides nothing, and what is not ours is nobody's.
func (w *world) guarded(ada *operator) {
	reader, stranger := w.hire("rita", http.MethodGet), w.hire("steve")
	unsigned := &http.Client{Transport: w.net}
	const pause = `{"kind":"pause","reason":"tested"}`
	for _, c := range []struct {
		who          string
		client       *http.Client
		method, path string
		body         string
		want         int
	}{
		{"nobody", unsigned, "GET", "/v1/streams", "", http.StatusForbidden},
		{"nobody", unsigned, "POST", "/v1/streams/ledger/decisions", pause, http.StatusForbidden},
		{"a stranger", stranger.http, "GET", "/v1/streams", "", http.StatusForbidden},
		{"a reader", reader.http, "GET", "/v1/streams", "", http.StatusOK},
		{"a reader", reader.http, "POST", "/v1/streams/ledger/decisions", pause, http.StatusForbidden},
		{"ada", ada.http, "GET", "/v1/streams", "", http.StatusOK},
		{"ada", ada.http, "GET", "/v1/streams/nobody", "", http.StatusNotFound},
	} {
		if got := w.try(c.client, c.method, c.path, c.body); got != c.want {
			w.Errorf("%s %s by %s: %d, want %d", c.method, c.path, c.who, got, c.want)
		}
	}
}

// firstTick waits for the real schedule: until here nobody else has invoked poll for the stream.
func (w *world) firstTick() {
	w.watch("the schedule fired and opened a page", 100*time.Second, func() bool {
		st := w.status(stream)
		return st.Version > 1 || st.Page != nil
	})
	if w.figures.ticks != 0 {
		w.Fatalf("%d ticks of the test's own", w.figures.ticks)
	}
}

// rebuild begins to build what is deployed in the middle: the stream's definition changed, and there is a second one.
func (w *world) rebuild() <-chan error {
	w.define("ledger", w.feed.fill(definition, extra))
	w.define("late", w.feed.fill(lateDefinition, ""))
	built := make(chan error, 1)
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() { defer close(done); built <- w.sam.Build(ctx) }()
	w.Cleanup(func() { cancel(); <-done }) // before its folder is removed
	return built
}

// underFire turns pages while processes die in the middle of what they do, up to the first event that waits for a person. Meanwhile the
// other code is deployed over the running one, and what was stored stays.
func (w *world) underFire(built <-chan error) {
	w.gate.arm(
		&strike{function: "poll", call: fetching},
		&strike{function: "apply", call: "TransactWriteItems", skip: 5, after: true},
		&strike{function: "apply", call: "TransactWriteItems", skip: 5},
		&strike{function: "apply", call: "GET object", skip: 2},
		&strike{function: "apply", call: "UpdateItem", skip: 1, after: true}, // the chunk is done, and nobody heard it
		&strike{function: "apply", call: promoting},                          // the page is settled, and not promoted
		&strike{function: "apply", call: promoting, after: true},             // promoted, and nobody sends for the next page
		&strike{function: "poll", call: "PUT object", after: true},
		&strike{function: "poll", call: "TransactWriteItems", after: true},
	)
	before := w.status(stream)
	dead := func() bool {
		return w.depth(w.outputs["ChunkDeadLettersUrl"]) > 0 && w.depth(w.outputs["PollDeadLettersUrl"]) > 0
	}
	w.until("the undefined stream's messages are dead letters", 2*time.Minute, dead)
	w.must(<-built)
	deployed := make(chan error, 1)
	go func() { deployed <- w.sam.Deploy(w.ctx, stackName, parameters()...) }()
	w.turn(heldEvent / perPage)
	w.must(<-deployed)
	w.must(deploy.Mend(w.ctx, w.gate.URL))
	w.mendRoles()
	was := w.outputs
	w.connect()
	for name, v := range was {
		if w.outputs[name] != v {
			w.Errorf("%s was %s, and is %s", name, v, w.outputs[name])
		}
	}
	if after := w.status(stream); after.Version <= before.Version || after.Checkpoint.ResumeCursor == "" {
		w.Fatalf("the stream stood at version %d, and now at %d", before.Version, after.Version)
	}
	w.figures.redeploys++
	w.say("deployed again, at version %d", w.status(stream).Version)
}

// turn drives until page v is promoted. Nothing but redelivery and the sweep makes up for what died.
func (w *world) turn(v handoff.Version) {
	w.until(fmt.Sprintf("page %d is turned", v), 3*time.Minute, w.turned(v))
}

// turnTwice is turn, with the chunks of each page delivered once more while it is open.
func (w *world) turnTwice(v handoff.Version) {
	var seen handoff.Version
	w.until(fmt.Sprintf("page %d is turned, with every message sent twice", v), 3*time.Minute, func() bool {
		st := w.status(stream)
		if st.Page != nil && st.Page.Version > seen {
			seen = st.Page.Version
			w.twice(*st.Page)
		}
		return st.Version > v
	})
}

// release finds the event that policy holds, and lets it go, through the API. The function dies after it wrote the decision.
func (w *world) release(ada *operator) {
	blocked := w.blocked("hold: policy", heldEvent)
	w.gate.arm(&strike{function: "review", call: "TransactWriteItems", after: true})
	d := handoff.Decision{
		ID: "release-1", Stream: stream, Kind: handoff.DecideRelease, Actor: "not asked", Reason: "checked with the customer", Rev: blocked.Rev,
		Event: blocked.ReceiptKey,
	}
	if got := ada.decide(d); got.Outcome != handoff.Released {
		w.Fatalf("released into %s", got.Outcome)
	}
	if w.figures.repeats == 0 {
		w.Error("the review function was struck, and nobody noticed")
	}
	w.until("the released event's page is turned", time.Minute, w.turned(blocked.PageVersion))
}

// conflict finds the event that came with two faces, and keeps the first.
func (w *world) conflict(ada *operator) {
	w.gate.arm(
		&strike{function: "apply", call: "UpdateItem", after: true},
		&strike{function: "poll", call: "SendMessageBatch"},
	)
	blocked := w.blocked("hold: identity_conflict", twoFaced)
	if blocked.Conflict == "" {
		w.Fatalf("the conflict is %+v", blocked)
	}
	got := ada.decide(handoff.Decision{
		ID: "conflict-1", Stream: stream, Kind: handoff.DecideIgnore, Actor: "not asked", Reason: "the first content stands", Rev: blocked.Rev,
		Event: blocked.ReceiptKey,
	})
	if got.Outcome != handoff.Ignored {
		w.Fatalf("ignored into %s", got.Outcome)
	}
	w.turnTwice(firstGate / perPage)
}

// blocked waits until one event blocks the stream, and is the first thing the API shows.
func (w *world) blocked(by string, event int) handoff.Receipt {
	w.until(fmt.Sprintf("event %d blocks the stream (%s)", event, by), 2*time.Minute, func() bool {
		st := w.status(stream)
		return st.Blocked != nil && st.Blocked.By == by
	})
	b := w.status(stream).Blocked
	if want := fmt.Sprintf("%q", recordOf(event).ID); b.Event == nil || b.Event.EventID != want {
		w.Fatalf("blocked by %+v, want event %s", b.Event, want)
	}
	return *b.Event
}

// revive redrives the dead letters of the stream that has a definition by now.
func (w *world) revive() {
	chunks, polls := w.outputs["ChunkDeadLettersUrl"], w.outputs["PollDeadLettersUrl"]
	w.redrive(chunks, w.conf.Chunks)
	w.redrive(polls, w.conf.Polls)
	w.until("the second stream is at its end", 2*time.Minute, func() bool {
		st := w.status(late)
		return st.Page == nil && st.Checkpoint.AppliedPosition.String() == fmt.Sprint(lateTotal)
	})
}

// finish publishes the rest, and drives to the end under fire.
func (w *world) finish() {
	w.gate.arm(
		&strike{function: "apply", call: "TransactWriteItems", skip: 7, after: true},
		&strike{function: "apply", call: "TransactWriteItems", skip: 3},
		&strike{function: "apply", call: "BatchGetItem", skip: 9},
		&strike{function: "apply", call: "SendMessageBatch"},
		&strike{function: "poll", call: fetching},
		&strike{function: "poll", call: "TransactWriteItems", skip: 1, after: true},
	)
	w.feed.publish(total)
	w.turnTwice(pages)
	w.until("all queues are empty", time.Minute, func() bool { return w.depth(w.conf.Chunks)+w.depth(w.conf.Polls) == 0 })
}

// tell prints the figures.
func (w *world) tell() {
	f, kills := w.figures, 0
	for _, n := range w.gate.counts(&w.gate.struck) {
		kills += n
	}
	fmt.Printf("e2e: %d events, %d pages, %d processes killed in a call, %d messages delivered twice, %d redriven, %d redeployed, %.0f s\n",
		total, pages, kills, f.duplicates, f.redrives, f.redeploys, time.Since(w.begun).Seconds())
}
