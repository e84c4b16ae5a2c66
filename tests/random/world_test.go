package random_test

import (
	"context"
	"fmt"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
)

// epoch is when every run begins.
var epoch = time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)

// clock is moved by the script alone.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// ids counts.
type ids struct{ n int }

func (i *ids) New() string { i.n++; return fmt.Sprintf("id%d", i.n) }

// world is one run: the stores, two streams, the processes at work, and the model that watches.
type world struct {
	ctx     context.Context
	set     setup
	clock   *clock
	ids     *ids
	queue   *queue
	state   *memstate.Store
	archive *archive
	streams []*stream
	procs   []*process
	born    int // processes so far
	// current is the process whose port call is being carried out.
	current *process
	decided []decided
	afloat  []func(context.Context) // writes that were answered "unknown" and have not landed
	trace   []string
	broken  []string // what the model found; empty is what a run should end with
	tracing bool
	met     map[string]int // what the run came by: sites, outcomes, halts, holds
	healthy bool           // the faults are over
}

// stream is one feed and its destination, and the model of both.
type stream struct {
	name   handoff.Stream
	source *source
	sink   *sink
	model  *model
	b      handoff.Binding
	// of the operator's book, once the faults are over
	resumed handoff.Version
	stuck   struct {
		v      handoff.Version
		rounds int
	}
}

func newWorld(ctx context.Context, set setup) *world {
	w := &world{
		ctx: ctx, set: set, clock: &clock{now: epoch}, ids: &ids{}, queue: &queue{}, state: memstate.New(), met: map[string]int{},
		archive: &archive{Archive: memstate.NewArchive(), gone: map[string]bool{}},
	}
	serial := 0
	for _, name := range []handoff.Stream{"alpha", "beta"} {
		st := &stream{name: name, source: newSource(set, w.clock, &serial)}
		st.sink = &sink{w: w, st: st, made: map[string][]effected{}}
		st.model = newModel(w, st)
		st.b = handoff.Binding{Settings: set.settings(name), Source: st.source, Policy: policy{set}, Effect: st.sink}
		w.streams = append(w.streams, st)
	}
	return w
}

// fail notes a broken promise. The run stops at the first.
func (w *world) fail(invariant, format string, args ...any) {
	text := invariant + ": " + fmt.Sprintf(format, args...)
	w.broken = append(w.broken, text)
	w.note("BROKEN %s", text)
}

func (w *world) note(format string, args ...any) {
	if !w.tracing {
		return
	}
	w.trace = append(w.trace, fmt.Sprintf("%s  ", w.clock.now.Format("15:04:05"))+fmt.Sprintf(format, args...))
}

// archive is the archive, and what of it was lost.
type archive struct {
	*memstate.Archive
	gone map[string]bool
	lost int // objects that ever were
}

// lose takes an object away for good, unless the protocol puts it back.
func (a *archive) lose(key string) { a.gone[key] = true; a.lost++ }

func (a *archive) check(key string) error {
	if a.gone[key] {
		return fmt.Errorf("get %s: %w", key, handoff.ErrNotFound)
	}
	return nil
}

func (a *archive) Put(ctx context.Context, key string, body []byte) error {
	err := a.Archive.Put(ctx, key, body)
	if err == nil {
		delete(a.gone, key)
	}
	return err
}

func (a *archive) Get(ctx context.Context, key string) ([]byte, error) {
	if err := a.check(key); err != nil {
		return nil, err
	}
	return a.Archive.Get(ctx, key)
}

func (a *archive) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if err := a.check(key); err != nil {
		return nil, err
	}
	return a.Archive.GetRange(ctx, key, offset, length)
}

func (a *archive) List(ctx context.Context, prefix string, limit int) ([]string, error) {
	keys, err := a.Archive.List(ctx, prefix, limit)
	kept := keys[:0]
	for _, k := range keys {
		if !a.gone[k] {
			kept = append(kept, k)
		}
	}
	return kept, err
}

// queue keeps messages until the script delivers or drops them.
type queue struct {
	chunks []message
	polls  []handoff.PollMessage
}

type message struct {
	handoff.ChunkMessage
	receives int
	due      time.Time
}

// limit keeps a run that duplicates messages from drowning in them. Losing one is allowed.
const limit = 40

// door is the queue as a process sees it.
type door struct {
	w *world
	p *process
}

func (d door) SendChunks(ctx context.Context, ms []handoff.ChunkMessage, delay time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, m := range ms {
		d.p.owns("I11", m.Stream)
		if len(d.w.queue.chunks) < limit {
			d.w.queue.chunks = append(d.w.queue.chunks, message{m, 0, d.w.clock.now.Add(delay)})
		}
	}
	return nil
}

func (d door) SendPoll(ctx context.Context, m handoff.PollMessage, _ time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.p.owns("I11", m.Stream)
	if len(d.w.queue.polls) < limit {
		d.w.queue.polls = append(d.w.queue.polls, m)
	}
	return nil
}
