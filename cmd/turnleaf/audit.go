package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
)

type auditCmd struct {
	Stream   string          `arg:"" optional:"" help:"Only this stream."`
	From     handoff.Version `help:"The first page to look at." placeholder:"VERSION"`
	Last     int             `help:"Look at the last N versions only." placeholder:"N"`
	Deep     bool            `help:"Read every raw answer again, by the definition that its page opened under, and compare the two event by event."`
	Progress bool            `help:"Say on standard error how far it is, once a second; on a terminal it does so anyway."`
}

// Help implements kong's detailed help.
func (auditCmd) Help() string {
	return `It reads pages, receipts, holds, decisions, documents and archive, writes nothing, and may run while the stream works: what looks wrong is
looked at again before it is told. Each finding names its page, event and receipt, the promise it breaks, and what to do.

Exit codes: 0 every promise holds; 3 one is broken; 1 something could not be read, so that nobody knows; 4 something changed at every look:
pause the stream and audit again.

Example: turnleaf audit demo
Example: turnleaf audit orders --stack production --last 100 --json`
}

// auditor walks a stream's record. *handoff.Engine is one.
type auditor interface {
	Audit(ctx context.Context, s handoff.Stream, opt handoff.AuditOptions, found func(handoff.Finding) error) (handoff.AuditSummary, error)
}

var _ auditor = (*handoff.Engine)(nil)

// Run audits one stream or all.
func (c auditCmd) Run(s *session) error {
	if c.Last < 0 {
		return usagef("--last is %d: a number of versions", c.Last)
	}
	return s.inspect(func(in inspection) error {
		streams, err := s.streamsOr(in.op, c.Stream)
		if err != nil {
			return err
		}
		var all handoff.AuditSummary
		for _, st := range streams {
			sum, err := c.one(s, in, st)
			all.Broken, all.Unread, all.Changed = all.Broken+sum.Broken, all.Unread+sum.Unread, all.Changed+sum.Changed
			if err != nil && all.Broken > 0 { // what was found stands, and is worth more than what ended it
				s.report(err)
				return blockedError{}
			}
			if err != nil {
				return err
			}
		}
		return verdict(all)
	})
}

// verdict gives the exit code: broken promises first, then what nobody could read, then what kept changing.
func verdict(all handoff.AuditSummary) error {
	switch {
	case all.Broken > 0:
		return blockedError{}
	case all.Unread > 0:
		return fmt.Errorf("%s could not be read: whether every promise holds is not known", count(all.Unread, "object"))
	case all.Changed > 0:
		return changedError{count(all.Changed, "finding") + " changed at every look: pause the stream and audit again"}
	}
	return nil
}

// one audits a stream and tells what it finds as it finds it.
func (c auditCmd) one(s *session, in inspection, st handoff.Stream) (handoff.AuditSummary, error) {
	if in.audit == nil {
		return c.asked(s, in, st)
	}
	m := &meter{out: s.stderr, now: s.now, terminal: s.progress, last: s.now()}
	opt := handoff.AuditOptions{From: c.From, Last: c.Last, Deep: c.Deep}
	if c.Progress || s.progress.Width != nil {
		opt.Progress = func(p handoff.AuditProgress) { m.tell(st, p) }
	}
	b, err := in.binding(st)
	if err == nil {
		opt.Binding = &b
	} else if c.Deep {
		return handoff.AuditSummary{}, usagef("--deep reads answers by the stream's definition, and there is none: %v", err)
	}
	sum, err := in.audit.Audit(s, st, opt, func(f handoff.Finding) error {
		m.clear()
		return s.printFinding(f)
	})
	m.clear()
	if err != nil {
		return sum, s.explainMissing(st, err)
	}
	return sum, s.printSummary(sum)
}

// asked is an audit by the process that runs on the folder: it knows no limits, and says only what is broken.
func (c auditCmd) asked(s *session, in inspection, st handoff.Stream) (handoff.AuditSummary, error) {
	sum := handoff.AuditSummary{Stream: st}
	if c.From != 0 || c.Last != 0 || c.Deep {
		return sum, usagef("a process runs on this folder and audits for you, whole and not deep: stop it first for --from, --last or --deep")
	}
	found, err := in.op.Check(s, st)
	if err != nil {
		return sum, s.explainMissing(st, err)
	}
	for _, v := range found {
		sum.Broken++
		if err := s.printFinding(handoff.Finding{Violation: v, Level: handoff.Broken, Stream: st, Promise: v.Promise()}); err != nil {
			return sum, err
		}
	}
	return sum, s.printSummary(sum)
}

// printFinding says where, what, which promise, and what to do.
func (s *session) printFinding(f handoff.Finding) error {
	if s.JSON {
		return s.emit(f)
	}
	where := []string{}
	if f.Version != 0 {
		where = append(where, fmt.Sprintf("page %d", f.Version))
	}
	if f.EventID != "" {
		where = append(where, "event "+local.EventWord(f.EventID))
	}
	if f.Conflict != "" {
		where = append(where, "receipt of its second content "+f.Conflict)
	}
	if len(where) == 0 {
		where = append(where, "the stream")
	}
	lines := []string{fmt.Sprintf("%s: %s at %s: %s", f.Stream, levelText(f), strings.Join(where, ", "), f.Detail)}
	if f.Promise != "" {
		lines = append(lines, "  promise: "+f.Promise)
	}
	if f.Remedy != "" {
		lines = append(lines, "  to do: "+f.Remedy)
	}
	for _, line := range lines {
		if err := s.printf("%s\n", local.Printable(line)); err != nil {
			return err
		}
	}
	return nil
}

func levelText(f handoff.Finding) string {
	switch f.Level {
	case handoff.Unread:
		return "not readable"
	case handoff.Changed:
		return f.Invariant + " changed while looked at"
	case handoff.Leftover:
		return "left over"
	default:
		return f.Invariant + " broken"
	}
}

// printSummary says what was looked at, so that silence about it is worth something.
func (s *session) printSummary(sum handoff.AuditSummary) error {
	if s.JSON {
		return s.emit(map[string]any{"stream": sum.Stream, "summary": sum})
	}
	said := "every invariant holds"
	switch {
	case sum.Broken > 0:
		said = count(sum.Broken, "broken promise")
	case sum.Unread > 0:
		said = count(sum.Unread, "object") + " not readable"
	case sum.Changed > 0:
		said = count(sum.Changed, "finding") + " changed while looked at"
	}
	line := fmt.Sprintf("%s: %s", sum.Stream, said)
	if sum.Version != 0 {
		line += fmt.Sprintf(" (at version %d; %s, %s, %s, %s, %s, %s looked at%s)", sum.Version, count(sum.Pages, "page"), count(sum.Events, "event"),
			count(sum.Receipts, "receipt"), count(sum.Holds, "hold"), count(sum.Decisions, "decision"), count(sum.Documents, "document"), besides(sum))
	}
	return s.printf("%s\n", local.Printable(line))
}

func besides(sum handoff.AuditSummary) string {
	text := ""
	if sum.From > 0 {
		text += fmt.Sprintf(", from version %d on", sum.From)
	}
	if sum.Forgotten > 0 {
		text += fmt.Sprintf("; of %s the archive or the record had expired", count(sum.Forgotten, "page"))
	}
	if sum.Reread > 0 {
		text += fmt.Sprintf("; %s read again from raw", count(sum.Reread, "page"))
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
