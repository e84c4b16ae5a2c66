package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/turnleaf/turnleaf/internal/bind"
	deployment "github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/httpsource"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// program is the command line as a user runs it against a stack.
type program struct {
	*testing.T
	path, folder string
	env          []string
}

// run gives what it printed and its exit code.
func (p program) run(args ...string) (string, int) {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), p.path, args...)
	cmd.Dir, cmd.Env = p.folder, p.env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (p program) must(args ...string) string {
	p.Helper()
	out, code := p.run(args...)
	if code != 0 {
		p.Fatalf("turnleaf %s: exit %d: %s", strings.Join(args, " "), code, out)
	}
	return out
}

const cliDefinition = `
source:
  url: %s/events
  allow_private: true
  events: body.data
  end: "true"
  cursor: {token: body.next, send: "query:cursor"}
event: {id: event.id, position: event.seq, entity: event.key}
policy: [{name: ask, when: 'event.id == "b"', then: held}]
effect: {projection: {add: {n: 1}}}
`

// The command line on a deployed stack: a stream is started from a token of before, an event is held, shown and released, and everything
// is in the tables.
func TestCommandLineOnAStack(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") != "saved-token" {
			_, _ = w.Write([]byte(`{"data":[],"next":"T2"}`))
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"id":"a","seq":1,"key":"k"},{"id":"b","seq":2,"key":"k"}],"next":"T2"}`))
	}))
	t.Cleanup(server.Close)
	tables, bucket := cloud.Tables(t), cloud.Bucket(t)
	queues := sqs.NewFromConfig(cloud.Config)
	queue := func(name string) string {
		out, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(bucket + "-" + name)})
		if err != nil {
			t.Fatal(err)
		}
		return aws.ToString(out.QueueUrl)
	}
	c := config.Worker{
		Stores: config.Stores{StreamsTable: tables.Streams, ReceiptsTable: tables.Receipts, ProjectionsTable: tables.Projections, Bucket: bucket},
		Queues: config.Queues{Chunks: queue("chunks"), Polls: queue("polls")},
		Times:  config.Times{Function: 2 * time.Second, Visibility: 12 * time.Second, Tick: time.Minute},
	}
	p := program{T: t, path: filepath.Join(t.TempDir(), "turnleaf"), folder: t.TempDir()}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", p.path, "../../cmd/turnleaf").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	credentials, err := cloud.Config.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.env = []string{
		"HOME=" + p.folder, "USER=ada", "AWS_REGION=" + cloud.Config.Region, "AWS_ACCESS_KEY_ID=" + credentials.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + credentials.SecretAccessKey, "AWS_SESSION_TOKEN=" + credentials.SessionToken,
		"TURNLEAF_STREAMS_TABLE=" + tables.Streams, "TURNLEAF_RECEIPTS_TABLE=" + tables.Receipts, "TURNLEAF_PROJECTIONS_TABLE=" + tables.Projections,
		"TURNLEAF_BUCKET=" + bucket, "TURNLEAF_CHUNK_QUEUE=" + c.Chunks,
	}
	if cloud.Endpoint != "" {
		p.env = append(p.env, "AWS_ENDPOINT_URL="+cloud.Endpoint)
	}
	if out, code := p.run("held"); code != 2 || !strings.Contains(out, "TURNLEAF_POLL_QUEUE: is not set") {
		t.Fatalf("without one of the parts: exit %d: %s", code, out)
	}
	p.env = append(p.env, "TURNLEAF_POLL_QUEUE="+c.Polls)

	if err := os.Mkdir(filepath.Join(p.folder, "streams"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Appendf(nil, cliDefinition, server.URL)
	if err := os.WriteFile(filepath.Join(p.folder, "streams", "feed.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	p.must("streams", "start", "feed", "--at", "saved-token", "--reason", "taken over")
	poll(t, c, text)

	if out := p.must("held", "feed"); !strings.Contains(out, "policy: ask") {
		t.Fatalf("held says %s", out)
	}
	if out := p.must("show", "feed"); !strings.HasPrefix(out, "feed is blocked by hold: policy of event b") {
		t.Fatalf("show says %s", out)
	}
	if out := p.must("show", "feed", "b"); !strings.Contains(out, `"seq": 2`) {
		t.Fatalf("the payload is not shown: %s", out)
	}
	p.must("resolve", "feed", "b", "--as", "release", "--reason", "checked")
	poll(t, c, text)
	var st handoff.StreamStatus
	if err := json.Unmarshal([]byte(p.must("show", "feed", "--json")), &st); err != nil || st.Blocked != nil || st.Version != 2 {
		t.Fatalf("status %+v, %v", st, err)
	}
	if out := p.must("docs", "feed"); !strings.Contains(out, `"n":2`) {
		t.Fatalf("docs say %s", out)
	}
	if out := p.must("check", "feed"); !strings.Contains(out, "every invariant holds") {
		t.Fatalf("check says %s", out)
	}
	if out := p.must("audit-log", "feed"); !strings.Contains(out, "by ada") || !strings.Contains(out, "checked") {
		t.Fatalf("the record says %s", out)
	}
	if _, err := os.Stat(filepath.Join(p.folder, ".turnleaf")); !os.IsNotExist(err) {
		t.Errorf("the data folder was touched: %v", err)
	}
}

// poll plays one tick and the deliveries of its chunk messages, as the functions would.
func poll(t *testing.T, c config.Worker, text []byte) {
	t.Helper()
	d, err := streamdef.Parse("feed.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.New([]*streamdef.Definition{d}, bind.Options{Now: time.Now, Secrets: httpsource.HostSecrets{}}).Binding("feed")
	if err != nil {
		t.Fatal(err)
	}
	engine, _ := deployment.Engine(cloud.Config, c.Stores, c.Queues, c.Times, nil)
	if _, err := engine.Poll(t.Context(), b, handoff.PollMessage{Stream: "feed", Drive: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Apply(t.Context(), b, handoff.Delivery{ChunkMessage: handoff.ChunkMessage{Stream: "feed", Version: 1}, Receives: 1}); err != nil {
		t.Fatal(err)
	}
}
