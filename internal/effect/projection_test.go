package effect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/effect"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

func event(raw string) handoff.Event {
	pos, _ := handoff.NumberPosition("41")
	return handoff.Event{ID: `"evt-1"`, Entity: "o-7", Position: pos, Raw: []byte(raw)}
}

func projection(t *testing.T, p streamdef.Projection) *effect.Projection {
	t.Helper()
	out, err := effect.NewProjection(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// planned gives the changes as JSON, which is what a store keeps of them.
func planned(t *testing.T, p *effect.Projection, e handoff.Event) string {
	t.Helper()
	docs, err := p.Plan(e)
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	b, err := json.Marshal(docs)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const at41 = `,"position":"[[\"n\",\"41\"]]"}`

func TestPlan(t *testing.T) {
	t.Parallel()
	p := projection(t, streamdef.Projection{
		Set: map[string]string{"total": "event.total", "lines": "event.lines", "by": "id + '/' + entity + '/' + position", "none": "null"},
		Add: map[string]string{"count": "1", "sum": "event.total", "text": "event.amount"}, Delete: `event.type == "deleted"`,
		When: `event.type != "noise"`,
		Also: []streamdef.OtherDoc{
			{Entity: `"day:" + event.day`, Add: map[string]string{"orders": "1", "sum": "event.total"}},
			{Entity: `"big"`, Add: map[string]string{"n": "1"}, When: `compare(event.total, 100) > 0`},
		},
	})
	for raw, want := range map[string]string{
		`{"type":"new","total": 90071992547409931234567890.50 ,"lines":[ {"b":1.0,"a":"\u0041"} ],"amount":"12.50","day":"mon"}`: `[` +
			`{"entity":"o-7","set":{"by":"evt-1/o-7/41","lines":[{"b":1.0,"a":"A"}],"none":null,"total":90071992547409931234567890.50},` +
			`"add":{"count":"1","sum":"90071992547409931234567890.50","text":"12.50"}` + at41 + `,` +
			`{"entity":"day:mon","add":{"orders":"1","sum":"90071992547409931234567890.50"}},{"entity":"big","add":{"n":"1"}}]`,
		`{"type":"deleted","total":1,"day":"tue"}`: `[{"entity":"o-7","delete":true` + at41 + `,{"entity":"day:tue","add":{"orders":"1","sum":"1"}}]`,
		`{"type":"noise","total":1e2,"day":"tue"}`: `[{"entity":"day:tue","add":{"orders":"1","sum":"1e2"}}]`,
	} {
		if got := planned(t, p, event(raw)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", raw, got, want)
		}
	}
}

func TestNothingToWriteIsNoChange(t *testing.T) {
	t.Parallel()
	p := projection(t, streamdef.Projection{
		Delete: "event.gone", Also: []streamdef.OtherDoc{{Entity: "'all'", Add: map[string]string{"n": "1"}}},
	})
	for raw, want := range map[string]string{
		`{"gone":false}`: `[{"entity":"all","add":{"n":"1"}}]`,
		`{"gone":true}`:  `[{"entity":"o-7","delete":true` + at41 + `,{"entity":"all","add":{"n":"1"}}]`,
	} {
		if got := planned(t, p, event(raw)); got != want {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

func TestOwnDocumentWithoutEntity(t *testing.T) {
	t.Parallel()
	p := projection(t, streamdef.Projection{Add: map[string]string{"n": "1"}})
	for id, want := range map[string]string{`"evt-1"`: `evt-1`, `17`: `17`, `["a",1]`: `[\"a\",1]`} {
		e := event(`{}`)
		e.ID, e.Entity = id, ""
		if got := planned(t, p, e); got != `[{"entity":"`+want+`","add":{"n":"1"}`+at41+`]` {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// One document is never changed twice, and what is merged comes to the same as one after the other.
func TestChangesOfOneDocumentAreMerged(t *testing.T) {
	t.Parallel()
	p := projection(t, streamdef.Projection{
		Set: map[string]string{"a": "1"}, Add: map[string]string{"n": "0.1"}, Delete: "event.gone",
		Also: []streamdef.OtherDoc{
			{Entity: "event.to", Add: map[string]string{"n": "event.n", "m": "1"}},
			{Entity: "event.to", Add: map[string]string{"n": "event.n"}},
		},
	})
	for raw, want := range map[string]string{
		`{"gone":false,"to":"o-7","n":0.2}`: `[{"entity":"o-7","set":{"a":1},"add":{"m":"1","n":"0.5"}` + at41 + `]`,
		`{"gone":true,"to":"o-7","n":0.2}`:  `[{"entity":"o-7","delete":true,"add":{"m":"1","n":"0.4"}` + at41 + `]`,
		`{"gone":false,"to":"x","n":-1}`:    `[{"entity":"o-7","set":{"a":1},"add":{"n":"0.1"}` + at41 + `,{"entity":"x","add":{"m":"1","n":"-2"}}]`,
	} {
		if got := planned(t, p, event(raw)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", raw, got, want)
		}
	}
}

func TestWhatHasNoValueIsAnError(t *testing.T) {
	t.Parallel()
	p := projection(t, streamdef.Projection{
		Set: map[string]string{"s": "event.s"}, Add: map[string]string{"n": "event.n"}, Delete: "event.d", When: "event.w",
		Also: []streamdef.OtherDoc{{Entity: "event.e", Add: map[string]string{"m": "event.m"}, When: "event.v"}},
	})
	good := map[string]any{"w": true, "d": false, "s": "hunter2", "n": 1, "v": true, "e": "x", "m": 1}
	if b, _ := json.Marshal(good); planned(t, p, event(string(b))) == "[]" {
		t.Fatal("nothing is planned")
	}
	for field, bad := range map[string][]any{
		"w": {nil, "hunter2"}, "d": {nil, 1}, "n": {nil, "hunter2", true, []int{1}, json.Number("1e999999")},
		"v": {nil, "hunter2"}, "e": {nil, "", []string{"hunter2"}}, "m": {nil, "hunter2", "0x1"}, "s": {},
	} {
		places := map[string]string{"w": "projection.when", "d": "projection.delete", "n": "projection.add.n", "v": "also[0].when",
			"e": "also[0].entity", "m": "also[0].add.m", "s": "projection.set.s"}
		for _, value := range append(bad, "missing") {
			doc := map[string]any{}
			for k, v := range good {
				doc[k] = v
			}
			if doc[field] = value; value == "missing" {
				delete(doc, field)
			}
			raw, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := p.Plan(event(string(raw)))
			if err == nil || docs != nil || !strings.Contains(err.Error(), places[field]) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s = %v: %v, %v", field, value, docs, err)
			}
		}
	}
	for _, raw := range []string{`{"hunter2"`, `{"w":true,"w":false}`} {
		if _, err := p.Plan(event(raw)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestNewProjectionRefuses(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]streamdef.Projection{
		"set.a":          {Set: map[string]string{"a": "evnt"}},
		"add.a":          {Add: map[string]string{"a": "1 +"}},
		"delete":         {Delete: "nope"},
		"when":           {When: "nope"},
		"also[0].entity": {Also: []streamdef.OtherDoc{{Entity: "nope"}}},
		"also[0].add.a":  {Also: []streamdef.OtherDoc{{Entity: "id", Add: map[string]string{"a": "nope"}}}},
		"also[0].when":   {Also: []streamdef.OtherDoc{{Entity: "id", When: "nope"}}},
		"no entity":      {Also: []streamdef.OtherDoc{{}}},
	} {
		if _, err := effect.NewProjection(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestTraits(t *testing.T) {
	t.Parallel()
	p := projection(t, streamdef.Projection{})
	if got := p.Traits(); got != (handoff.EffectTraits{Kind: handoff.Transactional}) {
		t.Errorf("traits %+v", got)
	}
	if got := p.Call(t.Context(), event(`{}`), "key"); got.Kind != handoff.CallRefused {
		t.Errorf("call %+v", got)
	}
}
