package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
)

// script is one story's stage: a store, a queue, a source and a sink that outlive every process.
type script struct {
	t         *testing.T
	now       time.Time
	ids       int
	state     *memstate.Store
	archive   *memstate.Archive
	chunks    []chunkMessage
	polls     []handoff.PollMessage
	answers   map[handoff.Cursor]scriptAnswer
	policy    map[string]handoff.Verdict
	sink      scriptSink
	set       handoff.Settings
	processes map[string]*process
}

// chunkMessage is a message and how often it was delivered.
type chunkMessage struct {
	handoff.ChunkMessage
	received int
}

// scriptAnswer is what the source says to a cursor.
type scriptAnswer struct {
	Kind   handoff.ReadKind
	Events []scriptEvent
	Next   handoff.Cursor
	End    bool
}

type scriptEvent struct{ ID, Position, Entity, Body string }

const scriptStream handoff.Stream = "orders"

func newScript(t *testing.T) *script {
	return &script{
		t: t, now: time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC), state: memstate.New(), archive: memstate.NewArchive(),
		answers: map[handoff.Cursor]scriptAnswer{}, policy: map[string]handoff.Verdict{}, processes: map[string]*process{},
		sink: scriptSink{kind: handoff.Transactional, answers: map[string]handoff.CallKind{}},
		set: handoff.Settings{
			Stream: scriptStream, Definition: string(scriptStream), Start: "c0", Interval: time.Minute, Pages: 20, Lanes: handoff.LaneEntity,
			Contract: handoff.Contract{Ordered: true, Unique: true, Overlap: true}, Revision: "r1", FetchHash: "f1", Identity: "i1", Policy: "p1", Effect: "e1",
		},
	}
}

// Now and New make the script the clock and the ids.
func (s *script) Now() time.Time { return s.now }

func (s *script) New() string {
	s.ids++
	return fmt.Sprint("t", s.ids)
}

func (s *script) SendChunks(_ context.Context, ms []handoff.ChunkMessage, _ time.Duration) error {
	for _, m := range ms {
		s.chunks = append(s.chunks, chunkMessage{ChunkMessage: m})
	}
	return nil
}

func (s *script) SendPoll(_ context.Context, m handoff.PollMessage, _ time.Duration) error {
	s.polls = append(s.polls, m)
	return nil
}

func (s *script) Ask(_ context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	a, ok := s.answers[c]
	if !ok {
		return handoff.Answer{}, errors.New("no route to the source")
	}
	body, err := json.Marshal(a)
	return handoff.Answer{Status: 200, FetchedAt: now, Body: body}, err
}

func (s *script) Read(a handoff.Answer) handoff.Reading {
	var r scriptAnswer
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return handoff.Reading{Kind: handoff.ReadUnreadable, Class: "json"}
	}
	out := handoff.Reading{Kind: r.Kind, Next: r.Next, End: r.End, Continues: true, Class: "scripted", Detail: string(r.Kind)}
	for _, e := range r.Events {
		raw := fmt.Appendf(nil, `{"id":%q,"body":%q}`, e.ID, e.Body)
		position, err := handoff.NumberPosition(e.Position)
		ev := handoff.Event{ID: quoted(e.ID), Position: position, Entity: e.Entity, Raw: raw, Digest: handoff.DigestOf(raw)}
		if err != nil {
			ev.Invalid = "no position"
		}
		out.Events = append(out.Events, ev)
	}
	return out
}

func (s *script) Judge(e handoff.Event) (handoff.Ruling, error) {
	if v, ok := s.policy[bare(e.ID)]; ok {
		return handoff.Ruling{Verdict: v, Rule: "script"}, nil
	}
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

func quoted(id string) string { return `"` + id + `"` }

func bare(id string) string { return strings.Trim(id, `"`) }

// scriptSink is the effect: a projection that lists what each entity saw, or an outside sink that lists its calls.
type scriptSink struct {
	kind    handoff.EffectKind
	window  time.Duration
	calls   []string
	answers map[string]handoff.CallKind
}

func (k *scriptSink) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: k.kind, Timeout: 5 * time.Second, KeyWindow: k.window}
}

// Plan adds the event's own number to the entity's, so that a second effect shows.
func (k *scriptSink) Plan(e handoff.Event) ([]handoff.DocChange, error) {
	last, err := json.Marshal(bare(e.ID))
	return []handoff.DocChange{{Entity: e.Entity, Set: map[string]json.RawMessage{"last": last}, Add: map[string]string{bare(e.ID): "1"}}}, err
}

func (k *scriptSink) Call(_ context.Context, e handoff.Event, _ string) handoff.CallResult {
	k.calls = append(k.calls, bare(e.ID))
	if a, ok := k.answers[bare(e.ID)]; ok {
		return handoff.CallResult{Kind: a, Detail: "as the script says"}
	}
	return handoff.CallResult{Kind: handoff.CallDone}
}

func (s *script) binding(source handoff.Source, effect handoff.Effect) handoff.Binding {
	return handoff.Binding{Settings: s.set, Source: source, Policy: s, Effect: effect}
}

func (s *script) deps(state handoff.State, archive handoff.Archive, queue handoff.Queue) handoff.Deps {
	return handoff.Deps{State: state, Archive: archive, Queue: queue, Clock: s, IDs: s, Timing: handoff.DefaultTiming()}
}
