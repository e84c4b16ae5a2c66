package cloud

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Log writes JSON lines: one Info line an invocation by the handler, and here a line a step at Debug, a Warn where a person or a repetition
// is needed. Neither payload, cursor nor secret ever reaches an observation.
func Log(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}

// Steps is an Observer that logs and counts. One serves a whole process; Take empties it at the end of an invocation.
type Steps struct {
	log *slog.Logger

	mu     sync.Mutex
	counts map[string]int // guarded by mu
}

// NewSteps makes an observer.
func NewSteps(log *slog.Logger) *Steps { return &Steps{log: log, counts: map[string]int{}} }

// Observe counts and logs one step.
func (s *Steps) Observe(ctx context.Context, o handoff.Observation) {
	s.mu.Lock()
	s.counts[o.Step]++
	s.mu.Unlock()
	level := slog.LevelDebug
	switch o.Step {
	case "halt", "hold":
		level = slog.LevelWarn
	}
	if o.Err != nil {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{slog.String("stream", string(o.Stream)), slog.Uint64("version", uint64(o.Version)), slog.Int("count", o.Count)}
	if o.EventID != "" { // ids are other people's text: a digest finds the receipt and says nothing
		attrs = append(attrs, slog.String("event", handoff.DigestOf([]byte(o.EventID))[:16]))
	}
	if o.Detail != "" { // words of the protocol and names of rules: never payload
		attrs = append(attrs, slog.String("detail", o.Detail))
	}
	if o.Err != nil {
		attrs = append(attrs, slog.Any("err", o.Err))
	}
	s.log.LogAttrs(ctx, level, o.Step, attrs...)
}

// Take gives what was counted since the last call, as attributes.
func (s *Steps) Take() slog.Attr {
	s.mu.Lock()
	defer s.mu.Unlock()
	var attrs []any
	for step, n := range s.counts {
		attrs = append(attrs, slog.Int(step, n))
	}
	clear(s.counts)
	return slog.Group("steps", attrs...)
}
