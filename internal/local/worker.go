package local

import (
	"context"
	"log/slog"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// binder finds the settings and adapters of a stream. *bind.Binder is one.
type binder interface {
	Binding(s handoff.Stream) (handoff.Binding, error)
}

// worker does the work of the queue: the poll and apply functions of one machine.
type worker struct {
	engine   *handoff.Engine
	bind     binder
	schedule *schedule
	watch    *watch
	last     *lastPolls
	log      *slog.Logger
	now      func() time.Time
}

var _ Work = (*worker)(nil)

// Poll does one poll. A stream without a working definition is logged and left to the next tick: asking again sooner mends nothing.
func (w *worker) Poll(ctx context.Context, m handoff.PollMessage) error {
	b, err := w.bind.Binding(m.Stream)
	if err != nil {
		w.log.ErrorContext(ctx, "poll", slog.String("stream", string(m.Stream)), slog.Any("err", err))
		return nil
	}
	began := w.now()
	r, err := w.engine.Poll(ctx, b, m)
	attrs := []any{"stream", m.Stream, "version", r.Version, "did", r.Did, "elapsed_ms", w.now().Sub(began).Milliseconds()}
	if err != nil {
		w.log.WarnContext(ctx, "poll", append(attrs, "err", err)...)
		return err
	}
	w.log.DebugContext(ctx, "poll", append(attrs, "events", r.Events, "replays", r.Replays, "detail", r.Detail)...)
	w.schedule.noteNextPoll(m.Stream, r.NextPollAt)
	w.watch.polled(m.Stream, r)
	w.last.note(m.Stream, r)
	return nil
}

// Apply does one delivery of one chunk. Its deadline is the function life that Timing promises: after it nothing is started.
func (w *worker) Apply(ctx context.Context, m handoff.ChunkMessage, receives int) error {
	b, err := w.bind.Binding(m.Stream)
	if err != nil {
		w.log.ErrorContext(ctx, "apply", slog.String("stream", string(m.Stream)), slog.Any("err", err))
		return nil // the open page stays open; it is driven again when the definition is mended
	}
	life := w.engine.Timing.FunctionLife
	deadline := w.now().Add(life)
	ctx, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	r, err := w.engine.Apply(ctx, b, handoff.Delivery{ChunkMessage: m, Receives: receives, Deadline: deadline})
	attrs := []any{"stream", m.Stream, "version", m.Version, "chunk", m.Chunk, "receives", receives,
		"applied", r.Applied, "ignored", r.Ignored, "quarantined", r.Quarantined, "held", r.Held, "retrying", r.Retrying,
		"replayed", r.Replayed, "promoted", r.Promoted}
	w.watch.applied(m.Stream, r) // what was settled before an error is settled
	if err != nil {
		w.log.WarnContext(ctx, "apply", append(attrs, "err", err)...)
		return err
	}
	w.log.InfoContext(ctx, "apply", attrs...)
	return nil
}

// observer writes the steps of the protocol to the log.
type observer struct{ log *slog.Logger }

// Observe implements handoff.Observer.
func (o observer) Observe(ctx context.Context, s handoff.Observation) {
	level := slog.LevelInfo
	switch {
	case s.Err != nil:
		level = slog.LevelWarn
	case s.Step == "halt":
		level = slog.LevelError // a person must act
	case s.Step == "chunk" || s.Step == "stop" || s.Step == string(handoff.ActCaughtUp):
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{slog.String("stream", string(s.Stream)), slog.Uint64("version", uint64(s.Version)),
		slog.Int("chunk", s.Chunk), slog.Int("count", s.Count)}
	if s.EventID != "" {
		attrs = append(attrs, slog.String("event_id", s.EventID))
	}
	if s.Detail != "" {
		attrs = append(attrs, slog.String("detail", s.Detail))
	}
	if s.Err != nil {
		attrs = append(attrs, slog.Any("err", s.Err))
	}
	o.log.LogAttrs(ctx, level, s.Step, attrs...)
}
