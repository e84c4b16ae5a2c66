package bind

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

const orders = `
start: time:now-24h
every: 30s
source:
  url: https://api.example.com/events
  events: body.events
  cursor: {token: body.next, send: query:cursor, bookmark: last.at, resume: {"query:since": bookmark}}
event: {id: event.id, position: event.at, position_type: time, entity: event.order}
contract: {positions: shared}
policy:
  - {name: pings, when: event.kind == "ping", then: ignored}
effect: {projection: {add: {events: "1"}}}
`

func parse(t *testing.T, name, text string) *streamdef.Definition {
	t.Helper()
	d, err := streamdef.Parse(name+".yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func newBinder(defs ...*streamdef.Definition) *Binder {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return New(defs, Options{Now: func() time.Time { return noon }})
}

func TestBindingJoinsTheParts(t *testing.T) {
	t.Parallel()
	d := parse(t, "orders", orders)
	b, err := newBinder(d).Binding("orders")
	if err != nil {
		t.Fatal(err)
	}
	if b.Stream != "orders" || b.Definition != "orders" || b.Interval != 30*time.Second || b.Lanes != handoff.LaneEntity || b.Contract.Unique {
		t.Errorf("settings: %+v", b.Settings)
	}
	if !strings.Contains(string(b.Start), "2026-02-28T12:00:00Z") {
		t.Errorf("now-24h became %s", b.Start)
	}
	ping := handoff.Event{ID: `"e1"`, Entity: "o1", Raw: []byte(`{"id":"e1","kind":"ping"}`)}
	if r, err := b.Policy.Judge(ping); err != nil || r.Verdict != handoff.VerdictIgnore || r.Rule != "pings" {
		t.Errorf("policy: %+v, %v", r, err)
	}
	docs, err := b.Effect.Plan(ping)
	if err != nil || len(docs) != 1 || docs[0].Entity != "o1" || docs[0].Add["events"] != "1" {
		t.Errorf("effect: %+v, %v", docs, err)
	}
	body, _ := json.Marshal(map[string]any{"next": "n", "events": []any{map[string]any{"id": "e1", "at": "2026-03-01T10:00:00Z", "order": "o1"}}})
	answer := handoff.Answer{Cursor: b.Start, FetchHash: d.FetchHash, Status: http.StatusOK, FetchedAt: time.Now(), Body: body}
	if r := b.Source.Read(answer); r.Kind != handoff.ReadPage || len(r.Events) != 1 || r.Events[0].ID != `"e1"` {
		t.Errorf("source: %+v", r)
	}
}

func TestPartitionsShareTheDefinition(t *testing.T) {
	t.Parallel()
	binder := newBinder(parse(t, "orders", orders))
	a, err := binder.Binding("orders/eu")
	if err != nil {
		t.Fatal(err)
	}
	b, err := binder.Binding("orders")
	if err != nil {
		t.Fatal(err)
	}
	if a.Stream != "orders/eu" || a.Definition != "orders" {
		t.Errorf("partition: stream %s of %s", a.Stream, a.Definition)
	}
	if a.Source != b.Source || a.Policy != b.Policy || a.Effect != b.Effect {
		t.Error("the definition was compiled twice")
	}
}

func TestOnlyTheInvokedStreamIsCompiled(t *testing.T) {
	t.Parallel()
	broken := parse(t, "broken", orders)
	broken.Policy[0].When = "event.kind ==" // as if a newer parser had let it pass
	binder := newBinder(parse(t, "orders", orders), broken)
	if _, err := binder.Binding("orders"); err != nil {
		t.Errorf("orders suffers from broken: %v", err)
	}
	_, err := binder.Binding("broken")
	if !errors.Is(err, handoff.ErrConfig) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("broken: %v, want a configuration error with its name", err)
	}
}

func TestUnknownStreamsAndMissingEffects(t *testing.T) {
	t.Parallel()
	d := parse(t, "orders", orders)
	d.Effect = streamdef.Effect{}
	binder := newBinder(d)
	if _, err := binder.Binding("order"); !errors.Is(err, ErrUnknownStream) {
		t.Errorf("unknown stream: %v", err)
	}
	if _, err := binder.Binding("orders"); !errors.Is(err, handoff.ErrConfig) {
		t.Errorf("no effect: %v", err)
	}
}
