package main

import (
	"bytes"
	"context"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fakeOperator answers from what a test puts in, and remembers decisions.
type fakeOperator struct {
	status    map[handoff.Stream]handoff.StreamStatus
	events    []reviewapi.EventView
	decisions []handoff.Decision
	decideErr error
	answer    handoff.DecisionAnswer
	found     []handoff.Violation
	lines     []reviewapi.StreamLine // nil: one for every status
}

func (f *fakeOperator) Streams(context.Context) (out []reviewapi.StreamLine, err error) {
	if f.lines != nil {
		return f.lines, nil
	}
	for s := range f.status {
		out = append(out, reviewapi.StreamLine{Stream: s})
	}
	return out, nil
}

func (f *fakeOperator) Status(_ context.Context, s handoff.Stream) (handoff.StreamStatus, error) {
	st, ok := f.status[s]
	if !ok {
		return st, handoff.ErrNotFound
	}
	return st, nil
}

// Held gives one receipt a batch, so that whoever lists must follow the mark.
func (f *fakeOperator) Held(_ context.Context, s handoff.Stream, after string) ([]handoff.Receipt, string, error) {
	next := false
	for _, v := range f.events {
		r := v.Receipt
		switch {
		case r.Stream != s || !r.Listed():
		case next || after == "":
			return []handoff.Receipt{r}, r.EventID, nil
		case r.EventID == after:
			next = true
		}
	}
	return nil, "", nil
}

func (f *fakeOperator) Event(_ context.Context, s handoff.Stream, key handoff.ReceiptKey) (reviewapi.EventView, error) {
	for _, v := range f.events {
		if v.Receipt.Stream == s && v.Receipt.ReceiptKey == key {
			return v, nil
		}
	}
	return reviewapi.EventView{}, handoff.ErrNotFound
}

func (f *fakeOperator) Decide(_ context.Context, d handoff.Decision) (handoff.DecisionAnswer, error) {
	f.decisions = append(f.decisions, d)
	return f.answer, f.decideErr
}

func (f *fakeOperator) Audits(context.Context, handoff.Stream, string) ([]handoff.AuditRecord, string, error) {
	return nil, "", nil
}

func (f *fakeOperator) Docs(context.Context, handoff.Stream, string) ([]handoff.Doc, string, error) {
	return nil, "", nil
}

func (f *fakeOperator) Check(context.Context, handoff.Stream) ([]handoff.Violation, error) {
	return f.found, nil
}

// newFake has one stream, demo, blocked by a held event whose payload and ids are hostile.
func newFake() *fakeOperator {
	held := func(id string, payload string) reviewapi.EventView {
		return reviewapi.EventView{
			Receipt: handoff.Receipt{
				ReceiptKey: handoff.ReceiptKey{EventID: id}, Stream: "demo", Outcome: handoff.Held, Reason: handoff.HoldPolicy,
				Detail: "refund_over_limit", PageVersion: 9, Entity: "acct-04", HeldAt: noon, Rev: 3,
			},
			Raw: &payload,
		}
	}
	first := held(`"evt-0137"`, `{"amount":-12500000000000000001,"note":"\u001b[2J","raw":"`+"\u009b31m\u202e"+`"}`)
	return &fakeOperator{
		status: map[handoff.Stream]handoff.StreamStatus{"demo": {
			Stream: "demo", Status: handoff.Active, Version: 9, Rev: 21, Held: 1, OldestHeld: noon,
			Blocked: &handoff.Blocked{By: "hold: policy", Since: noon, Event: &first.Receipt},
			Page:    &handoff.Page{Events: 18, Chunks: 1},
		}},
		events: []reviewapi.EventView{
			first, held(`"7"`, `{}`), held(`7`, `{}`), held(`8`, `{}`), held("!3fa900aa", `{"x":1}`), held("!3fb900aa", `{}`),
		},
	}
}

// call runs a command on a fake operator.
func call(f *fakeOperator, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	h := host{
		command: "bin/turnleaf", stdout: &out, stderr: &errs, now: func() time.Time { return noon.Add(time.Minute) },
		getenv:    func(name string) string { return map[string]string{"USER": "ada"}[name] },
		lookupEnv: func(string) (string, bool) { return "", false },
		username:  func() string { return "nobody" },
		operator:  f,
	}
	code = run(context.Background(), args, h)
	return code, out.String(), errs.String()
}
