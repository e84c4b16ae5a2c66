// Package bind joins a stream definition to the code it configures. It is the one place that does: functions, the local runner and
// the command line share it.
package bind

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/effect"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/httpsource"
	"github.com/turnleaf/turnleaf/internal/policy"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// ErrUnknownStream: no definition has the stream's name.
var ErrUnknownStream = errors.New("no definition of that name")

// Options are what a definition does not say.
type Options struct {
	Secrets httpsource.Secrets
	HTTP    httpsource.Options
	// Now makes relative starts literal.
	Now func() time.Time
}

// Binder compiles a definition when its stream is first worked on, once: a thousand streams that are not polled cost nothing. It
// may be used concurrently.
type Binder struct {
	opt  Options
	defs map[string]*streamdef.Definition

	mu    sync.Mutex // guards built
	built map[string]func() (parts, error)
}

// parts are a definition's adapters; partitions share them.
type parts struct {
	source handoff.Source
	policy handoff.Policy
	effect handoff.Effect
}

// New takes definitions that have been parsed and checked.
func New(defs []*streamdef.Definition, o Options) *Binder {
	b := &Binder{opt: o, defs: map[string]*streamdef.Definition{}, built: map[string]func() (parts, error){}}
	for _, d := range defs {
		b.defs[d.Name] = d
	}
	return b
}

// Definition finds the definition of a stream, or of the stream whose partition it is.
func (b *Binder) Definition(s handoff.Stream) (*streamdef.Definition, error) {
	name, _, _ := strings.Cut(string(s), "/")
	d, ok := b.defs[name]
	if !ok {
		return nil, fmt.Errorf("stream %s: %w", s, ErrUnknownStream)
	}
	return d, nil
}

// Binding gives the settings and adapters of a stream. A relative start is made literal anew each time; it counts once, when the
// first checkpoint is put. Errors: ErrUnknownStream, handoff.ErrConfig.
func (b *Binder) Binding(s handoff.Stream) (handoff.Binding, error) {
	d, err := b.Definition(s)
	if err != nil {
		return handoff.Binding{}, err
	}
	p, err := b.parts(d)()
	if err != nil {
		return handoff.Binding{}, fmt.Errorf("bind stream %s: %w", s, err)
	}
	settings := d.Settings(s)
	if d.Start != nil {
		if settings.Start, err = streamdef.StartCursor(*d.Start, b.opt.Now()); err != nil {
			return handoff.Binding{}, fmt.Errorf("bind stream %s: %w: %w", s, handoff.ErrConfig, err)
		}
	}
	return handoff.Binding{Settings: settings, Source: p.source, Policy: p.policy, Effect: p.effect}, nil
}

// parts gives the function that compiles d the first time it is called. Compiling happens outside the lock: one stream's hundred
// expressions do not hold up another.
func (b *Binder) parts(d *streamdef.Definition) func() (parts, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.built[d.Name]
	if !ok {
		f = sync.OnceValues(func() (parts, error) { return b.compile(d) })
		b.built[d.Name] = f
	}
	return f
}

func (b *Binder) compile(d *streamdef.Definition) (parts, error) {
	source, err := httpsource.New(d, b.opt.Secrets, b.opt.HTTP)
	if err != nil {
		return parts{}, fmt.Errorf("source: %w", err)
	}
	rules, err := policy.New(d.Policy)
	if err != nil {
		return parts{}, fmt.Errorf("policy: %w: %w", handoff.ErrConfig, err)
	}
	eff, err := compileEffect(d.Effect)
	if err != nil {
		return parts{}, fmt.Errorf("effect: %w: %w", handoff.ErrConfig, err)
	}
	return parts{source, rules, eff}, nil
}

// compileEffect makes the one effect that is declared.
func compileEffect(e streamdef.Effect) (handoff.Effect, error) {
	if e.Projection == nil {
		return nil, errors.New("none is declared")
	}
	return effect.NewProjection(*e.Projection)
}
