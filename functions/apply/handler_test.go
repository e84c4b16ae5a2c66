package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// protocol plays engine and binder.
type protocol struct {
	got     []handoff.Delivery
	effects []handoff.Effect
	report  handoff.ApplyReport
}

var errDown = errors.New("down")

func (p *protocol) Apply(_ context.Context, b handoff.Binding, d handoff.Delivery) (handoff.ApplyReport, error) {
	if b.Stream != d.Stream {
		return handoff.ApplyReport{}, fmt.Errorf("%s is bound for %s", b.Stream, d.Stream)
	}
	p.got, p.effects = append(p.got, d), append(p.effects, b.Effect)
	if d.Stream == "down" {
		return handoff.ApplyReport{}, errDown
	}
	return p.report, nil
}

// named is an effect that can be told from others.
type named struct {
	handoff.Effect
	name string
}

func (p *protocol) Binding(s handoff.Stream) (handoff.Binding, error) {
	if s == "unknown" {
		return handoff.Binding{}, errors.New("no definition of that name")
	}
	return handoff.Binding{Settings: handoff.Settings{Stream: s}, Effect: named{name: "declared"}}, nil
}

func subject(p *protocol) (*handler, *bytes.Buffer) {
	var log bytes.Buffer
	l := cloud.Log(&log, slog.LevelInfo)
	return &handler{engine: p, binder: p, effectOf: custom, rec: cloud.NewRecorder(l, cloud.Meter{}, time.Now)}, &log
}

func record(id, body, receives string) events.SQSMessage {
	m := events.SQSMessage{MessageId: id, Body: body, Attributes: map[string]string{}}
	if receives != "" {
		m.Attributes["ApproximateReceiveCount"] = receives
	}
	return m
}

// event.json is what SQS hands over: the protocol gets the chunk, the deliveries so far, and the end of this invocation.
func TestTheSampleEvent(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("event.json")
	if err != nil {
		t.Fatal(err)
	}
	var e events.SQSEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	p := &protocol{}
	h, log := subject(p)
	if _, err := h.handle(ctx, e); err != nil {
		t.Fatal(err)
	}
	want := handoff.Delivery{ChunkMessage: handoff.ChunkMessage{Stream: "orders", Version: 7, Chunk: 2}, Receives: 1, Deadline: end}
	if !slices.Equal(p.got, []handoff.Delivery{want}) {
		t.Errorf("got %+v, want %+v", p.got, want)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d log lines: %s", n, log)
	}
}

// What could not be judged is named, each message for itself; what was judged is not, held and waiting events included. The list is never
// null: some pollers take that for a poisoned answer.
func TestFailuresAreNamed(t *testing.T) {
	t.Parallel()
	const good = `{"stream":"orders","version":7,"chunk":0}`
	for _, c := range []struct {
		bodies []string
		want   string
	}{
		{nil, `{"batchItemFailures":[]}`},
		{[]string{good}, `{"batchItemFailures":[]}`},
		{[]string{good, `{"stream":"down","version":7,"chunk":0}`, good}, `{"batchItemFailures":[{"itemIdentifier":"m-1"}]}`},
		{[]string{`{"stream":"unknown","version":7,"chunk":0}`, good}, `{"batchItemFailures":[{"itemIdentifier":"m-0"}]}`},
		{[]string{``, `?`, `[]`, `{}`, `{"stream":"orders"}`, `{"version":7}`, `{"stream":"orders","version":-1}`, `{"stream":"orders","version":7,"chunk":"0"}`},
			`{"batchItemFailures":[{"itemIdentifier":"m-0"},{"itemIdentifier":"m-1"},{"itemIdentifier":"m-2"},{"itemIdentifier":"m-3"},` +
				`{"itemIdentifier":"m-4"},{"itemIdentifier":"m-5"},{"itemIdentifier":"m-6"},{"itemIdentifier":"m-7"}]}`},
	} {
		h, _ := subject(&protocol{report: handoff.ApplyReport{Held: 1, Retrying: 1}})
		var e events.SQSEvent
		for i, b := range c.bodies {
			e.Records = append(e.Records, record(fmt.Sprint("m-", i), b, "1"))
		}
		out, err := h.handle(t.Context(), e)
		if err != nil {
			t.Error(err)
		}
		if raw, err := json.Marshal(out); err != nil || string(raw) != c.want {
			t.Errorf("%q answers %s, want %s (%v)", c.bodies, raw, c.want, err)
		}
	}
}

// One Info line with the sums of the batch, and a line for each message that is not acknowledged: the caller of the function is not told why.
func TestOneInfoLine(t *testing.T) {
	t.Parallel()
	h, log := subject(&protocol{report: handoff.ApplyReport{Applied: 20, Ignored: 3, Held: 1, Promoted: true}})
	var e events.SQSEvent
	for i, body := range []string{`{"stream":"orders","version":7,"chunk":0}`, `{"stream":"down","version":7,"chunk":0}`, `?`, `{"stream":"orders","version":7,"chunk":1}`} {
		e.Records = append(e.Records, record(fmt.Sprint("m-", i), body, "1"))
	}
	if _, err := h.handle(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 || strings.Count(log.String(), `"level":"INFO"`) != 1 || !strings.Contains(lines[2], `"level":"INFO"`) {
		t.Fatalf("%d lines: %s", len(lines), log)
	}
	for _, has := range []string{`"records":4`, `"stream":"orders","version":7,"chunk":0`, `"failed":2`, `"class":"internal"`, `"events_applied":40`, `"events_settled":46`, `"events_held":2`} {
		if !strings.Contains(lines[2], has) {
			t.Errorf("no %s in %s", has, lines[2])
		}
	}
}

// A count that cannot be read is not the first: nothing is done blindly.
func TestReceiveCounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"1": 1, "2": 2, "17": 17, "": 2, "0": 2, "-1": 2, "many": 2} {
		p := &protocol{}
		h, _ := subject(p)
		e := events.SQSEvent{Records: []events.SQSMessage{record("m", `{"stream":"orders","version":7,"chunk":0}`, text)}}
		if _, err := h.handle(t.Context(), e); err != nil || len(p.got) != 1 || p.got[0].Receives != want || !p.got[0].Deadline.IsZero() {
			t.Errorf("count %q: %+v, %v; want %d receives", text, p.got, err, want)
		}
	}
}

// The team's own effect is asked for every delivery, with the one that the definition declares; as it stands, it changes nothing.
func TestCustomEffect(t *testing.T) {
	t.Parallel()
	p := &protocol{}
	h, _ := subject(p)
	e := events.SQSEvent{Records: []events.SQSMessage{record("m", `{"stream":"orders","version":7,"chunk":0}`, "1")}}
	if _, err := h.handle(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	h.effectOf = func(s handoff.Stream, declared handoff.Effect) handoff.Effect {
		if s != "orders" || declared != (named{name: "declared"}) {
			t.Errorf("asked with %s and %v", s, declared)
		}
		return named{name: "custom"}
	}
	if _, err := h.handle(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if want := []handoff.Effect{named{name: "declared"}, named{name: "custom"}}; !slices.Equal(p.effects, want) {
		t.Errorf("applied with %v, want %v", p.effects, want)
	}
}
