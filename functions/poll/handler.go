package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// poller is what this function uses of the protocol.
type poller interface {
	Poll(ctx context.Context, b handoff.Binding, m handoff.PollMessage) (handoff.PollReport, error)
	Enlist(ctx context.Context, defined []handoff.Stream) (handoff.Roll, error)
	Due(ctx context.Context, s handoff.Stream) (bool, error)
	Keep(ctx context.Context, s handoff.Stream) error
}

// binder finds a stream's settings and adapters.
type binder interface {
	Binding(s handoff.Stream) (handoff.Binding, error)
}

type handler struct {
	engine  poller
	queue   handoff.Queue
	binder  binder
	holds   cloud.Holds
	defined []handoff.Stream // streams that a definition names
	rec     *cloud.Recorder
}

// handle takes a tick or an SQS event of continuations. A tick answers a summary; an SQS event its failures, never null.
func (h *handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	var sqs events.SQSEvent
	if err := json.Unmarshal(raw, &sqs); err == nil && len(sqs.Records) > 0 {
		return h.continuations(ctx, sqs), nil
	}
	in := h.rec.Begin(ctx, "tick")
	defer in.End()
	var t tick
	if err := json.Unmarshal(raw, &t); err != nil {
		err = fmt.Errorf("an event that is neither a tick nor of SQS: %w", err)
		in.Failed(err)
		return nil, err
	}
	streams, err := h.streamsOf(ctx, in, t)
	if err != nil {
		in.Failed(err)
		return nil, err
	}
	return h.fanOut(ctx, in, streams)
}

// poll polls a stream that has a definition; only such a one gets numbers of its own.
func (h *handler) poll(ctx context.Context, in *cloud.Invocation, m handoff.PollMessage) (handoff.PollAct, error) {
	b, err := h.binder.Binding(m.Stream)
	if err != nil {
		err = fmt.Errorf("poll %s: %w: %w", m.Stream, handoff.ErrConfig, err)
		in.Failed(err)
		return "", err
	}
	r, err := h.engine.Poll(ctx, b, m)
	in.Polled(h.holds, b.Settings, m, r, err)
	return r.Did, err
}

// continuations works on messages; the queue hands over one at a time. A message that cannot be read is a failure and ends in the
// dead-letter queue, never a success.
func (h *handler) continuations(ctx context.Context, e events.SQSEvent) events.SQSEventResponse {
	out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	in := h.rec.Begin(ctx, "poll")
	defer in.End()
	for _, rec := range e.Records {
		if err := h.continuation(ctx, in, rec.Body); err != nil {
			in.Tell(err)
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: rec.MessageId})
		}
	}
	return out
}

func (h *handler) continuation(ctx context.Context, in *cloud.Invocation, body string) error {
	var m handoff.PollMessage
	err := json.Unmarshal([]byte(body), &m)
	if err != nil {
		err = fmt.Errorf("a message that is not a poll's: %w", err)
	} else if m.Stream == "" {
		err = &handoff.InvalidError{Reason: "the message names no stream"}
	}
	if err != nil {
		in.Failed(err)
		return err
	}
	_, err = h.poll(ctx, in, m)
	return err
}
