package crash

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// standing says where a checkpoint stands.
func standing(cp handoff.Checkpoint) string {
	s := fmt.Sprintf("v%d at %s", cp.Version, cp.ResumeCursor)
	if a := cp.AppliedPosition.String(); a != "" {
		s += ", applied " + a
	}
	if cp.Status() != handoff.Active {
		s += ", " + string(cp.Status())
	}
	if cp.Halt != nil {
		s += " (" + string(cp.Halt.Reason) + ")"
	}
	if cp.Closing != 0 {
		s += fmt.Sprintf(", closing v%d", cp.Closing)
	}
	return s
}

func outcome(r handoff.Receipt) string {
	s := string(r.Outcome)
	if r.Outcome == handoff.Held {
		s += ":" + string(r.Reason)
	}
	if r.Conflict != "" {
		s = "second content " + s
	}
	return s
}

// show prints everything durable: checkpoint, pages, receipts, documents, calls, messages.
func (s *script) show() string {
	ctx := s.t.Context()
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	cp, err := s.state.Checkpoint(ctx, scriptStream)
	if errors.Is(err, handoff.ErrNotFound) {
		return "nothing"
	}
	say("checkpoint %s", standing(cp))
	pages, err := s.state.ListPages(ctx, scriptStream, 0, 100)
	s.must(err)
	for _, p := range pages {
		state := "open"
		switch {
		case p.Abandoned:
			state = "abandoned"
		case p.Lost:
			state = "lost"
		case p.Version == cp.Closing:
			state = "closing"
		case p.Version < cp.Version:
			state = "promoted"
		}
		say("page v%d %s, %d of %d chunks done, driven %d×", p.Version, state, p.ChunksDone.Len(), p.Chunks, p.Drives)
	}
	receipts, _, err := s.state.ListReceipts(ctx, scriptStream, "", 1000)
	s.must(err)
	slices.SortFunc(receipts, func(a, b handoff.Receipt) int {
		return strings.Compare(pad(a.EventID)+a.Conflict, pad(b.EventID)+b.Conflict)
	})
	for _, r := range receipts {
		say("receipt %s %s, stamp v%d", bare(r.EventID), outcome(r), r.PageVersion)
	}
	docs, _, err := s.state.ListDocs(ctx, scriptStream, "", 1000)
	s.must(err)
	slices.SortFunc(docs, func(a, b handoff.Doc) int { return strings.Compare(a.Entity, b.Entity) })
	for _, d := range docs {
		say("document %s %s", d.Entity, trail(d))
	}
	if len(s.sink.calls) > 0 {
		say("calls %s", strings.Join(s.sink.calls, " "))
	}
	for _, m := range s.chunks {
		say("message v%d.%d", m.Version, m.Chunk)
	}
	return strings.Join(out, "\n")
}

func pad(id string) string { return fmt.Sprintf("%8s", bare(id)) }

// trail says how often each event had its effect on a document, and which was the last.
func trail(d handoff.Doc) string {
	var names []string
	for name, count := range d.Fields {
		switch {
		case name == "last":
		case string(count) == "1":
			names = append(names, name)
		default:
			names = append(names, name+"×"+string(count))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(pad(a), pad(b)) })
	return fmt.Sprintf("%s, last %s", strings.Join(names, " "), strings.Trim(string(d.Fields["last"]), `"`))
}

// audit prints every broken invariant.
func (s *script) audit() string {
	e := handoff.New(s.deps(s.state, s.archive, s))
	found, err := e.CheckInvariants(s.t.Context(), scriptStream)
	s.must(err)
	var out []string
	for _, v := range found {
		out = append(out, fmt.Sprintf("%s v%d %s: %s", v.Invariant, v.Version, v.EventID, v.Detail))
	}
	if len(out) == 0 {
		return "clean"
	}
	return strings.Join(out, "\n")
}

func (s *script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
