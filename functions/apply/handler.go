package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// applier is what this function uses of the protocol.
type applier interface {
	Apply(ctx context.Context, b handoff.Binding, d handoff.Delivery) (handoff.ApplyReport, error)
}

// binder finds a stream's settings and adapters.
type binder interface {
	Binding(s handoff.Stream) (handoff.Binding, error)
}

type handler struct {
	engine   applier
	binder   binder
	effectOf func(s handoff.Stream, declared handoff.Effect) handoff.Effect
	rec      *cloud.Recorder
}

// handle settles chunk by chunk and names those that could not be judged: an empty list when there are none, because null would poison
// some pollers and an absent answer deletes everything. What waits or is held is no failure.
func (h *handler) handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	deadline, _ := ctx.Deadline() // zero without one: a test
	in := h.rec.Begin(ctx, "apply")
	defer in.End(slog.Int("records", len(e.Records)))
	for _, rec := range e.Records {
		if err := h.record(ctx, in, rec, deadline); err != nil {
			in.Tell(err)
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: rec.MessageId})
		}
	}
	return out, nil
}

func (h *handler) record(ctx context.Context, in *cloud.Invocation, rec events.SQSMessage, deadline time.Time) error {
	b, m, err := h.chunk(rec.Body)
	if err != nil {
		in.Failed(err)
		return err
	}
	receives, err := strconv.Atoi(rec.Attributes["ApproximateReceiveCount"])
	if err != nil || receives < 1 {
		receives = 2 // unknown: not the first, so nothing is done blindly
	}
	r, err := h.engine.Apply(ctx, b, handoff.Delivery{ChunkMessage: m, Receives: receives, Deadline: deadline})
	in.Applied(m, r, err)
	return err
}

// chunk is what a message names, and the stream's binding with the team's own effect.
func (h *handler) chunk(body string) (handoff.Binding, handoff.ChunkMessage, error) {
	var m handoff.ChunkMessage
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return handoff.Binding{}, m, fmt.Errorf("a message that is not a chunk's: %w", err)
	}
	if m.Stream == "" || m.Version == 0 {
		return handoff.Binding{}, m, &handoff.InvalidError{Reason: "a message that names no page"}
	}
	b, err := h.binder.Binding(m.Stream)
	if err != nil {
		return b, m, fmt.Errorf("apply %s: %w: %w", m.Stream, handoff.ErrConfig, err)
	}
	b.Effect = h.effectOf(m.Stream, b.Effect)
	return b, m, nil
}
