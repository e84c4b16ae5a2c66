package main

import (
	"fmt"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
)

type auditLogCmd struct {
	Stream string `arg:"" optional:"" help:"Only this stream's."`
}

// Help implements kong's detailed help.
func (auditLogCmd) Help() string { return "Example: turnleaf audit-log demo --json" }

// Run prints every decision, oldest first.
func (c auditLogCmd) Run(s *session) error {
	return s.operate(func(op operator) error {
		streams, err := s.streamsOr(op, c.Stream)
		if err != nil {
			return err
		}
		for _, st := range streams {
			err := pages(func(after string) ([]handoff.AuditRecord, string, error) { return op.Audits(s, st, after) }, s.printAudit)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *session) printAudit(r handoff.AuditRecord) error {
	if s.JSON {
		return s.emit(r)
	}
	what := string(r.Kind)
	if r.Event.EventID != "" {
		what += " " + local.EventWord(r.Event.EventID)
	}
	line := fmt.Sprintf("%s  %s  %s by %s: %s → %s; %s", when(r.At), r.Stream, what, r.Actor, r.Before, r.After, r.Reason)
	if r.Undo != "" {
		line += "; undo: --cursor " + local.ShellWord(string(r.Undo))
	}
	return s.printf("%s\n", local.Printable(line))
}

type docsCmd struct {
	Stream string `arg:"" help:"The stream."`
}

// Help implements kong's detailed help.
func (docsCmd) Help() string { return "Example: turnleaf docs demo" }

// Run prints every document on a line of its own, digits as they are. JSON escapes control characters, so a terminal is safe.
func (c docsCmd) Run(s *session) error {
	return s.operate(func(op operator) error {
		st := handoff.Stream(c.Stream)
		if _, err := op.Status(s, st); err != nil {
			return s.explainMissing(st, err)
		}
		return pages(func(after string) ([]handoff.Doc, string, error) { return op.Docs(s, st, after) }, func(d handoff.Doc) error {
			if s.JSON {
				return s.emit(d)
			}
			return s.printDoc(d)
		})
	})
}

// printDoc is the short form: the entity and its fields.
func (s *session) printDoc(d handoff.Doc) error {
	return s.emit(map[string]any{"entity": d.Entity, "fields": d.Fields})
}
