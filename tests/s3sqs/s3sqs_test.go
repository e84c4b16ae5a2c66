// Package s3sqs runs the archive and the queues on whatever speaks S3 and SQS: the emulator that the test starts, the one that
// AWS_ENDPOINT_URL names, or AWS itself.
package s3sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
	"github.com/turnleaf/turnleaf/internal/s3archive"
	"github.com/turnleaf/turnleaf/internal/sqsqueue"
	"github.com/turnleaf/turnleaf/tests/aws/stack"
)

var cloud *stack.Stack

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/s3sqs:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if cloud, err = stack.OpenObjects(context.Background()); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	return m.Run(), nil
}

func TestArchive(t *testing.T) {
	t.Parallel()
	client, bucket := cloud.S3(), cloud.Bucket(t)
	handofftest.ExerciseArchive(t, func(t *testing.T) handoff.Archive {
		t.Helper()
		return s3archive.New(client, bucket, t.Name()+"/")
	})
}

// queues are two real ones, and a way to read them.
type queues struct {
	*testing.T
	client        *sqs.Client
	chunks, polls string
	*sqsqueue.Queue
}

func makeQueues(t *testing.T) queues {
	t.Helper()
	q := queues{T: t, client: sqs.NewFromConfig(cloud.Config)}
	url := func(name string) string {
		out, err := q.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(cloud.Prefix + "-" + t.Name() + "-" + name)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
			defer cancel()
			if _, err := q.client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl}); err != nil {
				t.Errorf("delete queue: %v", err)
			}
		})
		return aws.ToString(out.QueueUrl)
	}
	q.chunks, q.polls = url("chunks"), url("polls")
	q.Queue = sqsqueue.New(q.client, q.chunks, q.polls)
	return q
}

// receive collects n messages, and fails when they do not come.
func (q queues) receive(url string, n int) []string {
	q.Helper()
	var bodies []string
	for until := time.Now().Add(30 * time.Second); len(bodies) < n; {
		if time.Now().After(until) {
			q.Fatalf("%d of %d messages came", len(bodies), n)
		}
		out, err := q.client.ReceiveMessage(q.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1})
		if err != nil {
			q.Fatal(err)
		}
		for _, m := range out.Messages {
			bodies = append(bodies, aws.ToString(m.Body))
			if _, err := q.client.DeleteMessage(q.Context(), &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err != nil {
				q.Fatal(err)
			}
		}
	}
	return bodies
}

// More than two batches of chunks, each exactly once, as what they were.
func TestChunksArrive(t *testing.T) {
	t.Parallel()
	q := makeQueues(t)
	var ms []handoff.ChunkMessage
	for k := range 25 {
		ms = append(ms, handoff.ChunkMessage{Stream: "orders/\"eu\" é", Version: 1 << 60, Chunk: k})
	}
	if err := q.SendChunks(t.Context(), ms, 0); err != nil {
		t.Fatal(err)
	}
	got := map[handoff.ChunkMessage]int{}
	for _, body := range q.receive(q.chunks, len(ms)) {
		var m handoff.ChunkMessage
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err)
		}
		got[m]++
	}
	for _, m := range ms {
		if got[m] != 1 {
			t.Errorf("chunk %d came %d times", m.Chunk, got[m])
		}
	}
}

// A continuation comes on the other queue, not before its delay.
func TestPollsWait(t *testing.T) {
	t.Parallel()
	q := makeQueues(t)
	m := handoff.PollMessage{Stream: "orders", Version: 7, Drive: true, Drain: 3}
	sent := time.Now()
	if err := q.SendPoll(t.Context(), m, 1500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	bodies := q.receive(q.polls, 1)
	if early := time.Since(sent); early < 1500*time.Millisecond {
		t.Errorf("it came after %s", early)
	}
	if want := []string{`{"stream":"orders","version":7,"drive":true,"drain":3}`}; !slices.Equal(bodies, want) {
		t.Errorf("got %v, want %v", bodies, want)
	}
}
