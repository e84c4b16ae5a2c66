package model

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/fault"
)

// notModelled are the sites of the code that the model has no step for, each with its reason.
var notModelled = map[string]string{
	"start":          "the model begins with a stream that was started; a put if absent, once",
	"enlist":         "the list of streams is for ticks and people; no other write looks at it",
	"archive/keep":   "the model's archive forgets nothing",
	"poison/count":   "only counts towards a hold, which the policy's hold stands for; a replay lets it pass",
	"poison/uncount": "as poison/count",
	"expire":         "nothing expires: it comes after the promote and nothing reads it",
	"halt":           "the model's source keeps its contract; a halt stops like a pause, under the same conditions as an open",
	"read/streams":   "as enlist",
	"read/pages":     "for audits",
	"read/held":      "what an operator looks at; the decision reads the receipt again, and that is a step",
	"read/ledger":    "for audits",
	"read/document":  "for people",
	"read/documents": "for people",
	"read/decision":  "only answers a request that is repeated; the model's operator makes each request once",
	"read/audits":    "for people",
	"read/answers":   "adoption of single-use tokens, and keeping: the model's tokens are durable",
}

// TestStepsAreSites: every step of the model has the name of a call of the code, and every call of the code is a step or has its reason.
func TestStepsAreSites(t *testing.T) {
	t.Parallel()
	modelled := map[string]bool{}
	for p := range pcs {
		modelled[p.site(poll1)] = true
	}
	for _, who := range []slot{poll1, apply1, desk, levers, ahead} {
		modelled[idle.site(who)] = true
	}
	delete(modelled, "") // aheadDone makes no call any more
	code := map[string]bool{}
	for _, s := range fault.Sites() {
		code[s.Name] = true
		switch reason := notModelled[s.Name]; {
		case modelled[s.Name] && reason != "":
			t.Errorf("%s is a step, and listed as none", s.Name)
		case !modelled[s.Name] && reason == "":
			t.Errorf("the code calls %s; the model has no such step, and no reason is given", s.Name)
		}
	}
	for name := range modelled {
		if !code[name] {
			t.Errorf("the model has a step %q, the code has no such call", name)
		}
	}
	for name := range notModelled {
		if !code[name] {
			t.Errorf("%q is listed as not modelled, and is no call of the code", name)
		}
	}
}
