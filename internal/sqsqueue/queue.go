// Package sqsqueue is handoff.Queue on two Amazon SQS queues: chunks for apply, continuations for poll. Messages are pointers of a few
// hundred bytes; a lost one is healed by the next sweep, so a queue without order and with repetitions is enough.
package sqsqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// API is what this package uses of the SDK.
type API interface {
	SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, opts ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// SQS's limits. A batch may have 1 MiB since 2025, but 256 KiB is what every region, quota and emulator takes, and ten pointers are far
// below it: what is over it is no pointer.
const (
	maxEntries = 10
	maxBytes   = 256 << 10
	maxDelay   = 900 * time.Second
)

// sendTries bounds how often entries that SQS answered as failed are sent; sendWait is the first wait before it, and doubles. After that
// the caller's own recovery is better: the next sweep drives again.
const (
	sendTries = 4
	sendWait  = 50 * time.Millisecond
)

// Queue sends to the two queues.
type Queue struct {
	api    API
	chunks string // URL
	polls  string // URL
}

var _ handoff.Queue = (*Queue)(nil)

// New takes the URLs of the chunk queue and of the continuation queue.
func New(api API, chunks, polls string) *Queue { return &Queue{api, chunks, polls} }

// SendChunks sends one message per chunk.
func (q *Queue) SendChunks(ctx context.Context, ms []handoff.ChunkMessage, delay time.Duration) error {
	bodies := make([]string, len(ms))
	for i, m := range ms {
		b, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode chunk message: %w", err)
		}
		bodies[i] = string(b)
	}
	return q.send(ctx, q.chunks, bodies, delay)
}

// SendPoll sends one continuation.
func (q *Queue) SendPoll(ctx context.Context, m handoff.PollMessage, delay time.Duration) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode poll message: %w", err)
	}
	return q.send(ctx, q.polls, []string{string(b)}, delay)
}

// send cuts bodies into batches by count and by bytes.
func (q *Queue) send(ctx context.Context, url string, bodies []string, delay time.Duration) error {
	seconds := delaySeconds(delay)
	var batch []types.SendMessageBatchRequestEntry
	size := 0
	for i, body := range bodies {
		if len(body) > maxBytes {
			return fmt.Errorf("a message of %d bytes: at most %d", len(body), maxBytes)
		}
		if len(batch) == maxEntries || size+len(body) > maxBytes {
			if err := q.sendBatch(ctx, url, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
		batch = append(batch, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(body), DelaySeconds: seconds})
		size += len(body)
	}
	if len(batch) == 0 {
		return nil
	}
	return q.sendBatch(ctx, url, batch)
}

// delaySeconds rounds up, so that a message never comes before its time.
func delaySeconds(d time.Duration) int32 {
	d = min(max(d, 0), maxDelay)
	return int32((d + time.Second - 1) / time.Second)
}

// sendBatch sends what failed again: SQS answers per entry, and an entry that is ignored is a message that is lost.
func (q *Queue) sendBatch(ctx context.Context, url string, batch []types.SendMessageBatchRequestEntry) error {
	for try, wait := 1, sendWait; ; try, wait = try+1, 2*wait {
		out, err := q.api.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: batch})
		if err != nil {
			return fmt.Errorf("send %d messages: %w: %w", len(batch), handoff.ErrUnknown, err)
		}
		if len(out.Failed) == 0 {
			return nil
		}
		batch = failedOf(batch, out.Failed)
		if try == sendTries {
			return fmt.Errorf("send: %d messages were not taken (%s): %w", len(batch), aws.ToString(out.Failed[0].Code), handoff.ErrUnknown)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("send %d messages: %w: %w", len(batch), handoff.ErrUnknown, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// failedOf gives the entries that were not taken, in their order.
func failedOf(batch []types.SendMessageBatchRequestEntry, failed []types.BatchResultErrorEntry) []types.SendMessageBatchRequestEntry {
	ids := map[string]bool{}
	for _, f := range failed {
		ids[aws.ToString(f.Id)] = true
	}
	return slices.DeleteFunc(slices.Clone(batch), func(e types.SendMessageBatchRequestEntry) bool { return !ids[aws.ToString(e.Id)] })
}
