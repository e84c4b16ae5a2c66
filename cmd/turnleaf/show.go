package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

type heldCmd struct {
	Stream string `arg:"" optional:"" help:"Only this stream's."`
}

// Help implements kong's detailed help.
func (heldCmd) Help() string {
	return `Held events block their page. Superseded ones are on a page that a reset passed: they block nothing, and wait to be ignored or quarantined.

Example: turnleaf held demo`
}

// Run lists holds, oldest first.
func (c heldCmd) Run(s *session) error {
	return s.operate(func(op operator) error {
		streams, err := s.streamsOr(op, c.Stream)
		if err != nil {
			return err
		}
		rows := [][]string{{"STREAM", "EVENT", "OUTCOME", "WHY", "ENTITY", "POSITION", "PAGE", "SINCE"}}
		for _, st := range streams {
			if err := s.eachHeld(op, st, func(r handoff.Receipt) error {
				if s.JSON {
					return s.emit(r)
				}
				rows = append(rows, heldRow(r, s))
				return nil
			}); err != nil {
				return err
			}
		}
		switch {
		case s.JSON:
			return nil
		case len(rows) == 1:
			return s.printf("Nothing waits for a decision.\n")
		}
		return s.table(rows)
	})
}

func heldRow(r handoff.Receipt, s *session) []string {
	word := local.EventWord(r.EventID)
	if r.Conflict != "" {
		word += " --conflict " + r.Conflict
	}
	return []string{
		string(r.Stream), word, string(r.Outcome), whyText(r), r.Entity, r.Position.String(), fmt.Sprint(r.PageVersion), age(s.now(), r.HeldAt),
	}
}

func whyText(r handoff.Receipt) string {
	if r.Detail == "" {
		return string(r.Reason)
	}
	return string(r.Reason) + ": " + r.Detail
}

func (s *session) eachHeld(op operator, st handoff.Stream, f func(handoff.Receipt) error) error {
	return pages(func(after string) ([]handoff.Receipt, string, error) { return op.Held(s, st, after) }, f)
}

// pages walks a list that comes in batches.
func pages[T any](list func(after string) ([]T, string, error), f func(T) error) error {
	for after := ""; ; {
		items, next, err := list(after)
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := f(item); err != nil {
				return err
			}
		}
		if after = next; after == "" {
			return nil
		}
	}
}

// streamsOr is the one stream named, or all.
func (s *session) streamsOr(op operator, name string) ([]handoff.Stream, error) {
	if name != "" {
		st := handoff.Stream(name)
		if _, err := op.Status(s, st); err != nil {
			return nil, s.explainMissing(st, err)
		}
		return []handoff.Stream{st}, nil
	}
	entries, err := op.Streams(s)
	if err != nil {
		return nil, err
	}
	out := make([]handoff.Stream, len(entries))
	for i, e := range entries {
		out[i] = e.Stream
	}
	return out, nil
}

// explainMissing tells a stream that was never started from one that nobody knows.
func (s *session) explainMissing(st handoff.Stream, err error) error {
	if !errors.Is(err, handoff.ErrNotFound) {
		return err
	}
	if defs, defErr := s.definitions(); defErr == nil {
		for _, d := range defs {
			if d.Name == string(st) {
				return fmt.Errorf("stream %s is defined and was never started: %w", st, err)
			}
		}
	}
	return fmt.Errorf("no stream %s in %s and no definition of it in %s: %w", st, s.Data, s.Streams, err)
}

type showCmd struct {
	Stream   string `arg:"" help:"The stream."`
	Event    string `arg:"" optional:"" help:"An event's id: a word is text, anything else canonical JSON."`
	Conflict string `help:"The digest of a second content under the same id." placeholder:"DIGEST"`
	Exact    bool   `help:"Take EVENT as canonical JSON, as it stands."`
	ExitCode bool   `help:"Exit with 3 if something blocks the stream."`
}

// Help implements kong's detailed help.
func (showCmd) Help() string {
	return "Example: turnleaf show demo\nExample: turnleaf show demo evt-0137"
}

// Run shows a stream, or one event.
func (c showCmd) Run(s *session) error {
	return s.operate(func(op operator) error {
		if c.Event != "" {
			view, err := s.findEvent(op, eventArg{c.Stream, c.Event, c.Conflict, c.Exact})
			if err != nil {
				return err
			}
			return s.showEvent(view)
		}
		st, err := op.Status(s, handoff.Stream(c.Stream))
		if err != nil {
			return s.explainMissing(handoff.Stream(c.Stream), err)
		}
		if s.JSON {
			err = s.emit(st)
		} else {
			err = s.showStream(st)
		}
		if err == nil && c.ExitCode && st.Blocked != nil {
			return blockedError{}
		}
		return err
	})
}

// showStream says first what blocks it.
func (s *session) showStream(st handoff.StreamStatus) error {
	name := local.Printable(string(st.Stream))
	if b := st.Blocked; b != nil {
		what := b.By
		if b.Event != nil {
			what += " of event " + local.EventWord(b.Event.EventID)
		}
		if err := s.printf("%s is blocked by %s, since %s (%s)\n", name, local.Printable(what), when(b.Since), age(s.now(), b.Since)); err != nil {
			return err
		}
	} else if err := s.printf("%s: nothing blocks it\n", name); err != nil {
		return err
	}
	cp := st.Checkpoint
	return s.pairs(append(s.blockPairs(st),
		"status", string(st.Status),
		"page", fmt.Sprintf("%d%s", st.Version, openText(st.Page)),
		"applied up to", cp.AppliedPosition.String(),
		"held", heldText(st),
		"cursor", "since "+when(cp.CursorSinceAt)+", "+cp.ResumeCursor.Hash()[:8],
		"next poll", when(cp.NextPollAt),
		"rev", fmt.Sprint(st.Rev),
	)...)
}

func (s *session) blockPairs(st handoff.StreamStatus) []string {
	if st.Blocked == nil {
		return nil
	}
	out := []string{"detail", st.Blocked.Detail, "remedy", st.Remedy}
	if r := st.Blocked.Event; r != nil {
		return append(out, s.decidePairs(*r)...)
	}
	if st.Status == handoff.Active {
		return out // it heals by itself
	}
	return append(out, choices(s.hints().OnStream(st))...)
}

// decidePairs are the commands that decide about an event; none once it is settled.
func (s *session) decidePairs(r handoff.Receipt) []string {
	if r.Outcome.Terminal() {
		return nil
	}
	return choices(s.hints().Resolve(r))
}

func choices(commands []string) (kv []string) {
	label := "decide"
	for _, c := range commands {
		kv = append(kv, label, c)
		label = "or"
	}
	return kv
}

func openText(p *handoff.Page) string {
	if p == nil {
		return ", not open"
	}
	return fmt.Sprintf(", open since %s: %d events, %d of %d chunks settled", when(p.OpenedAt), p.Events, p.ChunksDone.Len(), p.Chunks)
}

func heldText(st handoff.StreamStatus) string {
	switch {
	case st.Held == 0:
		return "none"
	case st.HeldMore:
		return fmt.Sprintf("more than %d, the oldest since %s", st.Held, when(st.OldestHeld))
	}
	return fmt.Sprintf("%d, the oldest since %s", st.Held, when(st.OldestHeld))
}

func (s *session) showEvent(v reviewapi.EventView) error {
	if s.JSON {
		return s.emit(v)
	}
	r := v.Receipt
	word := local.Printable(local.EventWord(r.EventID))
	name := ""
	if word != r.EventID && strings.HasPrefix(word, "!") {
		name = r.EventID
	}
	if err := s.printf("%s: event %s is %s\n", local.Printable(string(r.Stream)), word, r.Outcome); err != nil {
		return err
	}
	if err := s.pairs(append([]string{
		"whole name", name, "why", whyText(r), "error", r.Error, "by", r.By, "since", when(r.WrittenAt), "held since", when(r.HeldAt),
		"next attempt", when(r.NextAt), "attempts", countText(r.Attempts), "entity", r.Entity, "position", r.Position.String(),
		"page", fmt.Sprintf("%d, chunk %d, index %d", r.PageVersion, r.Chunk, r.Index), "digest", r.Digest,
		"second content", r.Conflict, "rev", fmt.Sprint(r.Rev),
	}, s.decidePairs(r)...)...); err != nil {
		return err
	}
	if v.Missing != "" {
		return s.printf("  payload: %s\n", local.Printable(v.Missing))
	}
	return s.printf("  payload, as received:\n%s\n", payload(v.Payload()))
}

func countText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
