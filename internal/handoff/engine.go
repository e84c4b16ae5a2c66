package handoff

import (
	"context"
	"time"
)

// Deps are the ports and promises an Engine works with.
type Deps struct {
	State    State
	Archive  Archive
	Queue    Queue
	Clock    Clock
	IDs      IDs
	Observer Observer
	Timing   Timing
}

// Engine runs the protocol. It keeps nothing between calls: any number of engines, in any processes, may work on one store.
type Engine struct{ Deps }

// New joins the ports. A nil Observer is replaced by a silent one.
func New(d Deps) *Engine {
	if d.Observer == nil {
		d.Observer = silent{}
	}
	if d.Timing == (Timing{}) {
		d.Timing = DefaultTiming()
	}
	return &Engine{d}
}

type silent struct{}

func (silent) Observe(context.Context, Observation) {}

func (e *Engine) now() time.Time { return e.Clock.Now().UTC() }

// expiry is when a record written now may be forgotten; zero is never.
func (e *Engine) expiry() time.Time {
	if e.Timing.RecordLife <= 0 {
		return time.Time{}
	}
	return e.now().Add(e.Timing.RecordLife)
}

func (e *Engine) observe(ctx context.Context, o Observation) { e.Observer.Observe(ctx, o) }
