package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// decide fills in who and under which id, and says how to repeat what may have happened.
func (s *session) decide(op operator, d handoff.Decision) (handoff.DecisionAnswer, error) {
	d.Actor = cmp.Or(s.Actor, s.getenv("USER"), s.username())
	if d.Actor == "" {
		return handoff.DecisionAnswer{}, usagef("nobody knows who decides: say --actor NAME")
	}
	d.ID = cmp.Or(d.ID, rand.Text())
	answer, err := op.Decide(s, d)
	if errors.Is(err, handoff.ErrUnknown) {
		err = fmt.Errorf("%w; repeat the command with --id %s --rev %d", err, d.ID, d.Rev)
	}
	return answer, err
}

// decided prints the answer.
func (s *session) decided(answer handoff.DecisionAnswer, text string) error {
	if s.JSON {
		return s.emit(answer)
	}
	return s.printf("%s.\n", local.Printable(text))
}

// onStream are the arguments of every decision about a stream.
type onStream struct {
	Stream string `arg:"" help:"The stream."`
	Rev    uint64 `help:"Decide only if the stream still has this rev; read right before, if not given."`
	ID     string `help:"Repeat the decision of this id." placeholder:"ID"`
}

// decideStream reads what stands, lets fill complete the decision on it, and takes it.
func (s *session) decideStream(c onStream, kind handoff.DecisionKind, reason string, fill func(handoff.StreamStatus, *handoff.Decision) error) error {
	return s.operate(func(op operator) error {
		name := handoff.Stream(c.Stream)
		st, err := op.Status(s, name)
		if err != nil {
			return s.explainMissing(name, err)
		}
		d := handoff.Decision{ID: c.ID, Stream: name, Kind: kind, Reason: reason, Rev: c.Rev}
		if d.Rev == 0 && kind != handoff.DecidePause && kind != handoff.DecidePollNow {
			d.Rev = st.Rev
		}
		if fill != nil {
			if err := fill(st, &d); err != nil {
				return err
			}
		}
		answer, err := s.decide(op, d)
		if err != nil {
			return err
		}
		return s.decided(answer, fmt.Sprintf("%s: %s, page %d", name, answer.Status, answer.Version))
	})
}

type pauseCmd struct {
	onStream
	Reason string `required:"" help:"Why, for the record."`
}

// Help implements kong's detailed help.
func (pauseCmd) Help() string {
	return `Example: turnleaf pause orders --reason "the ledger is being moved"`
}

// Run pauses.
func (c pauseCmd) Run(s *session) error {
	return s.decideStream(c.onStream, handoff.DecidePause, c.Reason, nil)
}

type resumeCmd struct {
	onStream
	Reason string `required:"" help:"Why, for the record."`
}

// Help implements kong's detailed help.
func (resumeCmd) Help() string {
	return "A pause over a halt ends first; resume again for the halt.\n\nExample: turnleaf resume orders --reason \"the source is mended\""
}

// Run resumes.
func (c resumeCmd) Run(s *session) error {
	return s.decideStream(c.onStream, handoff.DecideResume, c.Reason, nil)
}

type pollCmd struct {
	onStream
	Reason string `help:"Why, for the record." default:"asked for on the command line"`
}

// Help implements kong's detailed help.
func (pollCmd) Help() string { return "Example: turnleaf poll orders" }

// Run asks for a poll now.
func (c pollCmd) Run(s *session) error {
	return s.decideStream(c.onStream, handoff.DecidePollNow, c.Reason, nil)
}

type acceptCmd struct {
	onStream
	Reason string `required:"" help:"Why, for the record."`
}

// Help implements kong's detailed help.
func (acceptCmd) Help() string {
	return "Only that one answer passes, and only the check that it failed.\n\nExample: turnleaf accept orders --reason \"the provider confirmed the gap\""
}

// Run accepts what the halt names.
func (c acceptCmd) Run(s *session) error {
	return s.decideStream(c.onStream, handoff.DecideAccept, c.Reason, func(st handoff.StreamStatus, d *handoff.Decision) error {
		halt := st.Checkpoint.Halt
		if halt == nil {
			return &handoff.ConflictError{Reason: fmt.Sprintf("stream %s is not halted", c.Stream)}
		}
		d.Check, d.Answer = halt.Reason, halt.Answer.Digest
		return nil
	})
}

type lostCmd struct {
	onStream
	Page   uint64 `required:"" help:"The open or closing page." placeholder:"VERSION"`
	Reason string `required:"" help:"Why, for the record."`
}

// Help implements kong's detailed help.
func (lostCmd) Help() string {
	return "Refused as long as the archive still has the page.\n\nExample: turnleaf lost orders --page 17 --reason \"the disk is gone\""
}

// Run gives up the page.
func (c lostCmd) Run(s *session) error {
	return s.decideStream(c.onStream, handoff.DecideLost, c.Reason, func(_ handoff.StreamStatus, d *handoff.Decision) error {
		d.Version = handoff.Version(c.Page)
		return nil
	})
}

type resetCmd struct {
	onStream
	To     string `xor:"to" required:"" help:"Where: a token, beginning, bookmark:VALUE or time:now-24h." placeholder:"START"`
	Cursor string `xor:"to" required:"" help:"Where: a whole cursor, as audit-log shows it under undo." placeholder:"CURSOR"`
	Reason string `required:"" help:"Why, for the record."`
	Yes    bool   `help:"Do it. Without it, only say what it would do."`
}

// Help implements kong's detailed help.
func (resetCmd) Help() string {
	return `Events of the open page that are not settled become superseded: they are listed by held, and are never applied from that page.

Example: turnleaf reset orders --to bookmark:2026-03-01T00:00:00Z --reason "replay the day"`
}

// Run previews, and with --yes resets.
func (c resetCmd) Run(s *session) error {
	to := handoff.Cursor(c.Cursor)
	if to == "" {
		var err error
		if to, err = s.startCursor(c.To); err != nil {
			return err
		}
	}
	if !c.Yes {
		return s.operate(func(op operator) error { return s.previewReset(op, c) })
	}
	return s.decideStream(c.onStream, handoff.DecideReset, c.Reason, func(_ handoff.StreamStatus, d *handoff.Decision) error {
		d.Cursor = to
		return nil
	})
}

// startCursor makes the short form of a start literal.
func (s *session) startCursor(text string) (handoff.Cursor, error) {
	start, err := streamdef.ParseStart(text)
	if err != nil {
		return "", usagef("start %q: %v", text, err)
	}
	return streamdef.StartCursor(start, s.now())
}

// resetPreview is what a reset would do.
type resetPreview struct {
	Stream   handoff.Stream     `json:"stream"`
	Rev      uint64             `json:"rev"`
	Page     handoff.Version    `json:"page"`
	Open     bool               `json:"open"`
	Events   int                `json:"events"`
	Held     int                `json:"held_on_page"`
	HaltOver handoff.HaltReason `json:"halt_cleared,omitempty"`
	// Applied is where effects stand: going back behind it applies older events after newer ones.
	Applied handoff.Position `json:"applied_position,omitzero"`
}

func (s *session) previewReset(op operator, c resetCmd) error {
	name := handoff.Stream(c.Stream)
	st, err := op.Status(s, name)
	if err != nil {
		return s.explainMissing(name, err)
	}
	p := resetPreview{Stream: name, Rev: st.Rev, Page: st.Version, Applied: st.Checkpoint.AppliedPosition}
	if st.Page != nil {
		p.Open, p.Events = true, st.Page.Events
	}
	if st.Checkpoint.Halt != nil {
		p.HaltOver = st.Checkpoint.Halt.Reason
	}
	err = s.eachHeld(op, name, func(r handoff.Receipt) error {
		if r.PageVersion == st.Version && r.Outcome == handoff.Held {
			p.Held++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.JSON {
		return s.emit(p)
	}
	return s.printPreview(p, c)
}

func (s *session) printPreview(p resetPreview, c resetCmd) error {
	page := fmt.Sprintf("no page is open; page %d begins at the new cursor as page %d", p.Page, p.Page+1)
	if p.Open {
		page = fmt.Sprintf("page %d is open with %d events, %d of them held: those that are not settled become superseded", p.Page, p.Events, p.Held)
	}
	if err := s.printf("Nothing was done yet. A reset of %s would do this:\n", local.Printable(c.Stream)); err != nil {
		return err
	}
	order := ""
	if !p.Applied.IsZero() {
		order = "effects stand at position " + p.Applied.String() + "; what lies behind it and is new is applied after what is newer"
	}
	halt := ""
	if p.HaltOver != "" {
		halt = "the halt " + string(p.HaltOver) + " is cleared"
	}
	if err := s.pairs("page", page, "order", order, "halt", halt, "undo", "audit-log keeps the cursor of now"); err != nil {
		return err
	}
	where := []string{"--to", c.To}
	if c.Cursor != "" {
		where = []string{"--cursor", c.Cursor}
	}
	args := append([]string{"reset", c.Stream}, where...)
	args = append(args, "--reason", c.Reason, "--rev", fmt.Sprint(p.Rev), "--yes")
	return s.printf("To do it:  %s\n", s.hints().Line(args...))
}
