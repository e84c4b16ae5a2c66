package handoff_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
)

const auditStream = handoff.Stream("feed")

// wall is a clock that the test moves.
type wall struct{ now time.Time }

func (w *wall) Now() time.Time { return w.now }

// counter names things.
type counter struct{ n int }

func (c *counter) New() string { c.n++; return "id-" + strconv.Itoa(c.n) }

// inbox keeps chunk messages until they are delivered.
type inbox struct{ chunks []handoff.ChunkMessage }

func (q *inbox) SendChunks(_ context.Context, ms []handoff.ChunkMessage, _ time.Duration) error {
	q.chunks = append(q.chunks, ms...)
	return nil
}

func (q *inbox) SendPoll(context.Context, handoff.PollMessage, time.Duration) error { return nil }

// row is one event of the scripted source: id and position are its number, unless Body makes it another content of the same id.
type row struct {
	N      int    `json:"n"`
	Entity string `json:"entity"`
	Body   string `json:"body,omitempty"`
	At     int    `json:"at,omitempty"` // its position, if that is not its number
}

func rowOf(n int, entity string) row { return row{N: n, Entity: entity} }

type script struct {
	Rows []row          `json:"rows"`
	Next handoff.Cursor `json:"next"`
}

// scripted is a source that answers by cursor.
type scripted map[handoff.Cursor]script

func (s scripted) Ask(_ context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	body, err := json.Marshal(s[c])
	return handoff.Answer{Status: 200, FetchedAt: now, Body: body}, err
}

func (s scripted) Read(a handoff.Answer) handoff.Reading {
	var in script
	if err := json.Unmarshal(a.Body, &in); err != nil {
		return handoff.Reading{Kind: handoff.ReadUnreadable}
	}
	out := handoff.Reading{Kind: handoff.ReadPage, Next: in.Next, Continues: true}
	for _, r := range in.Rows {
		raw, _ := json.Marshal(r) // plain data always encodes
		at, _ := handoff.NumberPosition(strconv.Itoa(cmp.Or(r.At, r.N)))
		out.Events = append(out.Events, handoff.Event{ID: strconv.Itoa(r.N), Entity: r.Entity, Position: at, Raw: raw, Digest: handoff.DigestOf(raw)})
	}
	return out
}

// tallies is a projection that counts an entity's events, those of the ids in it left out.
type tallies map[string]bool

func (tallies) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: handoff.Transactional}
}

func (t tallies) Plan(e handoff.Event) ([]handoff.DocChange, error) {
	if t[e.ID] {
		return nil, nil
	}
	return []handoff.DocChange{{Entity: e.Entity, Add: map[string]string{"n": "1"}}}, nil
}

func (tallies) Call(context.Context, handoff.Event, string) handoff.CallResult {
	return handoff.CallResult{Kind: handoff.CallRefused}
}

// holding holds the events it names.
type holding map[string]bool

func (h holding) Judge(e handoff.Event) (handoff.Ruling, error) {
	if h[e.ID] {
		return handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "look"}, nil
	}
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

// tale is a stream with everything in it that a healthy record can have.
type tale struct {
	*testing.T
	clock  *wall
	inbox  *inbox
	ids    *counter
	state  *memstate.Store
	shelf  *shelf
	engine *handoff.Engine
	b      handoff.Binding
}

func newTale(t *testing.T) *tale {
	t.Helper()
	s := &tale{T: t, clock: &wall{time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)}, inbox: &inbox{}, ids: &counter{}, state: memstate.New()}
	s.shelf = &shelf{Archive: memstate.NewArchive()}
	s.b = handoff.Binding{
		Settings: handoff.Settings{
			Stream: auditStream, Definition: "feed", Start: "c0", Pages: 9, ChunkSize: 2, Lanes: handoff.LaneEntity,
			Contract: handoff.Contract{Ordered: true, Unique: true}, Revision: "r1", FetchHash: "f1", Identity: "i1", Policy: "p1", Effect: "e1",
		},
		Source: scripted{
			"c0": {[]row{rowOf(1, "a"), rowOf(2, "b"), rowOf(3, "a"), rowOf(4, "b")}, "c1"},
			"c1": {[]row{rowOf(5, "a"), rowOf(6, "b"), rowOf(7, "a"), {N: 7, Entity: "a", Body: "again"}}, "c2"},
			"c2": {nil, "c3"},
			"c3": {[]row{rowOf(8, "a"), rowOf(9, "b")}, "c4"},
			"c4": {[]row{rowOf(10, "a"), rowOf(11, "b")}, "c5"},
			"c6": {[]row{rowOf(12, "a"), {N: 12, Entity: "a", Body: "again"}, rowOf(13, "b"), rowOf(14, "c")}, "c7"},
		},
		Policy: holding{"6": true, "9": true, "13": true}, Effect: tallies{},
	}
	s.engine = handoff.New(s.deps(s.state, s.shelf))
	return s
}

func (s *tale) deps(st handoff.State, a handoff.Archive) handoff.Deps {
	return handoff.Deps{State: st, Archive: a, Queue: s.inbox, Clock: s.clock, IDs: s.ids, Timing: handoff.DefaultTiming()}
}

func (s *tale) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *tale) poll() {
	s.Helper()
	s.clock.now = s.clock.now.Add(time.Hour)
	_, err := s.engine.Poll(s.Context(), s.b, handoff.PollMessage{Stream: auditStream})
	s.must(err)
}

// step is one poll, and every delivery that waits.
func (s *tale) step() {
	s.Helper()
	s.poll()
	for _, m := range s.inbox.chunks {
		_, err := s.engine.Apply(s.Context(), s.b, handoff.Delivery{ChunkMessage: m, Receives: 1})
		s.must(err)
	}
	s.inbox.chunks = nil
}

func (s *tale) decide(d handoff.Decision) {
	s.Helper()
	d.ID, d.Stream, d.Actor, d.Reason = s.ids.New(), auditStream, "ada", "checked"
	if d.Kind.OnEvent() {
		found, err := s.state.Receipts(s.Context(), auditStream, []handoff.ReceiptKey{d.Event}, false)
		s.must(err)
		d.Rev = found[d.Event].Rev
	} else {
		cp, err := s.state.Checkpoint(s.Context(), auditStream)
		s.must(err)
		d.Rev = cp.Rev
	}
	_, err := s.engine.Decide(s.Context(), d)
	s.must(err)
}

// second is the key of the second content under an id.
func second(n int, entity string) handoff.ReceiptKey {
	raw, _ := json.Marshal(row{N: n, Entity: entity, Body: "again"})
	return handoff.ReceiptKey{EventID: strconv.Itoa(n), Conflict: handoff.DigestOf(raw)}
}

func event(n int) handoff.ReceiptKey { return handoff.ReceiptKey{EventID: strconv.Itoa(n)} }

// healthy tells the whole story: page 1 plain; 2 with a hold and a conflict, both decided; 3 empty; 4 passed by a reset while it held 9; 5
// lost; 6 passed by a reset before it opened; 7 open, with 12 and 14 applied, 13 held, and a second content of 12 held.
func healthy(t *testing.T) *tale {
	t.Helper()
	s := newTale(t)
	s.step() // 1
	s.step() // 2
	s.decide(handoff.Decision{Kind: handoff.DecideIgnore, Event: event(6)})
	s.decide(handoff.Decision{Kind: handoff.DecideQuarantine, Event: second(7, "a")})
	s.step() // drives 2
	s.step() // 3 is empty
	s.step() // 4
	s.decide(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c4"})
	s.poll() // closes 4, opens 5
	s.inbox.chunks = nil
	s.shelf.gone = func(key string) bool { return strings.Contains(key, "/feed/000000000005/") }
	s.decide(handoff.Decision{Kind: handoff.DecideLost, Version: 5})
	s.decide(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c6"})
	s.step() // 7
	s.step() // drives it again, and moves the applied position to 12
	cp, err := s.state.Checkpoint(t.Context(), auditStream)
	s.must(err)
	if cp.Version != 7 || cp.AppliedPosition.String() != "12" {
		t.Fatalf("the story ended at version %d, position %s", cp.Version, cp.AppliedPosition)
	}
	s.clock.now = s.clock.now.Add(time.Hour)
	return s
}

// audited runs an audit through a view that nothing can be written through.
func (s *tale) audited(v *view, opt handoff.AuditOptions) (found []handoff.Finding, sum handoff.AuditSummary) {
	s.Helper()
	v.T, v.State, v.shelf.Archive, v.shelf.T = s.T, s.state, s.shelf, s.T
	deps := s.deps(v, &v.shelf)
	if v.timing != nil {
		v.timing(&deps.Timing)
	}
	sum, err := handoff.New(deps).Audit(s.Context(), auditStream, opt, func(f handoff.Finding) error {
		found = append(found, f)
		return nil
	})
	s.must(err)
	return found, sum
}

// names are findings in short: what, of which page, which event.
func names(fs []handoff.Finding) string {
	var out []string
	for _, f := range fs {
		line := string(f.Kind)
		if f.Version != 0 {
			line += fmt.Sprintf(" v%d", f.Version)
		}
		if f.EventID != "" {
			line += " #" + f.EventID
		}
		if f.Conflict != "" {
			line += "*"
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}
