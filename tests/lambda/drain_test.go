package lambda

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/tests/aws/stack"
)

var (
	world    *stack.Stack
	binaries string
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/lambda:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if binaries, err = os.MkdirTemp("", "turnleaf-functions-"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(binaries)) }()
	for _, name := range []string{"poll", "apply", "review"} {
		build := exec.Command("go", "build", "-buildvcs=false", "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(binaries, name), "../../functions/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("build %s: %w: %s", name, err, out)
		}
	}
	if world, err = stack.Open(context.Background()); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	return m.Run(), nil
}

// total and pageSize: 16 pages, each repeating the last two events of the one before.
const (
	total    = 400
	pageSize = 25
	heldID   = 137
)

// feedServer hands out opaque tokens.
func feedServer(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("cursor"))
		at, _ := strconv.Atoi(strings.TrimPrefix(string(raw), "at-"))
		to := min(at+pageSize, total)
		page := []any{}
		for i := max(at-2, 0); i < to; i++ {
			page = append(page, map[string]any{"id": fmt.Sprintf("e%03d", i), "seq": i, "account": fmt.Sprintf("a%d", i%7), "amount": i})
		}
		next := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "at-%d", to))
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"events": page, "next": next, "has_more": to < total})
	}))
	t.Cleanup(server.Close)
	return server
}

const definition = `
start: beginning
source:
  url: %s/events
  allow_private: true
  events: body.events
  end: "!body.has_more"
  cursor: {token: body.next, send: "query:cursor"}
event: {id: event.id, position: event.seq, entity: event.account}
contract: {positions: unique, overlap: true}
policy:
  - {name: ask, when: 'event.id == "e137"', then: held}
effect:
  projection:
    add: {n: 1, sum: event.amount}
`

// site is a deployment: tables, bucket, queues, and the three functions.
type site struct {
	*testing.T
	ctx    context.Context
	env    []string
	sqs    *sqs.Client
	conf   config.Worker
	funcs  map[string]*function
	killed int
}

func deploy(t *testing.T, name, text string) *site {
	t.Helper()
	s := &site{T: t, ctx: t.Context(), sqs: sqs.NewFromConfig(world.Config), funcs: map[string]*function{}}
	tables := world.Tables(t)
	bucket := world.Bucket(t)
	folder := definitionFolder(t, name, text)
	s.conf = config.Worker{
		Stores: config.Stores{StreamsTable: tables.Streams, ReceiptsTable: tables.Receipts, ProjectionsTable: tables.Projections, Bucket: bucket},
		Queues: config.Queues{Chunks: s.queue(name + "-chunks"), Polls: s.queue(name + "-polls")},
		Times:  config.Times{Function: 2 * time.Second, Visibility: 12 * time.Second, Tick: time.Minute},
	}
	credentials, err := world.Config.Credentials.Retrieve(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	s.env = []string{
		"AWS_REGION=" + world.Config.Region, "AWS_ACCESS_KEY_ID=" + credentials.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + credentials.SecretAccessKey,
		"AWS_SESSION_TOKEN=" + credentials.SessionToken,
		"TURNLEAF_STREAMS_TABLE=" + tables.Streams, "TURNLEAF_RECEIPTS_TABLE=" + tables.Receipts, "TURNLEAF_PROJECTIONS_TABLE=" + tables.Projections,
		"TURNLEAF_BUCKET=" + bucket, "TURNLEAF_CHUNK_QUEUE=" + s.conf.Chunks, "TURNLEAF_POLL_QUEUE=" + s.conf.Polls,
		"TURNLEAF_FUNCTION_SECONDS=2", "TURNLEAF_VISIBILITY_SECONDS=12", "TURNLEAF_STREAMS=" + folder,
	}
	if !world.Real() {
		s.env = append(s.env, "AWS_ENDPOINT_URL="+world.Endpoint)
	}
	t.Cleanup(func() {
		for _, f := range s.funcs {
			_ = f.stop() // its process is this test's
		}
	})
	return s
}

func (s *site) queue(name string) string {
	s.Helper()
	out, err := s.sqs.CreateQueue(s.ctx, &sqs.CreateQueueInput{QueueName: aws.String(world.Prefix + "-" + name)})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 30*time.Second)
		defer cancel()
		if _, err := s.sqs.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl}); err != nil {
			s.Errorf("delete queue: %v", err)
		}
	})
	return aws.ToString(out.QueueUrl)
}

// fn is a warm function, started when it is not running.
func (s *site) fn(name string) *function {
	s.Helper()
	f := s.funcs[name]
	if f != nil {
		select {
		case <-f.gone:
		default:
			return f
		}
	}
	f, err := start(filepath.Join(binaries, name), name, s.env)
	if err != nil {
		s.Fatal(err)
	}
	s.funcs[name] = f
	return f
}

// pump plays the event source mapping of one queue: receive, invoke, delete what did not fail. It reports how many messages there were.
func (s *site) pump(queue, name string, batch int32) int {
	s.Helper()
	out, err := s.sqs.ReceiveMessage(s.ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &queue, MaxNumberOfMessages: batch, VisibilityTimeout: 12, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"ApproximateReceiveCount"},
	})
	if err != nil {
		s.Fatal(err)
	}
	if len(out.Messages) == 0 {
		return 0
	}
	event := events.SQSEvent{}
	for _, m := range out.Messages {
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: aws.ToString(m.MessageId), Body: aws.ToString(m.Body), Attributes: m.Attributes, ReceiptHandle: aws.ToString(m.ReceiptHandle),
		})
	}
	raw, err := s.fn(name).invoke(s.ctx, event, 10*time.Second)
	failed := map[string]bool{}
	switch {
	case errors.Is(err, errDied): // everything comes again
		for _, m := range out.Messages {
			failed[aws.ToString(m.MessageId)] = true
		}
	case err != nil:
		s.Fatal(err)
	default:
		if !bytes.Contains(raw, []byte(`"batchItemFailures":[`)) {
			s.Fatalf("%s answered %s", name, raw)
		}
		var resp events.SQSEventResponse
		if err := json.Unmarshal(raw, &resp); err != nil {
			s.Fatal(err)
		}
		for _, f := range resp.BatchItemFailures {
			failed[f.ItemIdentifier] = true
		}
	}
	for _, m := range out.Messages {
		if failed[aws.ToString(m.MessageId)] {
			_, err = s.sqs.ChangeMessageVisibility(s.ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0})
		} else {
			_, err = s.sqs.DeleteMessage(s.ctx, &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle})
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	return len(out.Messages)
}

// review calls the operators' API through its function.
func (s *site) review(method, path, body string, into any) {
	s.Helper()
	event := events.APIGatewayV2HTTPRequest{RawPath: path, Body: body, Headers: map[string]string{"content-type": "application/json"}}
	event.RequestContext.HTTP.Method = method
	event.RequestContext.Stage = "$default"
	event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
		IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{UserARN: "arn:aws:iam::000000000000:user/ada"},
	}
	raw, err := s.fn("review").invoke(s.ctx, event, 10*time.Second)
	if err != nil {
		s.Fatal(err)
	}
	var resp events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(raw, &resp); err != nil || resp.StatusCode != http.StatusOK {
		s.Fatalf("%s %s: %s, %v", method, path, raw, err)
	}
	if err := json.Unmarshal([]byte(resp.Body), into); err != nil {
		s.Fatal(err)
	}
}

// A tick, then only what the functions send each other, until nothing moves. One apply is killed in flight, one event is held and
// released through the API.
func TestFunctionsDrainAFeed(t *testing.T) {
	s := deploy(t, "ledger", fmt.Sprintf(definition, feedServer(t).URL))
	released := false
	for quiet, ticks := 0, 0; quiet < 4; {
		if f := s.fn("apply"); s.killed < 2 && f.n == 3+4*s.killed {
			f.mu.Lock()
			f.onGive = func() { s.killed++; _ = f.process.Process.Kill() } // while it works
			f.mu.Unlock()
		}
		moved := s.pump(s.conf.Chunks, "apply", 5) + s.pump(s.conf.Polls, "poll", 1)
		if moved > 0 {
			quiet = 0
			continue
		}
		if quiet++; quiet < 3 {
			continue
		}
		time.Sleep(100 * time.Millisecond) // what a dead process held comes back in its own time
		if ticks++; ticks > 600 {
			t.Fatal("the feed was never drained")
		}
		if _, err := s.fn("poll").invoke(s.ctx, struct{}{}, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		var st handoff.StreamStatus
		s.review("GET", "/v1/streams/ledger", "", &st)
		if b := st.Blocked; b != nil && b.Event != nil && !released {
			s.release(*b.Event)
			released = true
		}
		if st.Page != nil || st.Blocked != nil || st.Checkpoint.AppliedPosition.String() != strconv.Itoa(total-1) {
			quiet = 0
		}
	}
	if !released || s.killed < 2 {
		t.Fatalf("released %v, killed %d: the story was not told", released, s.killed)
	}
	s.audit()
}

func (s *site) release(r handoff.Receipt) {
	s.Helper()
	if r.EventID != fmt.Sprintf("%q", fmt.Sprintf("e%03d", heldID)) {
		s.Fatalf("%s is held (%s)", r.EventID, r.Reason)
	}
	var answer handoff.DecisionAnswer
	path := "/v1/streams/ledger/events/" + r.EventID + "/decisions" // decoded, as an HTTP API hands it over
	s.review("POST", path, fmt.Sprintf(`{"kind":"release","reason":"checked","rev":%d}`, r.Rev), &answer)
	if answer.Outcome != handoff.Released {
		s.Fatalf("released into %s", answer.Outcome)
	}
}

// audit compares the projection with the feed's own sums, and walks the invariants.
func (s *site) audit() {
	s.Helper()
	engine, state := cloud.Engine(world.Config, s.conf.Stores, s.conf.Queues, s.conf.Times, nil)
	violations, err := engine.CheckInvariants(s.ctx, "ledger")
	if err != nil || len(violations) > 0 {
		s.Fatalf("invariants: %v %v", violations, err)
	}
	for a := range 7 {
		n, sum := 0, 0
		for i := a; i < total; i += 7 {
			n, sum = n+1, sum+i
		}
		doc, err := state.Doc(s.ctx, "ledger", fmt.Sprintf("a%d", a))
		if err != nil {
			s.Fatal(err)
		}
		if got, want := string(doc.Fields["n"])+" "+string(doc.Fields["sum"]), fmt.Sprintf("%d %d", n, sum); got != want {
			s.Errorf("account a%d holds %s, want %s", a, got, want)
		}
	}
	audits, _, err := state.Audits(s.ctx, "ledger", "", 10)
	if err != nil || len(audits) != 1 || audits[0].Actor != "arn:aws:iam::000000000000:user/ada" {
		s.Errorf("audit %+v, %v", audits, err)
	}
}
