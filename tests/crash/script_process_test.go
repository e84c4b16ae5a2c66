package crash

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// process is one invocation under the script's control: it stops where it is told to, at any port call, and goes on when it is told to.
type process struct {
	name   string
	s      *script
	life   *fault.Process
	trace  []string
	until  string                   // stop right before this site
	after  string                   // stop at the call that follows this site
	fault  map[string]fault.Outcome // what strikes the next call of a site
	stop   chan string              // the site that it stands before, or "" at its end
	resume chan struct{}
	ended  bool
	end    string
}

// hidden are the reads that a trace leaves out: they tell nothing by themselves.
var hidden = map[string]bool{"read/decision": true, "read/held": true, "read/streams": true}

// choose is asked before each port call.
func (p *process) choose(c fault.Call) fault.Outcome {
	if p.until == c.Site || p.after == "*" {
		p.stop <- c.Site
		<-p.resume
		if p.life.Dead() {
			return fault.CrashBefore
		}
	}
	if p.after == c.Site {
		p.after = "*"
	}
	o := p.fault[c.Site]
	delete(p.fault, c.Site)
	switch {
	case o != fault.None:
		p.note("%s: %s", c.Site, o)
	case !hidden[c.Site]:
		p.note("%s", c.Site)
	}
	return o
}

func (p *process) note(format string, args ...any) {
	p.trace = append(p.trace, p.name+" "+fmt.Sprintf(format, args...))
}

// detail says more of the call that is under way.
func (p *process) detail(format string, args ...any) {
	if n := len(p.trace); n > 0 {
		p.trace[n-1] += " " + fmt.Sprintf(format, args...)
	}
}

// begin starts an invocation.
func (s *script) begin(name string, work func(ctx context.Context, e *handoff.Engine, b handoff.Binding) string) *process {
	p := &process{name: name, s: s, stop: make(chan string), resume: make(chan struct{}), fault: map[string]fault.Outcome{}}
	p.life = fault.New(p.choose)
	state := p.life.State(told{s.state, p})
	engine := handoff.New(s.deps(state, p.life.Archive(s.archive), p.life.Queue(toldQueue{s, p})))
	b := s.binding(p.life.Source(s), p.life.Effect(&s.sink))
	s.processes[name] = p
	go func() {
		<-p.resume
		p.end = work(s.t.Context(), engine, b)
		p.stop <- ""
	}()
	return p
}

// goOn lets a process run until it stops, and gives the trace since.
func (p *process) goOn(until, after string) string {
	p.until, p.after = until, after
	p.resume <- struct{}{}
	site := <-p.stop
	switch {
	case site != "":
		p.note("stands before %s", site)
	case p.life.Dead():
		p.ended = true
		p.note("is dead")
	default:
		p.ended = true
		p.note("= %s", p.end)
	}
	out := strings.Join(p.trace, "\n")
	p.trace = nil
	return out
}

// told says what the writes of a process carry.
type told struct {
	handoff.State
	p *process
}

func (o told) Commit(ctx context.Context, tx handoff.Tx) error {
	err := o.State.Commit(ctx, tx)
	var parts []string
	if d := tx.Directory; d != nil {
		parts = append(parts, fmt.Sprintf("v%d %s→%s, %d events in %d chunks", d.Version, d.RequestCursor, d.NextCursor, tx.PagePut.Events, len(d.Chunks)))
	}
	if m := tx.PageMark; m != nil && m.Abandoned {
		parts = append(parts, fmt.Sprintf("v%d abandoned", m.Version))
	}
	if c := tx.Checkpoint; c != nil && c.Put != nil {
		parts = append(parts, standing(*c.Put))
	}
	if r := tx.Receipt; r != nil {
		parts = append(parts, fmt.Sprintf("%s %s", bare(r.Put.EventID), r.Put.Outcome))
	}
	o.p.detail("(%s)%s", strings.Join(parts, "; "), answered(err))
	return err
}

func (o told) Settle(ctx context.Context, s handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	out := o.State.Settle(ctx, s, items)
	for i, it := range items {
		text := fmt.Sprintf("%s %s", bare(it.Put.EventID), outcome(it.Put))
		o.p.detail("(%s)%s", text, answered(out[i].Err))
	}
	return out
}

func (o told) MarkChunk(ctx context.Context, s handoff.Stream, v handoff.Version, k int) (handoff.Page, error) {
	p, err := o.State.MarkChunk(ctx, s, v, k)
	o.p.detail("v%d.%d%s", v, k, answered(err))
	return p, err
}

func (o told) Checkpoint(ctx context.Context, s handoff.Stream) (handoff.Checkpoint, error) {
	cp, err := o.State.Checkpoint(ctx, s)
	if err == nil {
		o.p.detail("%s", standing(cp))
	} else {
		o.p.detail("none")
	}
	return cp, err
}

type toldQueue struct {
	*script
	p *process
}

func (q toldQueue) SendChunks(ctx context.Context, ms []handoff.ChunkMessage, delay time.Duration) error {
	var names []string
	for _, m := range ms {
		names = append(names, fmt.Sprintf("v%d.%d", m.Version, m.Chunk))
	}
	q.p.detail("%s", strings.Join(names, " "))
	return q.script.SendChunks(ctx, ms, delay)
}

func answered(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, handoff.ErrRefused):
		return " REFUSED"
	}
	return " UNKNOWN"
}
