package local

import (
	"context"
	"net/http"
	"time"

	"github.com/turnleaf/turnleaf/internal/bind"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/httpsource"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// Config is what a data folder and its streams need, whether they run or are only looked at.
type Config struct {
	Folder      Folder
	Definitions []*streamdef.Definition
	Secrets     httpsource.Secrets
	Now         func() time.Time
}

// Node is one process's hold on a data folder: the stores, the engine on them, and the API that operators use.
type Node struct {
	State  handoff.State
	Engine *handoff.Engine
	Binder *bind.Binder
	// API is the review API, without a guard.
	API    http.Handler
	stores *stores
	defs   []*streamdef.Definition
}

// Open takes a data folder that no process runs on, for one command. What a decision asks the queue is dropped: the next run
// drives every stream when it starts. ErrRunning if a process runs on it.
func Open(ctx context.Context, c Config) (*Node, error) {
	if err := c.Folder.Make(); err != nil {
		return nil, err
	}
	s, err := openStores(ctx, c.Folder)
	if err != nil {
		return nil, err
	}
	return newNode(c, s, Discard{}, nil), nil
}

// Close gives the folder back.
func (n *Node) Close() error { return n.stores.close() }

func newNode(c Config, s *stores, q handoff.Queue, o handoff.Observer) *Node {
	engine := handoff.New(handoff.Deps{
		State: s.state, Archive: s.archive, Queue: q, Clock: clock(c.Now), IDs: randomIDs{}, Observer: o, Timing: Timing(),
	})
	binder := bind.New(c.Definitions, bind.Options{Secrets: c.Secrets, Now: c.Now})
	return &Node{
		State: s.state, Engine: engine, Binder: binder, stores: s, defs: c.Definitions,
		API: reviewapi.New(reviewapi.Config{Engine: engine, State: s.state, Explain: true}),
	}
}

// stream is what the schedule needs to know.
type stream struct {
	name  handoff.Stream
	every time.Duration
}

// streams are those with a definition, in the order given.
func (n *Node) streams() []stream {
	out := make([]stream, len(n.defs))
	for i, d := range n.defs {
		out[i] = stream{handoff.Stream(d.Name), d.Every}
	}
	return out
}
