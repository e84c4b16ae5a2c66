package model

import (
	"context"
	"strconv"
	"strings"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// actor is one real process: a goroutine that waits at each of its port calls until the trace lets it go on.
type actor struct {
	stage *stage
	life  *fault.Process
	// at tells the call that it waits at; "" when it has ended.
	at chan fault.Call
	// grant lets it go on; a crash kills it there.
	grant chan fault.Outcome
	// waiting is the last call told and not yet granted; a zero Site means that it has ended.
	waiting fault.Call
	// choice and happens are what the source or the sink does next.
	choice  uint8
	happens bool
}

// begin starts what a label begins, up to the process's first call.
func (s *stage) begin(l label) *actor {
	a := &actor{stage: s, at: make(chan fault.Call), grant: make(chan fault.Outcome)}
	a.life = fault.New(func(c fault.Call) fault.Outcome {
		a.at <- c
		return <-a.grant
	})
	engine, run := s.engine(a.life), s.command(l)
	go func() {
		run(engine, a)
		a.at <- fault.Call{}
	}()
	a.waiting = <-a.at
	return a
}

// step lets the waiting call happen and leads the process to its next one.
func (a *actor) step(o fault.Outcome) {
	a.grant <- o
	a.waiting = <-a.at
}

func (a *actor) over() bool { return a.waiting.Site == "" }

// command is what a process does from its first call on. Errors are left alone: what counts is what it wrote.
func (s *stage) command(l label) func(*handoff.Engine, *actor) {
	ctx := s.ctx
	decide := func(d handoff.Decision) func(*handoff.Engine, *actor) {
		d.ID, d.Stream, d.Actor, d.Reason = "d"+s.ids.New(), stream, "ada", "checked by hand"
		return func(e *handoff.Engine, _ *actor) { _, _ = e.Decide(ctx, d) }
	}
	switch l.who {
	case poll1, poll2:
		return func(e *handoff.Engine, a *actor) {
			_, _ = e.Poll(ctx, s.binding(a), handoff.PollMessage{Stream: stream, Drive: true})
		}
	case apply1, apply2:
		d := handoff.Delivery{ChunkMessage: handoff.ChunkMessage{Stream: stream, Version: handoff.Version(l.a), Chunk: int(l.b)}, Receives: 1}
		if l.again {
			d.Receives = 2
		}
		return func(e *handoff.Engine, a *actor) { _, _ = e.Apply(ctx, s.binding(a), d) }
	case desk:
		key := handoff.ReceiptKey{EventID: idOf(l.a)}
		return decide(handoff.Decision{Kind: kinds[l.word], Event: key, Rev: s.receipts(key)[key].Rev})
	}
	d := handoff.Decision{Kind: kinds[l.word], Rev: s.checkpoint().Rev}
	if l.word == reset {
		d.Cursor = cursorOf(l.a)
	}
	return decide(d)
}

var kinds = map[word]handoff.DecisionKind{
	release: handoff.DecideRelease, declare: handoff.DecideApplied, ignore: handoff.DecideIgnore, quarantine: handoff.DecideQuarantine,
	pause: handoff.DecidePause, resume: handoff.DecideResume, reset: handoff.DecideReset,
}

func (s *stage) checkpoint() handoff.Checkpoint {
	cp, err := s.store.Checkpoint(s.ctx, stream)
	if err != nil {
		s.Fatal(err)
	}
	return cp
}

func (s *stage) receipts(keys ...handoff.ReceiptKey) map[handoff.ReceiptKey]handoff.Receipt {
	found, err := s.store.Receipts(s.ctx, stream, keys, false)
	if err != nil {
		s.Fatal(err)
	}
	return found
}

// fetchAhead and putAhead are the read-ahead, which is no part of the engine: an answer in the archive, then its entry in the spool.
func (s *stage) fetchAhead(to state) {
	p := to.procs[ahead]
	answer := s.m.answerFor(p.answer, s.now.Now())
	answer.Cursor, answer.FetchHash, answer.Epoch = cursorOf(p.cursor), "f", uint64(p.num)
	s.entry = handoff.SpoolEntry{
		Stream: stream, Version: handoff.Version(p.v), RequestCursor: answer.Cursor, Epoch: answer.Epoch, Raw: s.keep(answer), FetchedAt: answer.FetchedAt,
	}
}

func (s *stage) putAhead() {
	taken := false
	for v := range handoff.Version(maxVersions + 1) { // the model has room for one entry
		found, err := s.store.Spool(s.ctx, stream, v)
		if err != nil {
			s.Fatal(err)
		}
		taken = taken || len(found) > 0
	}
	if !taken {
		if err := s.store.PutSpool(context.WithoutCancel(s.ctx), s.entry); err != nil {
			s.Fatal(err)
		}
	}
}

// effects counts what happened to an event.
func (s *stage) effects(e uint8) uint8 {
	if s.m.outside {
		return s.calls[e-1]
	}
	doc, err := s.store.Doc(s.ctx, stream, entityOf(s.m.entity[e-1]))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(doc.Fields["n"+strconv.Itoa(int(e))])))
	return uint8(min(n, 2))
}
