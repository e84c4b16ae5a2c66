package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/localstack/deploy"
	"github.com/turnleaf/turnleaf/localstack/emulator"
)

// stackName is the CloudFormation stack's.
const stackName = "turnleaf-e2e"

// functionSeconds is the longest life of a function here, and visibility what the template makes of it.
const (
	functionSeconds = 2
	visibility      = 6 * functionSeconds * time.Second
)

// world is a deployment and everything around it.
type world struct {
	*testing.T
	ctx      context.Context
	begun    time.Time
	feed     *feed
	gate     *gate
	emulator *emulator.Process
	sam      deploy.SAM
	samLog   *tail
	net      http.RoundTripper
	cfg      aws.Config
	outputs  map[string]string
	conf     config.Review
	engine   *handoff.Engine
	state    *ddbstate.Store
	figures  figures
}

// figures are what is told at the end.
type figures struct {
	ticks, duplicates, redrives, redeploys, repeats int
}

// newWorld starts what a deployment needs: a feed, an emulator behind a gate, and a copy of the tree.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, ctx: t.Context(), begun: time.Now(), feed: newFeed(t), gate: newGate(t), samLog: &tail{}}
	work := t.TempDir()
	var err error
	// AUTH makes MiniStack check signatures and the roles' policies.
	w.emulator, err = emulator.Start(emulator.Options{Through: w.gate.URL, Env: []string{"AUTH=true"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			w.dump()
		}
		if err := w.emulator.Stop(); err != nil {
			t.Errorf("stop the emulator: %v", err)
		}
	})
	w.feed.onAsk = w.gate.atFeed
	w.must(w.gate.open(w.emulator.Endpoint, peers{w.emulator.PID()}))
	w.net = toGate(w.gate.URL)
	w.cfg = aws.Config{
		Region: deploy.Region, Credentials: credentials.NewStaticCredentialsProvider(deploy.Key, deploy.Secret, ""),
		BaseEndpoint: aws.String(w.gate.URL), HTTPClient: &http.Client{Transport: w.net, Timeout: 30 * time.Second},
	}
	root, err := emulator.Root()
	w.must(err)
	w.sam = deploy.SAM{Tree: filepath.Join(work, "tree"), Home: filepath.Join(work, "home"), Endpoint: w.gate.URL, Log: w.samLog}
	w.must(os.MkdirAll(w.sam.Home, 0o700))
	w.must(deploy.CopyTree(w.ctx, root, w.sam.Tree))
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// say logs with the time since the start.
func (w *world) say(format string, args ...any) {
	w.Helper()
	w.Logf("%5.1fs  %s", time.Since(w.begun).Seconds(), fmt.Sprintf(format, args...))
}

// define puts a definition into the tree that is built.
func (w *world) define(name, text string) {
	w.Helper()
	w.must(os.WriteFile(filepath.Join(w.sam.Tree, "streams", name+".yaml"), []byte(text), 0o644))
}

// parameters of the template: this machine's processor, a short life, and a stack that may be thrown away.
func parameters() []string {
	return []string{
		"Architecture=" + deploy.HostArchitecture(), fmt.Sprintf("FunctionSeconds=%d", functionSeconds), "DeletionProtection=false", "LogDays=1",
		"LogLevel=debug", "ArchiveDays=30", "RecordDays=90",
	}
}

// connect reads the stack's outputs and makes clients of what they name.
func (w *world) connect() {
	w.Helper()
	var err error
	w.outputs, err = deploy.Outputs(w.ctx, w.cfg, stackName)
	w.must(err)
	for _, name := range []string{"Poll", "Apply", "Review"} {
		w.gate.name(w.outputs[name+"Function"], map[string]string{"Poll": "poll", "Apply": "apply", "Review": "review"}[name])
	}
	w.conf = config.Review{
		Stores: config.Stores{
			StreamsTable: w.outputs["StreamsTable"], ReceiptsTable: w.outputs["ReceiptsTable"], ProjectionsTable: w.outputs["ProjectionsTable"],
			Bucket: w.outputs["Bucket"], Prefix: w.outputs["Prefix"],
		},
		Queues: config.Queues{Chunks: w.outputs["ChunkQueueUrl"], Polls: w.outputs["PollQueueUrl"]},
		Times:  config.Times{Function: functionSeconds * time.Second, Visibility: visibility, Tick: time.Minute},
	}
	w.engine, w.state = cloud.Engine(w.cfg, w.conf.Stores, w.conf.Queues, w.conf.Times, nil)
}

func (w *world) sqs() *sqs.Client { return sqs.NewFromConfig(w.cfg) }

func (w *world) s3() *s3.Client {
	return s3.NewFromConfig(w.cfg, func(o *s3.Options) { o.UsePathStyle = true })
}

// dump prints what the functions and the emulator said: all there is to go by when a run failed on another machine.
func (w *world) dump() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), 20*time.Second)
	defer cancel()
	was := w.ctx
	w.ctx = ctx
	defer func() { w.ctx = was }()
	w.Logf("calls: %v", w.gate.counts(&w.gate.made))
	w.Logf("denied: %v; killed in: %v; strikes left: %v", w.gate.counts(&w.gate.denied), w.gate.counts(&w.gate.struck), w.gate.left())
	for _, name := range []string{"PollFunction", "ApplyFunction", "ReviewFunction"} {
		lines, err := w.logs(w.outputs[name])
		w.Logf("%s said (%v):\n%s", name, err, bytes.Join(lines[max(0, len(lines)-60):], []byte("\n")))
	}
	w.Logf("sam said:\n%s", w.samLog.text(4000))
	w.Logf("the emulator said:\n%s", w.emulator.Said(12_000))
}

// logs gives what a function wrote, oldest first.
func (w *world) logs(function string) ([][]byte, error) {
	if function == "" {
		return nil, errors.New("it was never deployed")
	}
	group, err := w.logGroup(function)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	in := map[string]any{"logGroupName": group, "limit": 10_000}
	for {
		var got struct {
			Events    []struct{ Message string }
			NextToken string
		}
		if err := w.ask("logs", "Logs_20140328.FilterLogEvents", in, &got); err != nil {
			return out, err
		}
		for _, e := range got.Events {
			out = append(out, []byte(e.Message))
		}
		if got.NextToken == "" || got.NextToken == in["nextToken"] {
			return out, nil
		}
		in["nextToken"] = got.NextToken
	}
}

// logGroup names a function's log group.
func (w *world) logGroup(function string) (string, error) {
	var c struct{ LoggingConfig struct{ LogGroup string } }
	err := w.get("lambda", "/2015-03-31/functions/"+function+"/configuration", &c)
	return c.LoggingConfig.LogGroup, err
}

// tail keeps what was written to it.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(b)
}

func (t *tail) text(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf.Bytes()
	return string(b[max(0, len(b)-n):])
}
