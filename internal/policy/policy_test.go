package policy_test

import (
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/policy"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

func event(raw string) handoff.Event {
	pos, _ := handoff.NumberPosition("12345678901234567890")
	return handoff.Event{ID: `"evt-1"`, Entity: "o-7", Position: pos, Raw: []byte(raw)}
}

func TestFirstRuleThatHoldsDecides(t *testing.T) {
	t.Parallel()
	p, err := policy.New([]streamdef.Rule{
		{Name: "by type", When: `event.type == "test"`, Then: "ignored"},
		{Name: "by id", When: `event.type == "id" && id == "evt-1"`, Then: "held"},
		{Name: "by entity", When: `event.type == "entity" && entity == "o-7"`, Then: "quarantined"},
		{Name: "by position", When: `event.type == "position" && position == "12345678901234567890"`, Then: "apply"},
		{Name: "again", When: `event.type == "test" || event.type == "position"`, Then: "held"},
		{Name: "exact", When: `event.type == "n" && compare(event.n, 5) > 0`, Then: "held"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]handoff.Ruling{
		`{"type":"test"}`:     {Verdict: handoff.VerdictIgnore, Rule: "by type"},
		`{"type":"id"}`:       {Verdict: handoff.VerdictHold, Rule: "by id"},
		`{"type":"entity"}`:   {Verdict: handoff.VerdictQuarantine, Rule: "by entity"},
		`{"type":"position"}`: {Verdict: handoff.VerdictApply, Rule: "by position"},
		`{"type":"n","n":5.000000000000000000000000000001}`: {Verdict: handoff.VerdictHold, Rule: "exact"},
		`{"type":"n","n":5.000}`:                            {Verdict: handoff.VerdictApply},
		`{"type":"other"}`:                                  {Verdict: handoff.VerdictApply},
	} {
		if got, err := p.Judge(event(raw)); got != want || err != nil {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
}

func TestWhatCannotBeToldIsAnError(t *testing.T) {
	t.Parallel()
	p, err := policy.New([]streamdef.Rule{
		{Name: "the test rule", When: `event.test`, Then: "ignored"},
		{Name: "all", When: `true`, Then: "apply"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{
		`{"secret":"hunter2"}`:         "no such key: test",
		`{"test":"hunter2"}`:           "a bool is needed, found a text",
		`{"test":null}`:                "a bool is needed, found null",
		`{"test":true,"test":false}`:   "duplicate key",
		`{"test":"\ud800hunter2"}`:     "lone surrogate",
		`"hunter2"`:                    "no such key: test",
		`{"test":true} {"hunter2": 1}`: "something follows the document",
	} {
		got, err := p.Judge(event(raw))
		if err == nil || got != (handoff.Ruling{}) {
			t.Errorf("%s: %+v, %v", raw, got, err)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", raw, err)
		}
		if raw[0] == '{' && !strings.HasSuffix(raw, "1}") && !strings.Contains(err.Error(), `rule "the test rule"`) {
			t.Errorf("%s: the rule is not named: %v", raw, err)
		}
	}
}

func TestNoRules(t *testing.T) {
	t.Parallel()
	p, err := policy.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Judge(event(`{"a":1,"a":2}`)); got.Verdict != handoff.VerdictApply || got.Rule != "" || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, r := range []streamdef.Rule{
		{Name: "bad", When: "evnt.a", Then: "apply"}, {Name: "bad", When: "true", Then: "drop"}, {Name: "bad", When: "true"},
	} {
		if _, err := policy.New([]streamdef.Rule{r}); err == nil || !strings.Contains(err.Error(), `"bad"`) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
