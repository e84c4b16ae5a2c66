package cloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
)

// doubtful is a store whose next writes are not done, and answer what the test says.
type doubtful struct {
	*memstate.Store
	answers []error // of commits and settlements, in order; nil and none are the store's own
}

func (d *doubtful) next() error {
	if len(d.answers) == 0 {
		return nil
	}
	err := d.answers[0]
	d.answers = d.answers[1:]
	return err
}

func (d *doubtful) Commit(ctx context.Context, tx handoff.Tx) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.Store.Commit(ctx, tx)
}

func (d *doubtful) Settle(ctx context.Context, s handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	if err := d.next(); err != nil {
		out := make([]handoff.SettleResult, len(items))
		for i := range out {
			out[i].Err = err
		}
		return out
	}
	return d.Store.Settle(ctx, s, items)
}

// sink is source, policy and effect of one page of four events: the sink answers each in another way.
type sink struct{}

func (sink) Ask(_ context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	return handoff.Answer{Cursor: c, Status: 200, FetchedAt: now}, nil
}

func (sink) Read(handoff.Answer) handoff.Reading {
	r := handoff.Reading{Kind: handoff.ReadPage, Next: "c1", End: true}
	for _, kind := range []handoff.CallKind{handoff.CallDone, handoff.CallRefused, handoff.CallRetry, handoff.CallUnknown} {
		r.Events = append(r.Events, handoff.Event{ID: fmt.Sprintf("%q", kind), Entity: string(kind), Digest: string(kind)})
	}
	return r
}

func (sink) Judge(handoff.Event) (handoff.Ruling, error) {
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

func (sink) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: handoff.Idempotent, Timeout: time.Second}
}

func (sink) Plan(handoff.Event) ([]handoff.DocChange, error) { return nil, nil }

func (sink) Call(_ context.Context, e handoff.Event, _ string) handoff.CallResult {
	return handoff.CallResult{Kind: handoff.CallKind(e.Entity)}
}

// The protocol tells of every answer of a sink, every write that somebody overtook and every write whose answer did not come, and the
// metrics have the right number of each.
func TestDoubtsAndSinksAreCounted(t *testing.T) {
	t.Parallel()
	s := &stage{now: time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)}
	store := &doubtful{Store: memstate.New()}
	s.rec = cloud.NewRecorder(cloud.Log(&s.out, slog.LevelInfo), cloud.Meter{Out: &s.out, Namespace: "N", Service: "prod"}, s.Now)
	engine := handoff.New(handoff.Deps{State: store, Archive: memstate.NewArchive(), Queue: s, Clock: s, IDs: s, Observer: s.rec})
	b := handoff.Binding{
		Settings: handoff.Settings{Stream: "s", Start: "c0", Pages: 9, Lanes: handoff.LaneEntity, Contract: handoff.Contract{Arrival: true}, Effect: "e"},
		Source:   sink{}, Policy: sink{}, Effect: sink{},
	}
	in := s.rec.Begin(t.Context(), "poll")
	store.answers = []error{handoff.ErrUnknown, nil, handoff.ErrUnknown} // of the start, and of the open: each goes through at its second try
	m := handoff.PollMessage{Stream: "s"}
	r, err := engine.Poll(t.Context(), b, m)
	in.Polled(store, b.Settings, m, r, err)
	in.End()
	got := metricsOf(t, &s.out)
	if err != nil || r.Did != handoff.ActOpened || got["UnknownOutcomes"] != 2 || got["CASConflicts"] != 0 || got["EventsOpened"] != 4 || got["PagesOpened"] != 1 {
		t.Fatalf("%+v, %v: %v", r, err, got)
	}

	in = s.rec.Begin(t.Context(), "apply")
	store.answers = []error{handoff.ErrUnknown}
	a, err := engine.Apply(t.Context(), b, handoff.Delivery{ChunkMessage: s.chunks[0], Receives: 1})
	in.Applied(s.chunks[0], a, err)
	in.End()
	got = metricsOf(t, &s.out)
	want := map[string]float64{
		"UnknownOutcomes": 1, "SinkRefusals": 1, "SinkRetries": 1, "SinkUnknowns": 1, "EventsApplied": 1, "EventsSettled": 1, "EventsHeld": 1, "EventsRetrying": 2,
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%+v, %v: got %v, want %v", a, err, got, want)
	}

	in = s.rec.Begin(t.Context(), "review")
	store.answers = []error{handoff.ErrRefused}
	_, err = engine.Decide(t.Context(), handoff.Decision{ID: "p", Stream: "s", Kind: handoff.DecidePause, Actor: "ada", Reason: "r"})
	in.End()
	if got = metricsOf(t, &s.out); err != nil || got["CASConflicts"] != 1 || got["Decisions"] != 1 {
		t.Fatalf("%v: %v", err, got)
	}
}

// metricsOf reads what was sent under Service alone, and empties the output.
func metricsOf(t *testing.T, out *bytes.Buffer) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for line := range strings.Lines(out.String()) {
		var root map[string]any
		if err := json.Unmarshal([]byte(line), &root); err != nil {
			t.Fatal(err)
		}
		if root["_aws"] == nil {
			continue
		}
		for _, m := range cloud.Metrics() {
			if v, ok := root[m.Name].(float64); ok {
				got[m.Name] = v
			}
		}
	}
	out.Reset()
	return got
}
