package lambda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// one is an SQS event of one message.
func one(body string) events.SQSEvent {
	return events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m-1", Body: body, Attributes: map[string]string{"ApproximateReceiveCount": "1"}}}}
}

// What no function sends is named as failed, so that it ends in the dead-letter queue; what is of no page any more is done.
func TestForeignMessages(t *testing.T) {
	s := deploy(t, "foreign", fmt.Sprintf(definition, feedServer(t).URL))
	const failed, done = `{"batchItemFailures":[{"itemIdentifier":"m-1"}]}`, `{"batchItemFailures":[]}`
	for _, c := range []struct{ function, body, want string }{
		{"apply", `?`, failed}, {"apply", `{"stream":"foreign"}`, failed}, {"apply", `{"stream":"nobody","version":1,"chunk":0}`, failed},
		{"apply", `{"stream":"foreign","version":99,"chunk":0}`, done},
		{"poll", `?`, failed}, {"poll", `{"stream":"nobody"}`, failed}, {"poll", `{"stream":"foreign","version":99}`, done},
	} {
		raw, err := s.fn(c.function).invoke(s.ctx, one(c.body), 10*time.Second)
		if err != nil || string(bytes.TrimSpace(raw)) != c.want {
			t.Errorf("%s of %s answers %s, %v; want %s", c.function, c.body, raw, err, c.want)
		}
	}
}

// Near its end, a function applies nothing, fails nothing, and hands its chunk on.
func TestDeadline(t *testing.T) {
	s := deploy(t, "deadline", fmt.Sprintf(definition, feedServer(t).URL))
	if _, err := s.fn("poll").invoke(s.ctx, struct{}{}, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	first := s.receive()
	raw, err := s.fn("apply").invoke(s.ctx, one(first), 499*time.Millisecond) // the margin of a life of 2 s is half a second
	if err != nil || string(bytes.TrimSpace(raw)) != `{"batchItemFailures":[]}` {
		t.Fatalf("%s, %v", raw, err)
	}
	var st handoff.StreamStatus
	s.review("GET", "/v1/streams/deadline", "", &st)
	if st.Page == nil || st.Checkpoint.Version != 1 {
		t.Errorf("the page was turned: %+v", st)
	}
	if again := s.receive(); again != first {
		t.Errorf("handed on %s, want %s", again, first)
	}
}

// receive waits for one message of the chunk queue, and deletes it.
func (s *site) receive() string {
	s.Helper()
	out, err := s.sqs.ReceiveMessage(s.ctx, &sqs.ReceiveMessageInput{QueueUrl: &s.conf.Chunks, MaxNumberOfMessages: 1, WaitTimeSeconds: 5})
	if err != nil {
		s.Fatal(err)
	}
	if len(out.Messages) != 1 {
		s.Fatalf("%d messages", len(out.Messages))
	}
	if _, err := s.sqs.DeleteMessage(s.ctx, &sqs.DeleteMessageInput{QueueUrl: &s.conf.Chunks, ReceiptHandle: out.Messages[0].ReceiptHandle}); err != nil {
		s.Fatal(err)
	}
	return aws.ToString(out.Messages[0].Body)
}

// A request that no authorizer vouched for gets nothing from the real function either.
func TestReviewRefusesNobody(t *testing.T) {
	s := deploy(t, "nobody", fmt.Sprintf(definition, feedServer(t).URL))
	event := events.APIGatewayV2HTTPRequest{RawPath: "/v1/streams", Headers: map[string]string{"turnleaf-actor": "mallory"}}
	event.RequestContext.HTTP.Method = http.MethodGet
	raw, err := s.fn("review").invoke(s.ctx, event, 10*time.Second)
	var resp events.APIGatewayV2HTTPResponse
	if err != nil || json.Unmarshal(raw, &resp) != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s, %v", raw, err)
	}
}

// A function that is told too little ends at once and says what is missing, all of it.
func TestStartWithoutSettings(t *testing.T) {
	for _, name := range []string{"poll", "apply", "review"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, name))
		cmd.Env = []string{"AWS_LAMBDA_RUNTIME_API=127.0.0.1:1", "AWS_REGION=us-east-1", "TURNLEAF_BUCKET=b"}
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s started", name)
		}
		for _, missing := range []string{"TURNLEAF_STREAMS_TABLE", "TURNLEAF_RECEIPTS_TABLE", "TURNLEAF_PROJECTIONS_TABLE", "TURNLEAF_CHUNK_QUEUE", "TURNLEAF_POLL_QUEUE"} {
			if !strings.Contains(string(out), missing) {
				t.Errorf("%s does not name %s: %s", name, missing, out)
			}
		}
	}
}

// Cold starts: from the start of the process until it asks for work.
func TestColdStarts(t *testing.T) {
	s := deploy(t, "cold", fmt.Sprintf(definition, feedServer(t).URL))
	for _, name := range []string{"poll", "apply", "review"} {
		f := s.fn(name)
		select {
		case at := <-f.asked:
			t.Logf("%s asks for work after %s", name, at.Sub(f.started).Round(time.Millisecond))
		case <-time.After(10 * time.Second):
			t.Errorf("%s never asks for work", name)
		}
	}
}
