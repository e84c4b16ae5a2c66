package sqsqueue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/sqsqueue"
)

// call is one SendMessageBatch.
type call struct {
	url    string
	bodies []string
	delay  int32
}

// service takes messages, but for those that reject names, as often as it says.
type service struct {
	calls  []call
	taken  []string
	reject func(body string) bool
	err    error
}

func (s *service) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	if s.err != nil {
		return nil, s.err
	}
	c, out, ids := call{url: aws.ToString(in.QueueUrl)}, &sqs.SendMessageBatchOutput{}, map[string]bool{}
	for i, e := range in.Entries {
		body := aws.ToString(e.MessageBody)
		if i > 0 && e.DelaySeconds != c.delay {
			return nil, errors.New("one batch has several delays")
		}
		if ids[aws.ToString(e.Id)] {
			return nil, errors.New("BatchEntryIdsNotDistinct")
		}
		ids[aws.ToString(e.Id)] = true
		c.bodies, c.delay = append(c.bodies, body), e.DelaySeconds
		if s.reject != nil && s.reject(body) {
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError")})
			continue
		}
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id})
		s.taken = append(s.taken, body)
	}
	s.calls = append(s.calls, c)
	return out, nil
}

func chunks(n int) (ms []handoff.ChunkMessage, bodies []string) {
	for k := range n {
		ms = append(ms, handoff.ChunkMessage{Stream: "orders/eu", Version: 7, Chunk: k})
		bodies = append(bodies, fmt.Sprintf(`{"stream":"orders/eu","version":7,"chunk":%d}`, k))
	}
	return ms, bodies
}

// Ten at most go at a time, every one of them, to the queue of chunks.
func TestBatches(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][]int{0: nil, 1: {1}, 10: {10}, 11: {10, 1}, 100: {10, 10, 10, 10, 10, 10, 10, 10, 10, 10}} {
		s := &service{}
		ms, bodies := chunks(n)
		if err := sqsqueue.New(s, "chunks", "polls").SendChunks(t.Context(), ms, 0); err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for _, c := range s.calls {
			sizes = append(sizes, len(c.bodies))
			if c.url != "chunks" {
				t.Errorf("sent to %s", c.url)
			}
		}
		if !slices.Equal(sizes, want) || !slices.Equal(s.taken, bodies) {
			t.Errorf("%d messages went as %v: %q", n, sizes, s.taken)
		}
	}
}

func TestPolls(t *testing.T) {
	t.Parallel()
	s := &service{}
	q := sqsqueue.New(s, "chunks", "polls")
	for _, m := range []handoff.PollMessage{{Stream: "orders"}, {Stream: "orders", Version: 7, Drive: true, Drain: 3}} {
		if err := q.SendPoll(t.Context(), m, 0); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`{"stream":"orders"}`, `{"stream":"orders","version":7,"drive":true,"drain":3}`}
	if !slices.Equal(s.taken, want) || s.calls[0].url != "polls" {
		t.Errorf("sent %q to %s", s.taken, s.calls[0].url)
	}
}

// A message never comes before its time, as far as SQS can wait.
func TestDelays(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int32{
		-time.Second: 0, 0: 0, 1: 1, time.Second: 1, time.Second + 1: 2, 90 * time.Second: 90, 15 * time.Minute: 900, time.Hour: 900, 1<<63 - 1: 900,
	} {
		s := &service{}
		q := sqsqueue.New(s, "chunks", "polls")
		ms, _ := chunks(1)
		if err := errors.Join(q.SendChunks(t.Context(), ms, d), q.SendPoll(t.Context(), handoff.PollMessage{Stream: "orders"}, d)); err != nil {
			t.Fatal(err)
		}
		for _, c := range s.calls {
			if c.delay != want {
				t.Errorf("%s is %d s on %s, want %d", d, c.delay, c.url, want)
			}
		}
	}
}

// The bytes of a batch are counted, and what could never be sent is an error.
func TestSizes(t *testing.T) {
	t.Parallel()
	const limit = 256 << 10
	long := func(n int) handoff.ChunkMessage {
		return handoff.ChunkMessage{Stream: handoff.Stream(strings.Repeat("s", n-len(`{"stream":"","version":7,"chunk":0}`))), Version: 7}
	}
	for _, c := range []struct {
		name  string
		sizes []int
		want  []int // messages a batch; nil is refused
	}{
		{"the limit", []int{limit}, []int{1}},
		{"together the limit", []int{limit / 2, limit / 2}, []int{2}},
		{"together one over", []int{limit / 2, limit/2 + 1}, []int{1, 1}},
		{"twice the limit", []int{limit / 2, limit / 2, limit / 2, limit / 2}, []int{2, 2}},
		{"each the limit", []int{limit, limit, 100}, []int{1, 1, 1}},
		{"one over the limit", []int{100, limit + 1}, nil},
	} {
		s := &service{}
		var ms []handoff.ChunkMessage
		for _, n := range c.sizes {
			ms = append(ms, long(n))
		}
		err := sqsqueue.New(s, "chunks", "polls").SendChunks(t.Context(), ms, 0)
		var got []int
		for _, call := range s.calls {
			got = append(got, len(call.bodies))
		}
		if (err == nil) != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: batches of %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// Entries that SQS did not take are sent again, they alone; in the end every one was taken once.
func TestFailedEntriesAreSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, refused := &service{}, map[string]int{}
		s.reject = func(body string) bool { // 3 fails once, 7 three times
			refused[body]++
			return strings.Contains(body, `"chunk":3}`) && refused[body] <= 1 || strings.Contains(body, `"chunk":7}`) && refused[body] <= 3
		}
		ms, bodies := chunks(12)
		if err := sqsqueue.New(s, "chunks", "polls").SendChunks(t.Context(), ms, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		slices.Sort(s.taken)
		slices.Sort(bodies)
		if !slices.Equal(s.taken, bodies) {
			t.Errorf("taken %q", s.taken)
		}
		var sizes []int
		for _, c := range s.calls {
			sizes = append(sizes, len(c.bodies))
			if c.delay != 5 {
				t.Errorf("a delay of %d s", c.delay)
			}
		}
		if !slices.Equal(sizes, []int{10, 2, 1, 1, 2}) {
			t.Errorf("batches of %v", sizes)
		}
	})
}

// Tries are bounded, and a message that was never taken is never a success.
func TestEntriesThatNeverPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{reject: func(body string) bool { return strings.Contains(body, `"chunk":0}`) }}
		ms, _ := chunks(2)
		begun := time.Now()
		err := sqsqueue.New(s, "chunks", "polls").SendChunks(t.Context(), ms, 0)
		if !errors.Is(err, handoff.ErrUnknown) || !strings.Contains(err.Error(), "InternalError") || len(s.calls) != 4 || len(s.taken) != 1 {
			t.Errorf("%v after %d calls, taken %q", err, len(s.calls), s.taken)
		}
		if waited := time.Since(begun); waited != 350*time.Millisecond {
			t.Errorf("waited %s", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
		defer cancel()
		s.calls = nil
		if err := sqsqueue.New(s, "chunks", "polls").SendChunks(ctx, ms, 0); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, handoff.ErrUnknown) || len(s.calls) != 2 {
			t.Errorf("%v after %d calls and the caller's end", err, len(s.calls))
		}
	})
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	s := &service{err: errors.New("connection reset")}
	q := sqsqueue.New(s, "chunks", "polls")
	ms, _ := chunks(1)
	for _, err := range []error{q.SendChunks(t.Context(), ms, 0), q.SendPoll(t.Context(), handoff.PollMessage{Stream: "orders"}, 0)} {
		if !errors.Is(err, handoff.ErrUnknown) || !errors.Is(err, s.err) {
			t.Errorf("got %v", err)
		}
	}
}
