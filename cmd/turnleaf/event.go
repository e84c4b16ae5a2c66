package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// eventArg is how an event is named on the command line.
type eventArg struct {
	stream, word, conflict string
	exact                  bool
}

// findEvent reads the event that a word means: the text of that word, or the canonical JSON as it stands. If both exist, nobody
// guesses.
func (s *session) findEvent(op operator, a eventArg) (reviewapi.EventView, error) {
	ids := local.EventIDs(a.word)
	if a.exact {
		ids = []string{a.word}
	}
	var found []reviewapi.EventView
	for _, id := range ids {
		v, err := op.Event(s, handoff.Stream(a.stream), handoff.ReceiptKey{EventID: id, Conflict: a.conflict})
		if errors.Is(err, handoff.ErrNotFound) {
			continue
		}
		if err != nil {
			return reviewapi.EventView{}, err
		}
		found = append(found, v)
	}
	if len(found) == 0 && strings.HasPrefix(a.word, "!") {
		var err error
		if found, err = s.findNameless(op, a); err != nil {
			return reviewapi.EventView{}, err
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if _, err := op.Status(s, handoff.Stream(a.stream)); err != nil {
			return reviewapi.EventView{}, s.explainMissing(handoff.Stream(a.stream), err)
		}
		return reviewapi.EventView{}, fmt.Errorf("stream %s has no receipt of event %s: %w", a.stream, a.word, handoff.ErrNotFound)
	}
	return reviewapi.EventView{}, usagef("stream %s has both %s and %s: name one of them with --exact, as it stands here",
		a.stream, found[0].Receipt.EventID, found[1].Receipt.EventID)
}

// findNameless looks among what is held for records without an id, whose long names are shown by their beginning.
func (s *session) findNameless(op operator, a eventArg) (found []reviewapi.EventView, err error) {
	st := handoff.Stream(a.stream)
	err = s.eachHeld(op, st, func(r handoff.Receipt) error {
		if !strings.HasPrefix(r.EventID, a.word) || r.Conflict != a.conflict {
			return nil
		}
		v, err := op.Event(s, st, r.ReceiptKey)
		found = append(found, v)
		return err
	})
	return found, err
}

type resolveCmd struct {
	Stream   string `arg:"" help:"The stream."`
	Event    string `arg:"" help:"The event's id: a word is text, anything else canonical JSON."`
	As       string `required:"" help:"What to do: ${enum}." enum:"release,applied,ignore,quarantine,retry_now"`
	Reason   string `required:"" help:"Why, for the record."`
	Conflict string `help:"The digest of a second content under the same id." placeholder:"DIGEST"`
	Exact    bool   `help:"Take EVENT as canonical JSON, as it stands."`
	Rev      uint64 `help:"Decide only if the receipt still has this rev; read right before, if not given."`
	ID       string `help:"Repeat the decision of this id." placeholder:"ID"`
}

// Help implements kong's detailed help.
func (resolveCmd) Help() string {
	return `release: attempt it again, past this hold.  applied: an attempt whose outcome is unknown did happen.
ignore, quarantine: settle it without its effect.  retry_now: drop a wait.

Example: turnleaf resolve demo evt-0137 --as release --reason "checked with the customer"`
}

// Run decides about one event.
func (c resolveCmd) Run(s *session) error {
	return s.operate(func(op operator) error {
		view, err := s.findEvent(op, eventArg{c.Stream, c.Event, c.Conflict, c.Exact})
		if err != nil {
			return err
		}
		d := handoff.Decision{
			ID: c.ID, Stream: handoff.Stream(c.Stream), Kind: handoff.DecisionKind(c.As), Reason: c.Reason,
			Event: view.Receipt.ReceiptKey, Rev: c.Rev,
		}
		if d.Rev == 0 {
			d.Rev = view.Receipt.Rev
		}
		answer, err := s.decide(op, d)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s: event %s is %s", c.Stream, local.EventWord(view.Receipt.EventID), answer.Outcome)
		if answer.Outcome == handoff.Released {
			text += ": it is attempted again"
		}
		return s.decided(answer, text)
	})
}
