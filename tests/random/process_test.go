package random_test

import (
	"fmt"
	"iter"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// process is one invocation: a poll, a delivery or a decision. It runs as a coroutine that stops before every port call, so the
// script decides in which order the calls of all processes happen, and what becomes of each.
type process struct {
	w       *world
	st      *stream
	name    string
	faults  *fault.Process
	next    func() (fault.Call, bool)
	stop    func()
	pending fault.Call
	parked  bool
	frozen  bool
	adrift  bool // its next write lands later
	calls   int
	since   int64 // when it was parked, in nanoseconds of the world's clock
	verdict fault.Outcome
	err     error
	version handoff.Version // the page that a delivery works for
	after   func(*process)  // what the world does with its end
}

// start begins a process and lets it run to its first port call.
func (w *world) start(st *stream, name string, work func(*handoff.Engine, handoff.Binding, *process) error, after func(*process)) *process {
	w.born++
	p := &process{w: w, st: st, name: fmt.Sprintf("%s#%d", name, w.born), after: after}
	p.next, p.stop = iter.Pull(func(yield func(fault.Call) bool) {
		p.faults = fault.New(func(c fault.Call) fault.Outcome {
			if !yield(c) {
				return fault.CrashBefore
			}
			return p.verdict
		})
		watched := &watch{State: w.state, w: w, p: p}
		e := handoff.New(handoff.Deps{
			State: p.faults.State(watched), Archive: p.faults.Archive(w.archive), Queue: p.faults.Queue(door{w, p}),
			Clock: w.clock, IDs: w.ids, Timing: w.set.timing(),
		})
		b := st.b
		b.Source, b.Effect = p.faults.Source(b.Source), p.faults.Effect(b.Effect)
		p.err = work(e, b, p)
	})
	w.procs = append(w.procs, p)
	w.note("%s begins", p.name)
	p.pass(fault.None)
	return p
}

// endless is more calls than any invocation has reason for.
const endless = 5000

// pass lets the pending call happen, as the outcome has it, and runs to the next one or the end.
func (p *process) pass(o fault.Outcome) {
	w := p.w
	if p.parked {
		w.met["site "+p.pending.Site]++
		w.met["outcome "+string(o)]++
		switch {
		case o != fault.None:
			w.note("%s %s: %s", p.name, p.pending.Site, o)
		case p.pending.Write || p.pending.Site == "ask":
			w.note("%s %s", p.name, p.pending.Site)
		}
	}
	if p.calls++; p.calls > endless {
		w.fail("I10", "%s has made %d calls and does not end", p.name, p.calls)
	}
	p.verdict, w.current = o, p
	p.pending, p.parked = p.next()
	p.since, w.current = w.clock.now.UnixNano(), nil
	if !p.parked {
		w.ended(p)
	}
}

// until lets a process go on without a fault until something is so, or it ends.
func (p *process) until(so func() bool) {
	for p.parked && len(p.w.broken) == 0 && !so() {
		p.pass(fault.None)
	}
}

// finish runs a process to its end.
func (p *process) finish() { p.until(func() bool { return false }) }

// ended takes a process off the list.
func (w *world) ended(p *process) {
	for i, q := range w.procs {
		if q == p {
			w.procs = append(w.procs[:i], w.procs[i+1:]...)
			break
		}
	}
	switch {
	case p.faults.Dead():
		w.note("%s is dead", p.name)
	case p.err != nil:
		w.note("%s ends: %v", p.name, p.err)
	default:
		w.note("%s ends", p.name)
	}
	if p.after != nil {
		p.after(p)
	}
}

// close kills what is left, so that no coroutine outlives its run.
func (w *world) close() {
	for _, p := range w.procs {
		p.stop()
	}
}

// owns requires that a process touches its own stream only.
func (p *process) owns(invariant string, s handoff.Stream) {
	if s != p.st.name {
		p.w.fail(invariant, "%s works on %s and touched %s", p.name, p.st.name, s)
	}
}

// spawn keeps few processes alive: the oldest that is not frozen ends first.
func (w *world) spawn() {
	for len(w.procs) >= 5 {
		p := w.procs[0]
		for _, q := range w.procs {
			if !q.frozen {
				p = q
				break
			}
		}
		p.finish()
		if len(w.broken) > 0 {
			return
		}
	}
}

// poll starts a poll.
func (w *world) poll(st *stream, m handoff.PollMessage) *process {
	m.Stream = st.name
	return w.start(st, fmt.Sprintf("poll %s", st.name), func(e *handoff.Engine, b handoff.Binding, p *process) error {
		ctx, over := p.faults.Invocation(w.ctx)
		defer over()
		r, err := e.Poll(ctx, b, m)
		w.note("%s did %q %s", p.name, r.Did, r.Detail)
		return err
	}, nil)
}

// deliver starts an apply; a message that was not handled comes again.
func (w *world) deliver(m message, bounded bool) *process {
	m.receives++
	st := w.stream(m.Stream)
	d := handoff.Delivery{ChunkMessage: m.ChunkMessage, Receives: m.receives}
	if bounded {
		d.Deadline = w.clock.now.Add(handoff.DefaultTiming().FunctionLife)
	}
	name := fmt.Sprintf("apply %s v%d k%d", m.Stream, m.Version, m.Chunk)
	return w.start(st, name, func(e *handoff.Engine, b handoff.Binding, p *process) error {
		ctx, over := p.faults.Invocation(w.ctx)
		defer over()
		p.version = m.Version
		_, err := e.Apply(ctx, b, d)
		return err
	}, func(p *process) {
		if p.err != nil && len(w.queue.chunks) < limit {
			m.due = w.clock.now.Add(3 * handoff.DefaultTiming().FunctionLife)
			w.queue.chunks = append(w.queue.chunks, m)
		}
	})
}

func (w *world) stream(name handoff.Stream) *stream {
	for _, st := range w.streams {
		if st.name == name {
			return st
		}
	}
	return nil
}
