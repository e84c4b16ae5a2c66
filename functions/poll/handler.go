package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// inline is how many streams a tick polls by itself. Two would already be one too many: a source that uses up this invocation's time, at
// every tick, would keep the next one from ever being asked (I11). So more get a message each.
const inline = 1

// poller is what this function uses of the protocol.
type poller interface {
	Poll(ctx context.Context, b handoff.Binding, m handoff.PollMessage) (handoff.PollReport, error)
}

// lister lists the streams that were ever started, partitions included.
type lister interface {
	Streams(ctx context.Context) ([]handoff.StreamEntry, error)
}

// binder finds a stream's settings and adapters.
type binder interface {
	Binding(s handoff.Stream) (handoff.Binding, error)
}

type handler struct {
	engine  poller
	queue   handoff.Queue
	streams lister
	binder  binder
	holds   cloud.Holds
	defined []handoff.Stream // streams that a definition names
	rec     *cloud.Recorder
}

// tick is the scheduler's event: all due streams, or the one it names.
type tick struct {
	Stream handoff.Stream `json:"stream"`
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
	streams, err := h.due(ctx, in, t)
	if err != nil {
		in.Failed(err)
		return nil, err
	}
	return h.fanOut(ctx, in, streams)
}

// due gives the streams of a tick: what definitions name and what was started under one, retired ones left out. Whether one is due to be
// fetched is the protocol's to say: an open page is swept at every tick. One poll by name is no tick.
func (h *handler) due(ctx context.Context, in *cloud.Invocation, t tick) ([]handoff.Stream, error) {
	if t.Stream != "" {
		return []handoff.Stream{t.Stream}, nil
	}
	entries, err := h.streams.Streams(ctx)
	if err != nil {
		return nil, fmt.Errorf("tick: %w", err)
	}
	all, orphans := slices.Clone(h.defined), 0
	for _, e := range entries {
		name, _, _ := strings.Cut(string(e.Stream), "/")
		switch known := slices.Contains(h.defined, handoff.Stream(name)); {
		case !e.RetiredAt.IsZero():
			all = slices.DeleteFunc(all, func(s handoff.Stream) bool { return s == e.Stream })
		case !known:
			h.rec.Observe(ctx, handoff.Observation{Step: "orphan", Stream: e.Stream})
			orphans++
		case !slices.Contains(all, e.Stream):
			all = append(all, e.Stream)
		}
	}
	in.Tick(len(all), orphans)
	return all, nil
}

// fanOut polls a sole stream here, and sends several a message each. One stream's failure stops no other.
func (h *handler) fanOut(ctx context.Context, in *cloud.Invocation, streams []handoff.Stream) (map[string]string, error) {
	done := map[string]string{}
	var errs []error
	for _, s := range streams {
		m := handoff.PollMessage{Stream: s}
		if len(streams) > inline {
			done[string(s)] = "sent"
			if err := h.queue.SendPoll(ctx, m, 0); err != nil {
				in.Failed(err)
				done[string(s)], errs = "failed", append(errs, err)
			}
			continue
		}
		did, err := h.poll(ctx, in, m)
		if done[string(s)] = string(did); err != nil {
			done[string(s)], errs = "failed", append(errs, err)
		}
	}
	return done, errors.Join(errs...)
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
