package crash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// run carries one directive out and gives what it printed. The words:
//
//	source cursor=C next=C [end] [kind=K]    events as input, one a line: ID ENTITY [BODY] (ID@POSITION where they differ)
//	policy hold=(ID,…) ignore=(ID,…) quarantine=(ID,…)
//	effect kind=(transactional|idempotent|unsafe) [window=D] [unknown=(ID,…)] [refused=(ID,…)] [retry=(ID,…)]
//	chunks size=N
//	poll NAME [now] [until=SITE|after=SITE] [SITE=OUTCOME …]      a scheduled tick, or with now what follows a decision
//	apply NAME [message=N] [keep] [until=…] [SITE=OUTCOME …]        deliver the N-th message (0); keep leaves a copy in the queue
//	decide NAME kind=K [event=ID] [cursor=C] [until=…] [SITE=…]
//	go NAME [until=…|after=…]                                        let a process that stands go on
//	kill NAME                                                       it dies where it stands
//	rest                                                            schedule and queue alone, until nothing moves
//	clock add=D, show, audit
func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	switch d.Cmd {
	case "source":
		return s.source(t, d)
	case "policy":
		for verdict, word := range map[handoff.Verdict]string{handoff.VerdictHold: "hold", handoff.VerdictIgnore: "ignore", handoff.VerdictQuarantine: "quarantine"} {
			for _, id := range list(d, word) {
				s.policy[id] = verdict
			}
		}
	case "effect":
		s.effect(t, d)
	case "chunks":
		d.ScanArgs(t, "size", &s.set.ChunkSize)
	case "clock":
		s.now = s.now.Add(duration(t, d, "add"))
	case "poll", "apply", "decide":
		return s.invoke(t, d)
	case "go", "kill":
		return s.goOn(t, d)
	case "rest":
		return s.rest(t)
	case "show":
		return s.show() + "\n"
	case "audit":
		return s.audit() + "\n"
	default:
		d.Fatalf(t, "no such word")
	}
	return ""
}

// end requires that a story leaves nobody standing.
func (s *script) end() {
	for name, p := range s.processes {
		if !p.ended {
			s.t.Errorf("%s still stands somewhere", name)
			p.life.Kill()
			p.goOn("", "")
		}
	}
}

func (s *script) source(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var at, next string
	d.ScanArgs(t, "cursor", &at)
	a := scriptAnswer{Kind: handoff.ReadPage, End: d.HasArg("end")}
	d.MaybeScanArgs(t, "next", &next)
	a.Next = handoff.Cursor(next)
	if d.HasArg("kind") {
		var kind string
		d.ScanArgs(t, "kind", &kind)
		a.Kind = handoff.ReadKind(kind)
	}
	for line := range strings.Lines(d.Input) {
		words := strings.Fields(line)
		if len(words) < 2 {
			d.Fatalf(t, "an event is ID ENTITY [BODY]: %q", line)
		}
		id, position, apart := strings.Cut(words[0], "@")
		if !apart {
			position = id
		}
		a.Events = append(a.Events, scriptEvent{id, position, words[1], strings.Join(words[2:], " ")})
	}
	s.answers[handoff.Cursor(at)] = a
	return ""
}

func (s *script) effect(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	var kind string
	d.MaybeScanArgs(t, "kind", &kind)
	if kind != "" {
		s.sink.kind = handoff.EffectKind(kind)
	}
	if d.HasArg("window") {
		s.sink.window = duration(t, d, "window")
	}
	for _, answer := range []handoff.CallKind{handoff.CallDone, handoff.CallUnknown, handoff.CallRefused, handoff.CallRetry} {
		for _, id := range list(d, string(answer)) {
			s.sink.answers[id] = answer
		}
	}
}

// invoke begins a process and lets it run, to its end or to where it should stop.
func (s *script) invoke(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	if len(d.CmdArgs) == 0 {
		d.Fatalf(t, "which process?")
	}
	name := d.CmdArgs[0].Key
	if p, ok := s.processes[name]; ok && !p.ended {
		d.Fatalf(t, "%s still stands somewhere", name)
	}
	p := s.begin(name, s.work(t, d))
	for _, arg := range d.CmdArgs[1:] {
		if siteNamed(arg.Key) && len(arg.Vals) == 1 {
			p.fault[arg.Key] = fault.Outcome(strings.ReplaceAll(arg.Vals[0], "-", " "))
		}
	}
	return p.goOn(stops(t, d)) + "\n"
}

func siteNamed(word string) bool {
	for _, site := range fault.Sites() {
		if site.Name == word {
			return true
		}
	}
	return false
}

func stops(t *testing.T, d *datadriven.TestData) (until, after string) {
	t.Helper()
	d.MaybeScanArgs(t, "until", &until)
	d.MaybeScanArgs(t, "after", &after)
	return until, after
}

type invocation = func(ctx context.Context, e *handoff.Engine, b handoff.Binding) string

// work is what a directive asks a process to do.
func (s *script) work(t *testing.T, d *datadriven.TestData) invocation {
	t.Helper()
	switch d.Cmd {
	case "poll":
		return polling(handoff.PollMessage{Stream: scriptStream, Drive: d.HasArg("now")})
	case "apply":
		n := 0
		d.MaybeScanArgs(t, "message", &n)
		if n >= len(s.chunks) {
			d.Fatalf(t, "there are %d messages", len(s.chunks))
		}
		s.chunks[n].received++
		m := s.chunks[n]
		if !d.HasArg("keep") {
			s.chunks = append(s.chunks[:n:n], s.chunks[n+1:]...)
		}
		return applying(handoff.Delivery{ChunkMessage: m.ChunkMessage, Receives: m.received})
	}
	return s.deciding(t, d)
}

func polling(m handoff.PollMessage) invocation {
	return func(ctx context.Context, e *handoff.Engine, b handoff.Binding) string {
		r, err := e.Poll(ctx, b, m)
		return ended(strings.TrimSpace(fmt.Sprintf("%s %s", r.Did, r.Detail)), err)
	}
}

func applying(m handoff.Delivery) invocation {
	return func(ctx context.Context, e *handoff.Engine, b handoff.Binding) string {
		r, err := e.Apply(ctx, b, m)
		var parts []string
		for _, c := range []struct {
			n    int
			word string
		}{{r.Applied, "applied"}, {r.Ignored, "ignored"}, {r.Quarantined, "quarantined"}, {r.Held, "held"}, {r.Retrying, "retrying"}, {r.Replayed, "replayed"}} {
			if c.n > 0 {
				parts = append(parts, strconv.Itoa(c.n)+" "+c.word)
			}
		}
		if r.Promoted {
			parts = append(parts, "promoted")
		}
		if len(parts) == 0 {
			parts = []string{"nothing"}
		}
		return ended(strings.Join(parts, ", "), err)
	}
}

// deciding is an operator who saw what stands now.
func (s *script) deciding(t *testing.T, d *datadriven.TestData) invocation {
	t.Helper()
	var kind, event, cursor string
	d.ScanArgs(t, "kind", &kind)
	d.MaybeScanArgs(t, "event", &event)
	d.MaybeScanArgs(t, "cursor", &cursor)
	decision := handoff.Decision{
		ID: d.CmdArgs[0].Key + s.New(), Stream: scriptStream, Kind: handoff.DecisionKind(kind), Actor: "ada", Reason: "as the script says", Cursor: handoff.Cursor(cursor),
	}
	cp, err := s.state.Checkpoint(t.Context(), scriptStream)
	s.must(err)
	decision.Rev = cp.Rev
	if decision.Kind == handoff.DecideAccept && cp.Halt != nil {
		decision.Check, decision.Answer = cp.Halt.Reason, cp.Halt.Answer.Digest
	}
	if event != "" {
		receipts, _, err := s.state.ListReceipts(t.Context(), scriptStream, "", 1000)
		s.must(err)
		for _, r := range receipts {
			if bare(r.EventID) == event && (r.Conflict != "") == d.HasArg("second") {
				decision.Event, decision.Rev = r.ReceiptKey, r.Rev
			}
		}
	}
	return func(ctx context.Context, e *handoff.Engine, _ handoff.Binding) string {
		a, err := e.Decide(ctx, decision)
		return ended(string(a.Outcome)+string(a.Status), err)
	}
}

func ended(did string, err error) string {
	var conflict *handoff.ConflictError
	switch {
	case err == nil:
		return did
	case errors.As(err, &conflict):
		return "conflict: " + conflict.Reason
	case errors.Is(err, handoff.ErrRefused):
		return "refused"
	case errors.Is(err, handoff.ErrUnknown):
		return "unknown"
	}
	return "error: " + err.Error()
}

func (s *script) goOn(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	p, ok := s.processes[d.CmdArgs[0].Key]
	if !ok || p.ended {
		d.Fatalf(t, "nobody of that name stands anywhere")
	}
	if d.Cmd == "kill" {
		p.life.Kill()
	}
	return p.goOn(stops(t, d)) + "\n"
}

// rest is the schedule and the queue alone, without anybody's help, until nothing moves any more.
func (s *script) rest(t *testing.T) string {
	t.Helper()
	e := handoff.New(s.deps(s.state, s.archive, s))
	b := s.binding(s, &s.sink)
	idle := 0
	for n := 0; idle < 4; n++ {
		if n > 500 {
			return "never comes to rest\n"
		}
		r, err := e.Poll(t.Context(), b, handoff.PollMessage{Stream: scriptStream})
		s.must(err)
		idle++
		switch r.Did {
		case handoff.ActCaughtUp, handoff.ActHalted, handoff.ActPaused, handoff.ActBlocked, handoff.ActNotDue, handoff.ActDriven, handoff.ActWaiting:
			s.now = s.now.Add(20 * time.Minute)
		default:
			idle = 0
		}
		ms := s.chunks
		s.chunks, s.polls = nil, nil
		for _, m := range ms {
			a, err := e.Apply(t.Context(), b, handoff.Delivery{ChunkMessage: m.ChunkMessage, Receives: m.received + 1})
			s.must(err)
			if a.Applied+a.Ignored+a.Quarantined > 0 || a.Promoted {
				idle = 0
			}
		}
	}
	return s.show() + "\naudit: " + s.audit() + "\n"
}

func list(d *datadriven.TestData, key string) []string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return a.Vals
		}
	}
	return nil
}

func duration(t *testing.T, d *datadriven.TestData, key string) time.Duration {
	t.Helper()
	var text string
	d.ScanArgs(t, key, &text)
	out, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return out
}
