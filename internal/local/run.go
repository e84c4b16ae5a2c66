// Package local runs poll, apply and review on one machine: a schedule, a queue in memory, the state in SQLite, the archive in a
// folder, and the review API on loopback. It may die at any moment; the next run goes on where the state says.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// grace is how long work in flight may take once the run ends.
const grace = 5 * time.Second

// Options are what a run is made of.
type Options struct {
	Config
	Console Console
	Log     *slog.Logger
	// Demo adds the built-in demo feed and its stream; DemoDelay is how long each of its answers takes.
	Demo      bool
	DemoDelay time.Duration
	// Once ends the run when every stream is caught up or blocked.
	Once bool
	// NewToken gives the secret of one listener, new at every start.
	NewToken func() string
	PID      int
}

// Run works until ctx ends, then takes no more work, finishes what is in flight within five seconds, and closes. With Once it
// ends by itself, and gives the streams that wait for something. Errors: ErrRunning if another process works on the folder.
func Run(ctx context.Context, o Options) (blocked []handoff.StreamStatus, err error) {
	if err := o.Folder.Make(); err != nil {
		return nil, err
	}
	s, err := openStores(ctx, o.Folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var listeners servers
	defer func() { err = errors.Join(err, listeners.stop()) }()
	if o.Demo {
		if o.Config, err = startDemo(ctx, &listeners, o); err != nil {
			return nil, err
		}
	}
	q := NewQueue(QueueOptions{})
	node := newNode(o.Config, s, q, observer{o.Log})
	token := o.NewToken()
	address, err := listeners.start(ctx, "127.0.0.1:0", func(string) http.Handler { return guarded(token, node.API) })
	if err != nil {
		return nil, fmt.Errorf("serve review API: %w", err)
	}
	if err := o.Folder.WriteAPI(API{Address: address, Token: token, PID: o.PID, Started: o.Now().UTC()}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Folder.RemoveAPI(token)) }()
	return work(ctx, o, node, q, address)
}

// work ticks, delivers and watches until ctx ends, or with Once until nothing moves.
func work(ctx context.Context, o Options, node *Node, q *Queue, address string) (blocked []handoff.StreamStatus, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	screen := &screen{terminal: o.Console.Terminal, out: o.Console.Out}
	w := &worker{
		engine: node.Engine, bind: node.Binder, schedule: newSchedule(q, o.Now), last: &lastPolls{}, log: o.Log, now: o.Now,
		watch: newWatch(node.Engine, node.State, screen, o.Console.Hints, o.Now),
	}
	welcome, err := node.welcomeAll(ctx, o.Console.Hints)
	if err != nil {
		return nil, err
	}
	screen.print(greeting(o, address) + welcome)
	var running sync.WaitGroup
	for _, s := range node.streams() {
		w.watch.add(s.name)
		running.Go(func() { w.schedule.run(ctx, s.name, s.every) })
	}
	running.Go(func() { w.watch.run(ctx) })
	q.Start(ctx, w)
	if o.Once {
		blocked, err = untilSettled(ctx, q, w.last, node.Engine, o.Now, node.streams())
	} else {
		<-ctx.Done()
	}
	cancel()
	running.Wait()
	stopping, done := context.WithTimeout(context.Background(), grace)
	defer done()
	q.Stop(stopping)
	w.watch.lookAgain(stopping)
	screen.done()
	screen.print(farewell(w.watch, o.Now()))
	if errors.Is(err, context.Canceled) {
		err = nil // somebody ended it before it settled
	}
	return blocked, err
}
