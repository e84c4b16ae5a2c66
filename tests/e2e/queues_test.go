package e2e

import (
	"encoding/json"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// post sends messages to a queue that functions read.
func (w *world) post(queue string, messages ...any) {
	w.Helper()
	for _, m := range messages {
		body, err := json.Marshal(m)
		w.must(err)
		_, err = w.sqs().SendMessage(w.ctx, &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: aws.String(string(body))})
		w.must(err)
	}
}

// twice delivers each chunk of a page once more, as SQS may at any time.
func (w *world) twice(p handoff.Page) {
	w.Helper()
	for chunk := range p.Chunks {
		w.post(w.conf.Chunks, handoff.ChunkMessage{Stream: p.Stream, Version: p.Version, Chunk: chunk})
		w.figures.duplicates++
	}
}

// depth is how many messages a queue has, hidden ones too.
func (w *world) depth(queue string) int {
	w.Helper()
	out, err := w.sqs().GetQueueAttributes(w.ctx, &sqs.GetQueueAttributesInput{QueueUrl: &queue, AttributeNames: []types.QueueAttributeName{
		types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
	}})
	w.must(err)
	n := 0
	for _, v := range out.Attributes {
		k, err := strconv.Atoi(v)
		w.must(err)
		n += k
	}
	return n
}

// redrive moves everything from a dead-letter queue back to where it came from. MiniStack 1.5.33 has no StartMessageMoveTask, so the
// messages are received, sent and deleted, which is what that does.
func (w *world) redrive(dead, source string) {
	w.Helper()
	for w.depth(dead) > 0 {
		out, err := w.sqs().ReceiveMessage(w.ctx, &sqs.ReceiveMessageInput{QueueUrl: &dead, MaxNumberOfMessages: 10, WaitTimeSeconds: 1})
		w.must(err)
		for _, m := range out.Messages {
			_, err := w.sqs().SendMessage(w.ctx, &sqs.SendMessageInput{QueueUrl: &source, MessageBody: m.Body})
			w.must(err)
			_, err = w.sqs().DeleteMessage(w.ctx, &sqs.DeleteMessageInput{QueueUrl: &dead, ReceiptHandle: m.ReceiptHandle})
			w.must(err)
			w.figures.redrives++
		}
	}
}

// queues are all four, by the names of the template's outputs.
func (w *world) queues() map[string]string {
	return map[string]string{
		"ChunkQueueUrl": w.outputs["ChunkQueueUrl"], "ChunkDeadLettersUrl": w.outputs["ChunkDeadLettersUrl"],
		"PollQueueUrl": w.outputs["PollQueueUrl"], "PollDeadLettersUrl": w.outputs["PollDeadLettersUrl"],
	}
}
