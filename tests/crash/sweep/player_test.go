package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Two more ways to be frozen. Frozen alone lets one newer invocation of each function finish; a while is a few steps of the story, another
// number at each call; long is until the others have nothing left to do.
const (
	frozenWhile fault.Outcome = "frozen a while"
	frozenLong  fault.Outcome = "frozen long"
)

// maxSteps bounds a run: the longest story takes some thirty steps.
const maxSteps = 200

// ports is one process's way to what outlives it.
type ports struct {
	state   handoff.State
	archive handoff.Archive
	queue   handoff.Queue
}

// mailbox is the queue as its consumers see it.
type mailbox interface {
	take(context.Context) ([]delivery, error)
	takePolls(context.Context) ([]handoff.PollMessage, error)
	again(context.Context, delivery) error
	done(context.Context, delivery) error
}

// player plays one story once, on stores that outlive the processes it starts.
type player struct {
	ctx    context.Context
	story  story
	stream handoff.Stream
	clock  *clock
	source *source
	sink   *sink
	watch  *watch
	mail   mailbox
	clean  ports                      // without faults
	wire   func(*fault.Process) ports // a new process's ports
	choose func(fault.Call) fault.Outcome
	tell   func(format string, args ...any) // the trace; may be silent

	mu       sync.Mutex
	onCrash  func(fault.Strike) // what a crash does besides
	life     *fault.Process
	faulty   actor
	other    actor
	inflight *delivery
	rounds   int // how many steps the freeze under way lasts
	// deadlines: contexts can end. Those that cannot cost a store much less.
	deadlines bool
	steps     int
	resting   bool // nothing moved at the last step
	wrong     []string
	calls     []fault.Call // of all lives
	struck    []fault.Strike
	broke     int // answers that the emulator broke off
}

// actor is a process that plays: the one under test, or another without faults.
type actor struct {
	name   string
	state  handoff.State
	engine *handoff.Engine
	b      handoff.Binding
	life   *fault.Process // nil: without faults
}

func (p *player) failf(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// start begins a new process on what is stored: nothing in memory survives.
func (p *player) start() {
	p.life = fault.New(p.next)
	p.life.OnFreeze(p.freeze)
	p.life.OnCrash(func() { p.onCrash(p.struck[len(p.struck)-1]) })
	at := p.wire(p.life)
	p.faulty = p.actor("process", at)
	p.faulty.life = p.life
	p.faulty.b.Source, p.faulty.b.Effect = p.life.Source(p.source), p.life.Effect(p.sink)
}

func (p *player) actor(name string, at ports) actor {
	d := handoff.Deps{State: at.state, Archive: at.archive, Queue: at.queue, Clock: p.clock, IDs: p.clock, Timing: timing(), Observer: teller{name, p.tell}}
	return actor{name: name, state: at.state, engine: handoff.New(d), b: handoff.Binding{Settings: settings(p.stream), Source: p.source, Policy: p.story.policy, Effect: p.sink}}
}

// teller tells steps into the trace.
type teller struct {
	name string
	tell func(format string, args ...any)
}

func (t teller) Observe(_ context.Context, o handoff.Observation) {
	t.tell("  %s: %s v%d chunk %d n%d %s %s %v", t.name, o.Step, o.Version, o.Chunk, o.Count, o.EventID, o.Detail, o.Err)
}

// next counts the call over all lives and asks what becomes of it.
func (p *player) next(c fault.Call) fault.Outcome {
	p.mu.Lock() // a store may make several calls at once
	defer p.mu.Unlock()
	c.N = len(p.calls) + 1
	p.calls = append(p.calls, c)
	o := p.choose(c)
	p.tell("%4d %s %s", c.N, c.Site, o)
	if o == fault.None {
		return o
	}
	p.struck = append(p.struck, fault.Strike{Call: c, Outcome: o})
	switch o {
	case fault.Frozen:
		p.rounds = 1
	case frozenWhile:
		p.rounds = 2 + c.N%7
	case frozenLong:
		p.rounds = maxSteps
	default:
		return o
	}
	return fault.Frozen
}

// play is the schedule, the queue and the operator, until nothing is left to do. Dead processes are restarted.
func (p *player) play() {
	p.other = p.actor("other", p.clean)
	p.start()
	for idle := 0; idle < 2; {
		before := len(p.struck)
		p.resting = idle > 0
		if p.step(&p.faulty) || len(p.struck) > before {
			idle = 0
			p.clock.advance(4 * time.Minute)
		} else {
			idle++
			p.clock.advance(20 * time.Minute) // longer than any lease
		}
		if p.steps++; p.steps > maxSteps {
			p.failf("I10: no progress, the story never ends")
			return
		}
	}
}

// quiet is what a poll does when there is nothing to do.
var quiet = []handoff.PollAct{handoff.ActCaughtUp, handoff.ActNotDue, handoff.ActHalted, handoff.ActBlocked, handoff.ActDriven}

// step is a tick, the deliveries that are due, and a look by the operator. It reports whether anything moved.
func (p *player) step(a *actor) (moved bool) {
	if p.steps%3 == 1 || p.resting {
		p.invoke(a, "enlist", func(ctx context.Context) error { return p.enlist(ctx, a) })
	}
	polls, err := p.mail.takePolls(p.ctx)
	p.sane(err)
	for _, m := range append(polls, handoff.PollMessage{}) {
		m.Stream = p.stream
		failed := p.invoke(a, "poll", func(ctx context.Context) error {
			r, err := a.engine.Poll(ctx, a.b, m)
			moved = moved || !slices.Contains(quiet, r.Did)
			return err
		})
		moved = moved || failed
	}
	return p.deliver(a) || p.operate(a) || moved
}

// enlist is the part of a tick that looks after the list of streams. Once in the long story, a deployment has lost the definition.
func (p *player) enlist(ctx context.Context, a *actor) error {
	defined := []handoff.Stream{p.stream}
	if p.steps == p.story.strays {
		defined = nil
	}
	_, err := a.engine.Enlist(ctx, defined)
	return err
}

// deliver hands every due chunk message over; one that failed comes again at the next step.
func (p *player) deliver(a *actor) (moved bool) {
	due, err := p.mail.take(p.ctx)
	p.sane(err)
	for _, d := range due {
		if a.life != nil {
			p.inflight = &d
		}
		failed := p.invoke(a, "apply", func(ctx context.Context) error {
			deadline := p.clock.Now().Add(timing().FunctionLife)
			_, err := a.engine.Apply(ctx, a.b, handoff.Delivery{ChunkMessage: d.ChunkMessage, Receives: d.receives, Deadline: deadline})
			return err
		})
		passedOn := a.life != nil && p.inflight == nil
		p.inflight = nil
		switch {
		case passedOn: // it became visible while a call was frozen, and is somebody else's
		case failed:
			p.sane(p.mail.again(p.ctx, d))
		default:
			p.sane(p.mail.done(p.ctx, d))
		}
	}
	return len(due) > 0
}

// invoke runs one invocation. Only a fault that struck during it may make it fail.
func (p *player) invoke(a *actor, name string, f func(context.Context) error) (failed bool) {
	if a.life == nil {
		if err := f(p.ctx); err != nil && !p.brokeOff(err) {
			p.failf("%s of %s without a fault: %v", name, a.name, err)
		}
		return false
	}
	before := len(p.struck)
	p.tell("%s at %s", name, p.clock.Now().Format("15:04:05"))
	ctx, end := p.ctx, func() {}
	if p.deadlines {
		ctx, end = p.life.Invocation(ctx)
	}
	err := f(ctx)
	end()
	if p.life.Dead() {
		p.tell("the process died, and starts again")
		p.start()
		return true
	}
	if err != nil {
		p.tell("  %s: %v", name, err)
		if len(p.struck) == before && !p.brokeOff(err) {
			p.failf("%s without a fault: %v", name, err)
		}
	}
	return err != nil
}

// brokeOff reports an answer that the emulator broke off by itself, which it does now and then: one more fault, that nobody asked for.
func (p *player) brokeOff(err error) bool {
	if !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	p.broke++
	return true
}

// freeze is what others do while a call waits. A call to an outside sink that sleeps longer than its claim may arrive late (a
// non-guarantee of the README), so that one is short.
func (p *player) freeze() {
	p.mu.Lock()
	rounds, site := p.rounds, p.struck[len(p.struck)-1].Site
	p.mu.Unlock()
	if site == "call" {
		rounds = 1
	} else {
		p.clock.advance(5 * time.Minute) // every lease is over, and the message in flight is visible again
		if d := p.inflight; d != nil {
			p.sane(p.mail.again(p.ctx, *d))
			p.inflight = nil
		}
	}
	p.tell("  frozen")
	for idle := 0; idle < 2 && rounds > 0; rounds-- {
		idle++
		if p.step(&p.other) {
			idle = 0
		}
		if p.steps++; p.steps > maxSteps {
			p.failf("I10: no progress while a call was frozen")
			break
		}
		if rounds > 1 {
			p.clock.advance(5 * time.Minute)
		}
	}
	p.tell("  woken")
}

// operate is the operator: reads the list of holds and the halt, and decides by the story's book, under ids that make repeating safe.
func (p *player) operate(a *actor) (moved bool) {
	var st handoff.StreamStatus
	var held []handoff.Receipt
	failed := p.invoke(a, "look", func(ctx context.Context) (err error) {
		if st, err = a.engine.Status(ctx, p.stream); errors.Is(err, handoff.ErrNotFound) {
			return nil // not started yet
		} else if err == nil {
			held, _, err = a.state.HeldReceipts(ctx, p.stream, "", 100)
		}
		return err
	})
	if failed {
		return true
	}
	if cp := st.Checkpoint; cp.Halt != nil && cp.Closing == 0 {
		return p.decide(a, p.answer(cp))
	}
	for _, r := range held {
		if d, ok := p.decision(r, st.Checkpoint); ok {
			moved = p.decide(a, d) || moved
		}
	}
	return moved
}

// answer is the operator's word on a halt: the one answer passes where the story says so, else the source's owner repairs it.
func (p *player) answer(cp handoff.Checkpoint) handoff.Decision {
	if cp.ResumeCursor == p.story.accepts {
		return handoff.Decision{Kind: handoff.DecideAccept, Rev: cp.Rev, Check: cp.Halt.Reason, Answer: cp.Halt.Answer.Digest}
	}
	for c, replies := range p.story.mends {
		p.source.replies[c] = replies
	}
	return handoff.Decision{Kind: handoff.DecideResume, Rev: cp.Rev}
}

// decision is the operator's word on one event. An unknown attempt is looked up in the sink's own record.
func (p *player) decision(r handoff.Receipt, cp handoff.Checkpoint) (handoff.Decision, bool) {
	if r.Reason != handoff.HoldAmbiguous || r.Attempt == nil {
		return p.story.decides(r, cp)
	}
	d := handoff.Decision{Event: r.ReceiptKey, Rev: r.Rev, Kind: handoff.DecideApplied}
	if !p.sink.did(bare(r.EventID)) {
		d.Kind = handoff.DecideRelease
	}
	return d, d.Kind == handoff.DecideApplied || r.PageVersion == cp.Version && cp.Closing == 0
}

func (p *player) decide(a *actor, d handoff.Decision) (moved bool) {
	d.ID = fmt.Sprint(d.Kind, d.Event.EventID, d.Event.Conflict, d.Rev)
	d.Stream, d.Actor, d.Reason = p.stream, "ada", "by the book"
	failed := p.invoke(a, string(d.Kind)+" "+d.Event.EventID, func(ctx context.Context) error {
		_, err := a.engine.Decide(ctx, d)
		var changed *handoff.ConflictError
		if errors.As(err, &changed) { // a call may still be under way, or somebody was faster: look again later
			p.tell("  %v", err)
			return nil
		}
		moved = err == nil
		return err
	})
	return moved || failed
}

func (p *player) sane(err error) {
	if err != nil && !p.brokeOff(err) {
		p.failf("the world outside failed: %v", err)
	}
}
