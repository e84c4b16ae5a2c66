package main

import (
	"errors"
	"fmt"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
)

type streamsCmd struct {
	List   streamsListCmd   `cmd:"" default:"1" help:"List streams and where they stand."`
	Start  streamsStartCmd  `cmd:"" help:"Start a stream from a token that you have."`
	Retire streamsRetireCmd `cmd:"" help:"Take a stream off the list; its state stays."`
}

type streamsListCmd struct{}

// Help implements kong's detailed help.
func (streamsListCmd) Help() string { return "Example: turnleaf streams" }

// streamRow is one line of the list.
type streamRow struct {
	Stream  handoff.Stream   `json:"stream"`
	Status  string           `json:"status"` // of the checkpoint, or not_started, retired, orphaned, unreadable
	Version handoff.Version  `json:"version,omitempty"`
	Blocked *handoff.Blocked `json:"blocked,omitempty"`
	Held    int              `json:"held"`
	Defined bool             `json:"defined"`
	Error   string           `json:"error,omitempty"` // why it could not be read
}

// Run lists what is started and what is defined.
func (streamsListCmd) Run(s *session) error {
	defs, err := s.definitions()
	if err != nil {
		return err
	}
	var rows []streamRow
	err = s.operate(func(op operator) (err error) {
		rows, err = s.streamRows(op)
		return err
	})
	if err != nil && !errors.Is(err, errNoData) {
		return err
	}
	byName := map[handoff.Stream]int{}
	for i, r := range rows {
		byName[r.Stream] = i
	}
	for _, d := range defs {
		if i, ok := byName[handoff.Stream(d.Name)]; ok {
			rows[i].Defined = true
		} else {
			rows = append(rows, streamRow{Stream: handoff.Stream(d.Name), Status: "not_started", Defined: true})
		}
	}
	return s.printRows(rows)
}

func (s *session) streamRows(op operator) ([]streamRow, error) {
	lines, err := op.Streams(s)
	if err != nil {
		return nil, err
	}
	rows := make([]streamRow, len(lines))
	for i, l := range lines {
		rows[i] = streamRow{Stream: l.Stream, Status: string(l.Status), Version: l.Version, Blocked: l.Blocked, Held: l.Held, Error: l.Error}
		switch {
		case !l.RetiredAt.IsZero():
			rows[i].Status = "retired"
		case l.Error != "":
			rows[i].Status = "unreadable"
		case !l.OrphanedAt.IsZero():
			rows[i].Status = "orphaned"
		}
	}
	return rows, nil
}

// printRows keeps the order of the rows, what is blocked first, and says so before anything else.
func (s *session) printRows(rows []streamRow) error {
	table := [][]string{{"STREAM", "BLOCKED BY", "SINCE", "STATUS", "PAGE", "HELD"}}
	for _, r := range rows {
		if s.JSON {
			if err := s.emit(r); err != nil {
				return err
			}
			continue
		}
		by, since := "-", "-"
		switch {
		case r.Error != "":
			by, since = r.Error, "?"
		case r.Blocked != nil:
			by, since = r.Blocked.By, age(s.now(), r.Blocked.Since)
		}
		page := ""
		if r.Version > 0 {
			page = fmt.Sprint(r.Version)
		}
		table = append(table, []string{string(r.Stream), by, since, r.Status, page, fmt.Sprint(r.Held)})
	}
	switch {
	case s.JSON:
		return nil
	case len(rows) == 0:
		return s.printf("No streams: put a definition into %s/, or try: %s\n", local.Printable(s.Streams), s.hints().Line("local", "--demo"))
	}
	return s.table(table)
}

type streamsStartCmd struct {
	Stream string `arg:"" help:"The stream: a definition's name."`
	At     string `required:"" help:"Where: a token, beginning, bookmark:VALUE or time:now-24h." placeholder:"START"`
	Reason string `help:"Why, for the record." default:"started on the command line"`
	ID     string `help:"Repeat the decision of this id." placeholder:"ID"`
}

// Help implements kong's detailed help.
func (streamsStartCmd) Help() string {
	return `A token is sent as it stands; write token:VALUE if it begins like one of the other forms.

Example: turnleaf streams start orders --at eyJvZmZzZXQiOjQyfQ`
}

// Run starts a stream, once.
func (c streamsStartCmd) Run(s *session) error {
	defs, err := s.definitions()
	if err != nil {
		return err
	}
	known := false
	for _, d := range defs {
		known = known || d.Name == c.Stream
	}
	if !known {
		return usagef("no definition of stream %s in %s", c.Stream, s.Streams)
	}
	at, err := s.startCursor(c.At)
	if err != nil {
		return err
	}
	return s.operateOn(func(op operator) error {
		answer, err := s.decide(op, handoff.Decision{
			ID: c.ID, Stream: handoff.Stream(c.Stream), Kind: handoff.DecideStart, Reason: c.Reason, Cursor: at, Definition: c.Stream,
		})
		if err != nil {
			return err
		}
		return s.decided(answer, fmt.Sprintf("%s: started, page %d", c.Stream, answer.Version))
	})
}

type streamsRetireCmd struct {
	Stream string `arg:"" help:"The stream."`
	Reason string `required:"" help:"Why, for the record."`
	ID     string `help:"Repeat the decision of this id." placeholder:"ID"`
}

// Help implements kong's detailed help.
func (streamsRetireCmd) Help() string {
	return "Example: turnleaf streams retire orders --reason \"replaced by orders-v2\""
}

// Run retires a stream.
func (c streamsRetireCmd) Run(s *session) error {
	return s.operate(func(op operator) error {
		answer, err := s.decide(op, handoff.Decision{ID: c.ID, Stream: handoff.Stream(c.Stream), Kind: handoff.DecideRetire, Reason: c.Reason})
		if err != nil {
			return err
		}
		return s.decided(answer, fmt.Sprintf("%s: retired at page %d", c.Stream, answer.Version))
	})
}
