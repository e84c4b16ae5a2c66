package cloud

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Log writes JSON lines: exactly one Info line an invocation (see Recorder), a line a step at Debug, a Warn where a person or a
// repetition is needed, an Error for what nobody else is told. Each names its invocation. Neither payload, cursor nor secret is in any.
func Log(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(named{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})})
}

// named adds the invocation's request id to every line.
type named struct{ slog.Handler }

func (h named) Handle(ctx context.Context, r slog.Record) error {
	if id := requestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h named) WithAttrs(attrs []slog.Attr) slog.Handler { return named{h.Handler.WithAttrs(attrs)} }

func (h named) WithGroup(name string) slog.Handler { return named{h.Handler.WithGroup(name)} }

// requestID is Lambda's name of this invocation; empty outside of one.
func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		return lc.AwsRequestID
	}
	return ""
}

// logStep writes one step of the protocol.
func logStep(ctx context.Context, log *slog.Logger, o handoff.Observation) {
	level := slog.LevelDebug
	if o.Err != nil || o.Step == "halt" || o.Step == "hold" {
		level = slog.LevelWarn
	}
	if !log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("stream", string(o.Stream)), slog.Uint64("version", uint64(o.Version)), slog.Int("chunk", o.Chunk), slog.Int("count", o.Count)}
	if o.EventID != "" { // ids are other people's text: a digest finds the receipt and says nothing
		attrs = append(attrs, slog.String("event", handoff.DigestOf([]byte(o.EventID))[:16]))
	}
	// Only the reason of a hold or a halt: what follows it may name positions and fields, and is for the views, which ask who is asking.
	if why, _, _ := strings.Cut(o.Detail, ": "); why != "" {
		attrs = append(attrs, slog.String("why", why))
	}
	if o.Err != nil {
		attrs = append(attrs, slog.Any("err", o.Err), slog.String("class", string(ClassOf(o.Err))))
	}
	log.LogAttrs(ctx, level, o.Step, attrs...)
}
