package e2e

import (
	"errors"
	"net/http"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// stream is the feed's stream, and late the one that the second deployment adds.
const (
	stream = handoff.Stream("ledger")
	late   = handoff.Stream("late")
)

// tick invokes poll as the schedule does, so that nobody has to wait a minute for what the next one would do. That it fails is no matter:
// its process may be struck.
func (w *world) tick() {
	_, header, err := w.raw("lambda", http.MethodPost, "/2015-03-31/functions/"+w.outputs["PollFunction"]+"/invocations", nil, []byte("{}"))
	w.figures.ticks++
	if err != nil {
		w.say("tick: %v", err)
	} else if fault := header.Get("X-Amz-Function-Error"); fault != "" {
		w.say("tick: the function failed (%s)", fault)
	}
}

// status reads where a stream stands; a stream that nobody started stands nowhere.
func (w *world) status(s handoff.Stream) handoff.StreamStatus {
	w.Helper()
	for try := 1; ; try++ {
		st, err := w.engine.Status(w.ctx, s)
		if err == nil || errors.Is(err, handoff.ErrNotFound) {
			return st
		}
		if try == tries {
			w.Fatalf("status of %s: %v", s, err)
		}
	}
}

// How often the story looks, and how often it ticks.
const (
	look      = 200 * time.Millisecond
	tickEvery = 1500 * time.Millisecond
)

// until ticks and looks until what is waited for is there.
func (w *world) until(what string, limit time.Duration, there func() bool) {
	w.Helper()
	w.wait(what, limit, true, there)
}

// watch is until without ticks: whatever happens, the deployment does by itself.
func (w *world) watch(what string, limit time.Duration, there func() bool) {
	w.Helper()
	w.wait(what, limit, false, there)
}

func (w *world) wait(what string, limit time.Duration, ticks bool, there func() bool) {
	w.Helper()
	end, next := time.Now().Add(limit), time.Now()
	for !there() {
		if time.Now().After(end) {
			st := w.status(stream)
			w.Fatalf("%s: not within %s; version %d, blocked by %+v, page %+v", what, limit, st.Version, st.Blocked, st.Page)
		}
		if ticks && time.Now().After(next) {
			w.tick()
			next = time.Now().Add(tickEvery)
		}
		select {
		case <-time.After(look):
		case <-w.ctx.Done():
			w.Fatal(w.ctx.Err())
		}
	}
	w.say("%s", what)
}

// turned reports that the stream's version is beyond v: page v is promoted.
func (w *world) turned(v handoff.Version) func() bool {
	return func() bool { return w.status(stream).Version > v }
}
