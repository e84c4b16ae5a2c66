package main

import (
	"context"
	"encoding/json"
	"errors"
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
	log      *slog.Logger
	steps    *cloud.Steps
}

// handle settles chunk by chunk and names those that could not be judged: an empty list when there are none, because null would poison
// some pollers and an absent answer deletes everything. What waits or is held is no failure.
func (h *handler) handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	deadline, _ := ctx.Deadline() // zero without one: a test
	for _, rec := range e.Records {
		if err := h.record(ctx, rec, deadline); err != nil {
			h.log.LogAttrs(ctx, slog.LevelError, "apply", slog.Any("err", err))
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: rec.MessageId})
		}
	}
	return out, nil
}

func (h *handler) record(ctx context.Context, rec events.SQSMessage, deadline time.Time) error {
	var m handoff.ChunkMessage
	if err := json.Unmarshal([]byte(rec.Body), &m); err != nil {
		return fmt.Errorf("a message that is not a chunk's: %w", err)
	}
	if m.Stream == "" || m.Version == 0 {
		return errors.New("a message that names no page")
	}
	b, err := h.binder.Binding(m.Stream)
	if err != nil {
		return fmt.Errorf("apply %s: %w", m.Stream, err)
	}
	b.Effect = h.effectOf(m.Stream, b.Effect)
	receives, err := strconv.Atoi(rec.Attributes["ApproximateReceiveCount"])
	if err != nil || receives < 1 {
		receives = 2 // unknown: not the first, so nothing is done blindly
	}
	r, err := h.engine.Apply(ctx, b, handoff.Delivery{ChunkMessage: m, Receives: receives, Deadline: deadline})
	if err != nil {
		return err
	}
	h.log.LogAttrs(ctx, slog.LevelInfo, "apply", slog.String("stream", string(m.Stream)), slog.Uint64("version", uint64(m.Version)),
		slog.Int("chunk", m.Chunk), slog.Int("applied", r.Applied), slog.Int("ignored", r.Ignored), slog.Int("quarantined", r.Quarantined),
		slog.Int("held", r.Held), slog.Int("retrying", r.Retrying), slog.Int("replayed", r.Replayed), slog.Bool("promoted", r.Promoted), h.steps.Take())
	return nil
}
