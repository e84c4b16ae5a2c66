package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// ErrDead is all that a dead process hears from its ports. Nothing of what it asks is done.
var ErrDead = errors.New("the process died here")

// Injected is in the chain of every error that a fault made, ErrDead apart.
type Injected struct{ Outcome Outcome }

func (e *Injected) Error() string { return "injected: " + string(e.Outcome) }

// Process is one life of one process: the calls it makes through its ports, and the faults that strike them. A restart is a new
// Process over the same stores. Safe for concurrent use.
type Process struct {
	choose func(Call) Outcome
	naming bool
	kinds  map[string]Kind

	mu       sync.Mutex
	dead     bool
	onFreeze func()
	onCrash  func()
	before   map[string]func() error
	after    map[string]func() error
	calls    []Call
	struck   []Strike
	ends     map[int]context.CancelCauseFunc
	nextEnd  int
	bases    map[base]handoff.Version
}

// New begins a process. choose says what becomes of each call, before it is made; nil lets all pass. It may be called concurrently and
// must not call the process's own ports.
func New(choose func(Call) Outcome) *Process {
	kinds := map[string]Kind{}
	for _, s := range Sites() {
		kinds[s.Name] = s.Kind
	}
	return &Process{
		choose: choose, kinds: kinds, before: map[string]func() error{}, after: map[string]func() error{},
		ends: map[int]context.CancelCauseFunc{}, bases: map[base]handoff.Version{},
	}
}

// Naming is a process that neither counts nor strikes: its decorators only tell those below which site a call belongs to (SiteOf).
func Naming() *Process {
	p := New(nil)
	p.naming = true
	return p
}

// OnFreeze says what happens while a frozen call waits: newer invocations, on ports of other processes or of this one.
func (p *Process) OnFreeze(f func()) { p.mu.Lock(); p.onFreeze = f; p.mu.Unlock() }

// OnCrash says what a crash does besides: a test that runs as a process of its own kills itself, and f never returns.
func (p *Process) OnCrash(f func()) { p.mu.Lock(); p.onCrash = f; p.mu.Unlock() }

// Before runs f once, right before the next call of a site; its error, if any, is the call's, which is then not made.
func (p *Process) Before(site string, f func() error) { p.mu.Lock(); p.before[site] = f; p.mu.Unlock() }

// After runs f once, right after the next call of a site; its error, if any, replaces the call's.
func (p *Process) After(site string, f func() error) { p.mu.Lock(); p.after[site] = f; p.mu.Unlock() }

// Armed names a hook of Before or After that never ran; "" if all did. A test that misses its fault proves nothing.
func (p *Process) Armed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for site := range p.before {
		return "before " + site
	}
	for site := range p.after {
		return "after " + site
	}
	return ""
}

// Kill ends the process: from now on its ports do nothing.
func (p *Process) Kill() { p.mu.Lock(); p.dead = true; p.mu.Unlock() }

// Dead reports whether it was killed.
func (p *Process) Dead() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.dead }

// Calls lists the calls so far, in the order they began.
func (p *Process) Calls() []Call { p.mu.Lock(); defer p.mu.Unlock(); return slices.Clone(p.calls) }

// Struck lists the calls that a fault struck, in the order they began.
func (p *Process) Struck() []Strike { p.mu.Lock(); defer p.mu.Unlock(); return slices.Clone(p.struck) }

// Invocation gives a context for one invocation of the process, which a Deadline ends, and a function to call when it is over.
func (p *Process) Invocation(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.nextEnd
	p.nextEnd++
	p.ends[id] = cancel
	return ctx, func() {
		p.mu.Lock()
		delete(p.ends, id)
		p.mu.Unlock()
		cancel(nil)
	}
}

// Next counts a call that a decorator of something else than a port is about to make, and says what becomes of it; ErrDead if the process
// is dead. The decorator carries the outcome out, with Crash, Freeze and Expire.
func (p *Process) Next(site string, write bool) (Outcome, error) {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return None, ErrDead
	}
	c := Call{N: len(p.calls) + 1, Site: site, Write: write}
	p.calls = append(p.calls, c)
	p.mu.Unlock()
	if p.choose == nil {
		return None, nil
	}
	o := p.choose(c)
	if o != None {
		p.mu.Lock()
		p.struck = append(p.struck, Strike{c, o})
		p.mu.Unlock()
	}
	return o, nil
}

// hook runs a one-shot hook, if one is armed.
func (p *Process) hook(armed map[string]func() error, site string) error {
	p.mu.Lock()
	f := armed[site]
	delete(armed, site)
	p.mu.Unlock()
	if f == nil {
		return nil
	}
	return f()
}

// work is a call as its decorator hands it over.
type work struct {
	site string
	do   func(context.Context) error
	half func(context.Context) error // the first half of its items; nil for a call about one thing
}

// pass makes a call, or what a fault makes of it.
func (p *Process) pass(ctx context.Context, w work) error {
	ctx = context.WithValue(ctx, siteKey{}, w.site)
	if p.naming {
		return w.do(ctx)
	}
	o, err := p.Next(w.site, p.kinds[w.site]&Write != 0)
	if err != nil {
		return err
	}
	if err := p.hook(p.before, w.site); err != nil {
		return err
	}
	err = p.strike(ctx, o, w)
	if hooked := p.hook(p.after, w.site); hooked != nil {
		return hooked
	}
	return err
}

// call is pass for a call about one thing.
func (p *Process) call(ctx context.Context, site string, do func(context.Context) error) error {
	return p.pass(ctx, work{site: site, do: do})
}

// fetch is call for one that brings a value; after an error it is the zero value, as from a port whose answer was lost.
func fetch[T any](ctx context.Context, p *Process, site string, do func(context.Context) (T, error)) (T, error) {
	var got T
	err := p.call(ctx, site, func(ctx context.Context) (err error) { got, err = do(ctx); return err })
	if err != nil {
		var none T
		return none, err
	}
	return got, nil
}

func (p *Process) strike(ctx context.Context, o Outcome, w work) error {
	switch o {
	case None:
		return w.do(ctx)
	case ErrorAfter, RefusedAfter:
		if err := w.do(ctx); err != nil {
			return err
		}
		if o == RefusedAfter && p.kinds[w.site]&Conditional != 0 {
			return injected(w.site, o, handoff.ErrRefused)
		}
	case Unprocessed:
		if w.half != nil {
			if err := w.half(ctx); err != nil {
				return err
			}
		}
	case CrashBefore:
		return p.Crash()
	case CrashAfter:
		_ = w.do(ctx) // its answer dies with the process
		return p.Crash()
	case Frozen:
		p.Freeze()
		return w.do(ctx)
	case Deadline:
		return w.do(p.Expire(ctx))
	}
	return injected(w.site, o, handoff.ErrUnknown)
}

func injected(site string, o Outcome, as error) error {
	return fmt.Errorf("%s: %w: %w", site, as, &Injected{o})
}

// run calls a hook that may be set meanwhile.
func (p *Process) run(hook *func()) {
	p.mu.Lock()
	f := *hook
	p.mu.Unlock()
	if f != nil {
		f()
	}
}

// Freeze is what happens while a call waits.
func (p *Process) Freeze() { p.run(&p.onFreeze) }

// Crash ends the process at a call, and is what the call answers.
func (p *Process) Crash() error {
	p.run(&p.onCrash)
	p.Kill()
	return ErrDead
}

// Expire ends the invocations under way, and gives the context that the call then meets.
func (p *Process) Expire(ctx context.Context) context.Context {
	over, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	cancel() // it was over from the start
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, end := range p.ends {
		end(context.DeadlineExceeded)
		delete(p.ends, id)
	}
	return over
}

type siteKey struct{}

// SiteOf is the site of the port call that a context belongs to; "" outside of any.
func SiteOf(ctx context.Context) string {
	site, _ := ctx.Value(siteKey{}).(string)
	return site
}
