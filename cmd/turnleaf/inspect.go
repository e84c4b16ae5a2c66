package main

import (
	"fmt"

	"github.com/turnleaf/turnleaf/internal/bind"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// inspection is what an audit works with: the stores themselves, where this process may open them.
type inspection struct {
	op operator
	// audit is nil while another process runs on the data folder: then op is asked.
	audit auditor
	// binding finds a stream's definition, which may be missing; nil where audit is.
	binding func(handoff.Stream) (handoff.Binding, error)
}

// inspect is operate for commands that read state and archive directly.
func (s *session) inspect(f func(inspection) error) error {
	if s.operator == nil && s.given() {
		return s.inspectCloud(f)
	}
	return s.operate(func(op operator) error {
		in := inspection{op: op, audit: s.auditor, binding: undefined}
		if here, ok := op.(localOperator); ok {
			in.audit, in.binding = here.node.Engine, here.node.Binder.Binding
		}
		return f(in)
	})
}

func undefined(st handoff.Stream) (handoff.Binding, error) {
	return handoff.Binding{}, fmt.Errorf("stream %s: %w", st, bind.ErrUnknownStream)
}

// inspectCloud opens a deployed stack's tables and archive. Its definitions are those of the --streams folder, where it is at hand.
func (s *session) inspectCloud(f func(inspection) error) error {
	engine, state, err := s.cloudEngine()
	if err != nil {
		return err
	}
	c, err := s.config()
	if err != nil {
		return err
	}
	binder := bind.New(c.Definitions, bind.Options{Secrets: c.Secrets, Now: s.now})
	return f(inspection{apiOn(engine, state), engine, binder.Binding})
}
