package sweep

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/tests/aws/stack"
)

// sqsMailbox receives from two queues of its own, as Lambda does for its functions.
type sqsMailbox struct {
	api           *sqs.Client
	clock         *clock
	chunks, polls string // URLs
}

func newMailbox(t *testing.T, cloud *stack.Stack, c *clock) *sqsMailbox {
	t.Helper()
	m := &sqsMailbox{api: sqs.NewFromConfig(cloud.Config), clock: c}
	name := cloud.Prefix + "-" + strings.ToLower(rand.Text()[:8])
	for url, suffix := range map[*string]string{&m.chunks: "-chunks", &m.polls: "-polls"} {
		out, err := m.api.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(name + suffix), Attributes: map[string]string{"VisibilityTimeout": "3600"}})
		if err != nil {
			t.Fatal(err)
		}
		*url = *out.QueueUrl
	}
	return m
}

func (m *sqsMailbox) receive(ctx context.Context, url string) ([]types.Message, error) {
	out, err := m.api.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameApproximateReceiveCount},
	})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

func (m *sqsMailbox) take(ctx context.Context) (due []delivery, err error) {
	messages, err := m.receive(ctx, m.chunks)
	for _, msg := range messages {
		d := delivery{due: m.clock.Now(), handle: *msg.ReceiptHandle}
		if err := json.Unmarshal([]byte(*msg.Body), &d.ChunkMessage); err != nil {
			return nil, err
		}
		if d.receives, err = strconv.Atoi(msg.Attributes["ApproximateReceiveCount"]); err != nil {
			return nil, err
		}
		due = append(due, d)
	}
	return due, err
}

func (m *sqsMailbox) takePolls(ctx context.Context) (polls []handoff.PollMessage, err error) {
	messages, err := m.receive(ctx, m.polls)
	for _, msg := range messages {
		var p handoff.PollMessage
		if err := json.Unmarshal([]byte(*msg.Body), &p); err != nil {
			return nil, err
		}
		if _, err := m.api.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &m.polls, ReceiptHandle: msg.ReceiptHandle}); err != nil {
			return nil, err
		}
		polls = append(polls, p)
	}
	return polls, err
}

// again makes a message visible at once.
func (m *sqsMailbox) again(ctx context.Context, d delivery) error {
	_, err := m.api.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &m.chunks, ReceiptHandle: &d.handle})
	return err
}

func (m *sqsMailbox) done(ctx context.Context, d delivery) error {
	_, err := m.api.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &m.chunks, ReceiptHandle: &d.handle})
	return err
}
