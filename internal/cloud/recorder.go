package cloud

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Meter says where metrics go and under which names.
type Meter struct {
	Out       io.Writer // the function's standard output; nil sends none
	Namespace string
	Service   string // the stack: several in one account stay apart
	ByStream  bool   // a second set of numbers for each stream
	// Slow is how long a page may be open before its stream counts as blocked, hold or not.
	Slow time.Duration
}

// Recorder is the protocol's Observer in a function: it writes what one invocation did as one Info line and as metrics. One serves a
// whole process, whose invocations follow one another.
type Recorder struct {
	log   *slog.Logger
	meter Meter
	now   func() time.Time

	mu      sync.Mutex
	warm    bool        // guarded by mu: an invocation began before
	current *Invocation // guarded by mu, and so is what it counts; nil between invocations
}

// NewRecorder makes a recorder.
func NewRecorder(log *slog.Logger, m Meter, now func() time.Time) *Recorder {
	return &Recorder{log: log, meter: m, now: now}
}

// Observe counts and logs one step.
func (r *Recorder) Observe(ctx context.Context, o handoff.Observation) {
	r.mu.Lock()
	if i := r.current; i != nil {
		i.steps[o.Step]++
		if name, n := countOf(o); name != "" {
			i.of(o.Stream).add(name, n)
		}
		switch o.Step {
		case "open":
			i.of(o.Stream).add(mEventsOpened, o.Count)
		case "sink_retry", "sink_unknown":
			i.met(ClassSinkRetry)
		case "sink_refused":
			i.met(ClassSinkRefused)
		}
	}
	r.mu.Unlock()
	logStep(ctx, r.log, o)
}

// Report logs an error that the caller was told less of, and counts it as this invocation's.
func (r *Recorder) Report(ctx context.Context, err error) {
	r.mu.Lock()
	if i := r.current; i != nil {
		i.failed++
		i.fail(i.of(""), ClassOf(err))
	}
	r.mu.Unlock()
	r.log.LogAttrs(ctx, slog.LevelError, "report", slog.Any("err", err), slog.String("class", string(ClassOf(err))))
}

// Begin opens an invocation; End closes it. name is the message of its line.
func (r *Recorder) Begin(ctx context.Context, name string) *Invocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := &Invocation{
		r: r, ctx: ctx, name: name, began: r.now(), cold: !r.warm,
		steps: map[string]int{}, service: tally{}, streams: map[handoff.Stream]tally{},
	}
	r.warm, r.current = true, i
	return i
}
