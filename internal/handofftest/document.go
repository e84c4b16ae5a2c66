package handofftest

import (
	"encoding/json"
	"fmt"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func documentCases() []testCase {
	return []testCase{
		{"MissingIsNotFound", func(r *rig) { r.fields("none", "") }},
		{"Changes", documentChanges},
		{"PositionKept", positionKept},
		{"SeveralOfOneEvent", func(r *rig) {
			r.settled(r.item("1", count("a"), count("b"), count("a")))
			r.fields("a", `{"n":2}`)
			r.fields("b", `{"n":1}`)
		}},
	}
}

// documentChanges is one document's life, a change and what must stand after it.
func documentChanges(r *rig) {
	set := func(name, v string) map[string]json.RawMessage {
		return map[string]json.RawMessage{name: json.RawMessage(v)}
	}
	for i, step := range []struct {
		change handoff.DocChange
		want   string
	}{
		{handoff.DocChange{Add: map[string]string{"n": "99999999999999999999999999999999.00000000000000000000000000000000000001"}},
			`{"n":99999999999999999999999999999999.00000000000000000000000000000000000001}`},
		{handoff.DocChange{Add: map[string]string{"n": "0.00000000000000000000000000000000000009"}},
			`{"n":99999999999999999999999999999999.0000000000000000000000000000000000001}`},
		{handoff.DocChange{Add: map[string]string{"n": "-100000000000000000000000000000000"}}, `{"n":-0.9999999999999999999999999999999999999}`},
		{handoff.DocChange{Set: set("n", "1.50"), Add: map[string]string{"n": "2.25", "m": "-1"}}, `{"m":-1,"n":3.75}`},
		{handoff.DocChange{Set: set("t", `{"b":[1.0,{}]}`)}, `{"m":-1,"n":3.75,"t":{"b":[1.0,{}]}}`},
		{handoff.DocChange{Set: set("m", "null")}, `{"m":null,"n":3.75,"t":{"b":[1.0,{}]}}`},
		{handoff.DocChange{Add: map[string]string{"m": "1e3"}}, `{"m":1000,"n":3.75,"t":{"b":[1.0,{}]}}`},
		{handoff.DocChange{Delete: true, Set: set("x", `"new"`), Add: map[string]string{"n": "1"}}, `{"n":1,"x":"new"}`},
		{handoff.DocChange{Delete: true}, ``},
		{handoff.DocChange{Delete: true}, ``},
		{handoff.DocChange{Add: map[string]string{"n": "7"}}, `{"n":7}`},
	} {
		step.change.Entity = "d"
		r.settled(r.item(fmt.Sprint("e", i), step.change))
		r.fields("d", step.want)
	}
}

// positionKept: the last position applied stays until another one comes.
func positionKept(r *rig) {
	kinds := positionKinds(r)
	first, second := count("d"), count("d")
	first.Position, second.Position = kinds["Number"], kinds["Tuple"]
	for i, step := range []struct {
		change handoff.DocChange
		want   handoff.Position
	}{{count("d"), handoff.Position{}}, {first, first.Position}, {count("d"), first.Position}, {second, second.Position}} {
		r.settled(r.item(fmt.Sprint("e", i), step.change))
		d, err := r.state.Doc(r.ctx, r.stream, "d")
		r.done(err)
		r.same("position", d.Position, step.want)
	}
}
