package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// bench is a recorder whose lines and metrics go where a function's do: to one output.
type bench struct {
	*testing.T
	*Recorder
	out bytes.Buffer
	now time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, now: noon}
	b.Recorder = NewRecorder(Log(&b.out, slog.LevelInfo), Meter{Out: &b.out, Namespace: "Turnleaf", Service: "prod", ByStream: true, Slow: time.Minute},
		func() time.Time { return b.now })
	return b
}

func (b *bench) ctx(id string) context.Context {
	return lambdacontext.NewContext(b.Context(), &lambdacontext.LambdaContext{AwsRequestID: id})
}

// take gives the log lines and the numbers since the last call.
func (b *bench) take() (lines []map[string]any, numbers map[string]float64) {
	b.Helper()
	numbers = map[string]float64{}
	for text := range strings.Lines(b.out.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			b.Fatalf("%v: %s", err, text)
		}
		if line["_aws"] == nil {
			lines = append(lines, line)
			continue
		}
		for name, v := range emf(b.T, text) {
			numbers[name] += v
		}
	}
	b.out.Reset()
	return lines, numbers
}

// none reads no holds.
type none struct{ err error }

func (n none) HeldReceipts(context.Context, handoff.Stream, string, int) ([]handoff.Receipt, string, error) {
	return nil, "", n.err
}

func TestAnInvocation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := b.ctx("r-1")
	in := b.Begin(ctx, "poll")
	b.Observe(ctx, handoff.Observation{Step: "open", Stream: "orders", Version: 7, Count: 25})
	b.Observe(ctx, handoff.Observation{Step: "unknown", Stream: "orders"})
	b.now = b.now.Add(1500 * time.Millisecond)
	r := handoff.PollReport{Did: handoff.ActOpened, Version: 7, Events: 25, Replays: 3, Stands: &handoff.Standing{Page: &handoff.Page{OpenedAt: b.now}}}
	in.Polled(none{}, handoff.Settings{Stream: "orders"}, handoff.PollMessage{Stream: "orders"}, r, nil)
	in.End()
	lines, numbers := b.take()
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	delete(lines[0], "time")
	want := `map[cold:true counts:map[events_opened:25 events_replayed:3 pages_opened:1 polls:1 unknown_outcomes:1] did:opened elapsed_ms:1500 level:INFO msg:poll ` +
		`request_id:r-1 steps:map[open:1 unknown:1] stream:orders version:7]`
	if got := fmt.Sprint(lines[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	wantNumbers := map[string]float64{}
	for name, v := range (tally{
		mPolls: 1, mPagesOpened: 1, mEventsOpened: 25, mEventsReplayed: 3, mUnknowns: 1, mHalted: 0, mEmptyStreak: 0, mPageAge: 0, mBlockedAge: 0, mUnapplied: 0,
	}) {
		wantNumbers["Service=prod "+name], wantNumbers["Service=prod,Stream=orders "+name] = v, v
	}
	sameNumbers(t, "metrics", numbers, wantNumbers)

	in = b.Begin(b.ctx("r-2"), "poll") // what was told is not told again
	in.End()
	lines, numbers = b.take()
	if got := fmt.Sprintf("%v %v %v %v", lines[0]["request_id"], lines[0]["cold"], lines[0]["counts"], lines[0]["steps"]); got != "r-2 false <nil> <nil>" || len(numbers) != 0 {
		t.Errorf("%s, %v", got, numbers)
	}
}

// Poll failures count by class; a wait is one, a halt is told at every tick and counts none.
func TestFailuresByClass(t *testing.T) {
	t.Parallel()
	waiting := func(cp handoff.Checkpoint) handoff.PollReport {
		return handoff.PollReport{Did: handoff.ActWaiting, Stands: &handoff.Standing{Checkpoint: cp}}
	}
	for _, c := range []struct {
		r     handoff.PollReport
		err   error
		class Class
		n     float64
	}{
		{handoff.PollReport{Did: handoff.ActCaughtUp}, nil, ClassNone, 0},
		{waiting(handoff.Checkpoint{Failures: 1, FailureClass: "http_503"}), nil, ClassSourceUnavailable, 1},
		{waiting(handoff.Checkpoint{Failures: 9, FailureClass: "throttled"}), nil, ClassSourceThrottled, 1},
		{waiting(handoff.Checkpoint{Failures: 1, FailureClass: "html", RefusedSince: noon}), nil, ClassUnreadable, 1},
		{waiting(handoff.Checkpoint{RefusedSince: noon}), nil, ClassSourceRefused, 1}, {waiting(handoff.Checkpoint{}), nil, ClassArchive, 1},
		{handoff.PollReport{}, handoff.ErrDigest, ClassArchive, 1}, {handoff.PollReport{}, errors.New("x"), ClassInternal, 1},
		{handoff.PollReport{Did: handoff.ActHalted, Stands: &handoff.Standing{Checkpoint: handoff.Checkpoint{Halt: &handoff.Halt{Reason: handoff.HaltConfig}}}}, nil, ClassConfig, 0},
	} {
		b := newBench(t)
		in := b.Begin(b.Context(), "poll")
		in.Polled(none{}, handoff.Settings{Stream: "s"}, handoff.PollMessage{}, c.r, c.err)
		in.End()
		lines, numbers := b.take()
		class, _ := lines[0]["class"].(string)
		if class != string(c.class) || numbers["Service=prod "+groupOf(c.class)] != c.n || c.n > 0 && numbers["Service=prod,Stream=s "+failuresOf(c.class)] != c.n {
			t.Errorf("%+v, %v: class %q, %v", c.r, c.err, class, numbers)
		}
	}
}

// A tick is the heartbeat; trouble with no known stream counts for the service alone, so that nobody makes metrics by naming streams.
func TestTickAndFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.Begin(b.Context(), "tick")
	in.Tick(3, 1)
	in.Failed(handoff.ErrConfig)
	in.End()
	lines, numbers := b.take()
	sameNumbers(t, "metrics", numbers, map[string]float64{"Service=prod Ticks": 1, "Service=prod Orphans": 1, "Service=prod SourceRefusals": 1, "Service=prod FailuresConfig": 1})
	if len(lines) != 1 || lines[0]["streams"] != 3.0 || lines[0]["orphans"] != 1.0 || lines[0]["failed"] != 1.0 {
		t.Error(lines)
	}
	b.Report(b.Context(), errors.New("between invocations"))
	if lines, _ = b.take(); len(lines) != 1 || lines[0]["level"] != "ERROR" {
		t.Error(lines)
	}
}

// One batch of chunks of two streams: each has its numbers, and the service their sums.
func TestAppliedBatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.Begin(b.Context(), "apply")
	in.Applied(handoff.ChunkMessage{Stream: "a", Version: 1}, handoff.ApplyReport{Applied: 2, Ignored: 1, Quarantined: 1, Held: 1, Retrying: 1, Replayed: 5}, nil)
	b.Observe(b.Context(), handoff.Observation{Step: "sink_refused", Stream: "b", EventID: "7"})
	b.Observe(b.Context(), handoff.Observation{Step: "sink_unknown", Stream: "b", EventID: "8"})
	in.Applied(handoff.ChunkMessage{Stream: "b", Version: 2}, handoff.ApplyReport{Applied: 3}, handoff.ErrUnknown)
	in.End()
	lines, numbers := b.take()
	want := map[string]float64{}
	for s, t := range map[string]tally{
		"a": {mEventsApplied: 2, mEventsIgnored: 1, mEventsQuarantined: 1, mEventsSettled: 4, mEventsHeld: 1, mEventsRetrying: 1, mEventsReplayed: 5},
		"b": {mEventsApplied: 3, mEventsSettled: 3, mSinkRefusals: 1, mSinkUnknowns: 1, mOwnFails: 1, failuresOf(ClassStoreUnknown): 1},
	} {
		for name, v := range t {
			want["Service=prod,Stream="+s+" "+name] = v
			want["Service=prod "+name] += v
		}
	}
	sameNumbers(t, "metrics", numbers, want)
	if len(lines) != 1 || lines[0]["class"] != "sink_refused" || lines[0]["stream"] != "a" {
		t.Errorf("lines %v", lines)
	}
}

// Holds that cannot be read cost their gauges, not the poll.
func TestHoldsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.Begin(b.Context(), "poll")
	r := handoff.PollReport{Did: handoff.ActBlocked, Stands: &handoff.Standing{Page: &handoff.Page{OpenedAt: noon}}}
	in.Polled(none{errors.New("slow down")}, handoff.Settings{Stream: "s"}, handoff.PollMessage{}, r, nil)
	in.End()
	lines, numbers := b.take()
	if _, told := numbers["Service=prod HeldCount"]; told || numbers["Service=prod OwnFailures"] != 0 || len(lines) != 2 || lines[0]["level"] != "WARN" {
		t.Errorf("%v, %v", lines, numbers)
	}
}

// Turned off, nothing but log lines is written; a full pipe is told and harms nothing.
func TestMeterOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.meter.Out = nil
	in := b.Begin(b.Context(), "tick")
	in.Tick(1, 0)
	in.End()
	if lines, numbers := b.take(); len(lines) != 1 || len(numbers) != 0 {
		t.Errorf("%v, %v", lines, numbers)
	}
	b.meter.Out = full{}
	in = b.Begin(b.Context(), "tick")
	in.Tick(1, 0)
	in.End()
	if lines, _ := b.take(); len(lines) != 2 || lines[1]["level"] != "WARN" {
		t.Error(lines)
	}
}

// What needs a person is told at once, by its reason alone; no id of the source's is in a line.
func TestSteps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, o := range []handoff.Observation{
		{Step: "settle", Stream: "orders"}, {Step: "open", Stream: "orders"}, {Step: "hold", Stream: "orders", EventID: `"ann@example.com"`, Detail: "late: it lies at ann@example.com"},
		{Step: "halt", Stream: "orders", Detail: "gap: after ann@ comes bob@"}, {Step: "promote", Stream: "orders", Err: handoff.ErrRefused},
	} {
		b.Observe(b.Context(), o)
	}
	if strings.Contains(b.out.String(), "@") {
		t.Error(b.out.String())
	}
	lines, _ := b.take()
	if len(lines) != 3 || lines[0]["why"] != "late" || lines[1]["why"] != "gap" || lines[2]["class"] != "refused" {
		t.Errorf("%d lines: %v", len(lines), lines)
	}
}
