package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// keep archives an answer the way a poll does.
func (s *stage) keep(a handoff.Answer) handoff.ObjectRef {
	put := func(name string, b []byte) handoff.ObjectRef {
		ref := handoff.ObjectRef{Key: "raw/feed/ahead/" + handoff.DigestOf(b) + name, Digest: handoff.DigestOf(b)}
		if err := s.archive.Put(s.ctx, ref.Key, b); err != nil {
			s.Fatal(err)
		}
		return ref
	}
	meta, err := json.Marshal(map[string]any{"format": 1, "answer": a, "body": put(".body", a.Body)})
	if err != nil {
		s.Fatal(err)
	}
	return put(".json", meta)
}

// replay leads the real protocol through a trace. After each step every process must stand where the model says, at the very call, and the
// store must hold what the model holds; if not, the error tells the step.
func replay(t *testing.T, m *model, trace []move[state, label]) error {
	t.Helper()
	s := newStage(t, m)
	defer s.leave()
	from := first()
	for i, mv := range trace {
		s.now.advance(2 * time.Millisecond)
		err := s.play(from, mv)
		if err == nil {
			err = s.compare(mv.to)
		}
		if err != nil {
			return fmt.Errorf("step %d, %v: %w\n%s", i+1, mv.label, err, listing(trace[:i+1]))
		}
		from = mv.to
	}
	return nil
}

func words(values ...any) string { return strings.TrimSpace(fmt.Sprintln(values...)) }

func listing(trace []move[state, label]) string {
	var b strings.Builder
	for i, mv := range trace {
		fmt.Fprintf(&b, "%4d %v\n", i+1, mv.label)
	}
	return b.String()
}

func (s *stage) play(from state, mv move[state, label]) error {
	l := mv.label
	switch {
	case l.who == queue:
		s.sent.lose(l.a, l.b)
	case l.who == clock:
		s.now.advance(time.Hour)
	case l.who == ahead:
		if l.step == "read/page" {
			s.fetchAhead(mv.to)
		} else if l.step != crash {
			s.putAhead()
		}
	default:
		return s.lead(from, mv)
	}
	return nil
}

// lead grants one process one call.
func (s *stage) lead(from state, mv move[state, label]) error {
	l := mv.label
	p, q := from.procs[l.who], mv.to.procs[l.who]
	if l.step == crash {
		a := s.actors[l.who]
		a.step(fault.CrashBefore)
		s.actors[l.who] = nil
		if !a.over() {
			return fmt.Errorf("it lived on, to %s", a.waiting.Site)
		}
		return nil
	}
	if p.pc == idle {
		a := s.begin(l)
		s.actors[l.who] = a
		a.reach(l.step)
	}
	a := s.actors[l.who]
	if a.waiting.Site != l.step {
		return fmt.Errorf("the code is at %q", a.waiting.Site)
	}
	a.choice, a.happens = l.a, mv.to.effects != from.effects
	a.step(fault.None)
	next := ""
	if q.pc != idle {
		next = q.pc.site(l.who)
	}
	a.reach(next)
	switch {
	case next == "" && a.over():
		s.actors[l.who] = nil
	case a.waiting.Site != next:
		return fmt.Errorf("the code goes on to %q, the model to %q", a.waiting.Site, next)
	}
	return nil
}

// reach lets the calls pass that the model does not have: reads that only read back or explain, and the counting of starts.
func (a *actor) reach(next string) {
	for !a.over() && a.waiting.Site != next && (!a.waiting.Write || strings.HasPrefix(a.waiting.Site, "poison/")) {
		a.step(fault.None)
	}
}

// leave lets no goroutine behind.
func (s *stage) leave() {
	for _, a := range s.actors {
		for a != nil && !a.over() {
			a.step(fault.CrashBefore)
		}
	}
}

// compare holds the store against the model's state.
func (s *stage) compare(want state) error {
	for _, check := range []func(state) error{s.compareCheckpoint, s.comparePages, s.compareEvents} {
		if err := check(want); err != nil {
			return err
		}
	}
	if s.sent.of != want.messages {
		return fmt.Errorf("messages under way: %b, model %b", s.sent.of, want.messages)
	}
	return nil
}

func (s *stage) compareCheckpoint(want state) error {
	cp := s.checkpoint()
	applied := want.cp.applied
	var number string
	if applied != 0 {
		number = fmt.Sprint(applied)
	}
	got := words(cp.Version, cp.ResumeCursor, cp.Closing, cp.Paused, cp.FloorOpen, cp.Epoch, cp.AppliedPosition.String(), cp.Halt != nil)
	model := words(want.cp.version, cursorOf(want.cp.cursor), want.cp.closing, want.cp.paused, want.cp.floorOpen, want.resets, number, false)
	if got != model {
		return fmt.Errorf("checkpoint %s, model %s", got, model)
	}
	return nil
}

func (s *stage) comparePages(want state) error {
	pages, err := s.store.ListPages(s.ctx, stream, 0, 100)
	if err != nil {
		return err
	}
	for v := uint8(1); v <= maxVersions; v++ {
		at := slices.IndexFunc(pages, func(p handoff.Page) bool { return p.Version == handoff.Version(v) })
		p := *want.page(v)
		if (at >= 0) != p.exists() {
			return fmt.Errorf("page %d exists: %v, model %v", v, at >= 0, p.exists())
		}
		if at < 0 {
			continue
		}
		c := pages[at]
		got := words(c.Events, c.Chunks, c.ChunksDone.List(), c.Abandoned, c.Drives > 1, c.NextCursorHash, c.RequestCursorHash)
		model := words(count(p.mask), len(s.m.chunks(p)), members(p.flags&doneBits), p.is(abandoned), p.is(driven),
			cursorOf(s.m.answers[p.answer].next).Hash(), cursorOf(s.m.answers[p.answer].at).Hash())
		if got != model {
			return fmt.Errorf("page %d is %s, model %s", v, got, model)
		}
	}
	return nil
}

func (s *stage) compareEvents(want state) error {
	for e := uint8(1); e <= maxEvents; e++ {
		key := handoff.ReceiptKey{EventID: idOf(e)}
		r := s.receipts(key)[key]
		asked := slices.ContainsFunc(r.Answered, func(a handoff.AnsweredHold) bool { return a.Reason == handoff.HoldPolicy })
		got := words(outcomes[r.Outcome], r.PageVersion, r.Attempt != nil, asked, s.effects(e))
		w := want.receipt(e)
		model := words(w.outcome(), w.stamp(), w.has(attempt), w.has(answered), want.effects[e-1])
		if got != model {
			return fmt.Errorf("event %d is %s, model %s", e, got, model)
		}
	}
	return nil
}

var outcomes = map[handoff.Outcome]outcome{
	"": none, handoff.Applied: applied, handoff.Ignored: ignored, handoff.Quarantined: ignored, handoff.Held: held, handoff.Released: released,
	handoff.Superseded: superseded, handoff.Claimed: claimed, handoff.Retrying: retrying,
}

func members(bits uint8) []int {
	out := []int{}
	for i := range 8 {
		if bits&(1<<i) != 0 {
			out = append(out, i)
		}
	}
	return out
}

func count(bits uint8) int { return len(members(bits)) }
