package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Archive decorates an archive.
func (p *Process) Archive(inner handoff.Archive) handoff.Archive { return archive{p, inner} }

type archive struct {
	p  *Process
	to handoff.Archive
}

func (a archive) Put(ctx context.Context, key string, body []byte) error {
	do := func(ctx context.Context) error { return a.to.Put(ctx, key, body) }
	return a.p.call(ctx, putSite(key), do)
}

func (a archive) Get(ctx context.Context, key string) ([]byte, error) {
	return fetch(ctx, a.p, "read/raw", func(ctx context.Context) ([]byte, error) { return a.to.Get(ctx, key) })
}

func (a archive) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	return fetch(ctx, a.p, "read/chunk", func(ctx context.Context) ([]byte, error) { return a.to.GetRange(ctx, key, offset, length) })
}

func (a archive) List(ctx context.Context, prefix string, limit int) ([]string, error) {
	return fetch(ctx, a.p, "read/answers", func(ctx context.Context) ([]string, error) { return a.to.List(ctx, prefix, limit) })
}

func (a archive) Refresh(ctx context.Context, key string) error {
	return a.p.call(ctx, "archive/keep", func(ctx context.Context) error { return a.to.Refresh(ctx, key) })
}

// Queue decorates a queue.
func (p *Process) Queue(inner handoff.Queue) handoff.Queue { return queue{p, inner} }

type queue struct {
	p  *Process
	to handoff.Queue
}

func (q queue) SendChunks(ctx context.Context, ms []handoff.ChunkMessage, delay time.Duration) error {
	send := func(ms []handoff.ChunkMessage) func(context.Context) error {
		return func(ctx context.Context) error { return q.to.SendChunks(ctx, ms, delay) }
	}
	w := work{site: "send", do: send(ms)}
	if len(ms) > 1 {
		w.half = send(ms[:len(ms)/2])
	}
	return q.p.pass(ctx, w)
}

func (q queue) SendPoll(ctx context.Context, m handoff.PollMessage, delay time.Duration) error {
	return q.p.call(ctx, "continue", func(ctx context.Context) error { return q.to.SendPoll(ctx, m, delay) })
}

// Source decorates a source. Read is pure and never fails.
func (p *Process) Source(inner handoff.Source) handoff.Source { return source{inner, p} }

type source struct {
	handoff.Source
	p *Process
}

func (s source) Ask(ctx context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	return fetch(ctx, s.p, "ask", func(ctx context.Context) (handoff.Answer, error) { return s.Source.Ask(ctx, c, now) })
}

// Effect decorates an effect's outside calls; Plan is pure.
func (p *Process) Effect(inner handoff.Effect) handoff.Effect { return effect{inner, p} }

type effect struct {
	handoff.Effect
	p *Process
}

// Call: what is surely not done may be retried; every other fault leaves the outcome unknown, for a sink's refusal is a word of its
// own that no broken line says.
func (e effect) Call(ctx context.Context, ev handoff.Event, key string) handoff.CallResult {
	var got handoff.CallResult
	err := e.p.call(ctx, "call", func(ctx context.Context) error { got = e.Effect.Call(ctx, ev, key); return nil })
	var by *Injected
	switch {
	case err == nil:
		return got
	case errors.As(err, &by) && by.Outcome == Throttled:
		return handoff.CallResult{Kind: handoff.CallRetry, Detail: err.Error()}
	}
	return handoff.CallResult{Kind: handoff.CallUnknown, Detail: fmt.Sprint("call: ", err)}
}
