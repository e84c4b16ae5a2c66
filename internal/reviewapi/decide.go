package reviewapi

import (
	"context"
	"net/http"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// EventDecision is the body of a decision on one event.
type EventDecision struct {
	Kind   handoff.DecisionKind `json:"kind"`
	Reason string               `json:"reason"`
	Rev    uint64               `json:"rev,omitempty"`
}

// StreamDecision is the body of a decision about a stream.
type StreamDecision struct {
	Kind       handoff.DecisionKind `json:"kind"`
	Reason     string               `json:"reason"`
	Rev        uint64               `json:"rev,omitempty"`
	Cursor     handoff.Cursor       `json:"cursor,omitempty"`
	Check      handoff.HaltReason   `json:"check,omitempty"`
	Answer     string               `json:"answer,omitempty"`
	Version    handoff.Version      `json:"version,omitempty"`
	Definition string               `json:"definition,omitempty"`
}

// carryOut adds who and under which id, and decides.
func (a *api) carryOut(w http.ResponseWriter, r *http.Request, d handoff.Decision) error {
	var err error
	if d.Actor, err = a.actor(r); err != nil {
		return err
	}
	if d.ID, err = a.decisionID(r); err != nil {
		return err
	}
	got, err := a.Engine.Decide(r.Context(), d)
	if err != nil {
		return &idError{d.ID, err}
	}
	return answer(w, got, got.Rev)
}

func (a *api) decideEvent(w http.ResponseWriter, r *http.Request) error {
	var in EventDecision
	if err := body(r, &in); err != nil {
		return err
	}
	if !in.Kind.OnEvent() {
		return invalid("kind is %.40q: release, applied, ignore, quarantine or retry_now", string(in.Kind))
	}
	rev, err := seen(r, in.Rev, true)
	if err != nil {
		return err
	}
	return a.carryOut(w, r, handoff.Decision{Stream: stream(r), Kind: in.Kind, Reason: in.Reason, Event: eventKey(r), Rev: rev})
}

// needsRev lists the decisions that act on what was seen.
func needsRev(k handoff.DecisionKind) bool {
	switch k {
	case handoff.DecideResume, handoff.DecideReset, handoff.DecideAccept, handoff.DecideLost:
		return true
	}
	return false
}

func (a *api) decideStream(w http.ResponseWriter, r *http.Request) error {
	var in StreamDecision
	if err := body(r, &in); err != nil {
		return err
	}
	if in.Kind.OnEvent() {
		return invalid("%s is a decision on an event", in.Kind)
	}
	rev, err := seen(r, in.Rev, needsRev(in.Kind))
	if err != nil {
		return err
	}
	return a.carryOut(w, r, handoff.Decision{
		Stream: stream(r), Kind: in.Kind, Reason: in.Reason, Rev: rev, Cursor: in.Cursor, Check: in.Check, Answer: in.Answer,
		Version: in.Version, Definition: in.Definition,
	})
}

// maxBulk bounds one bulk request.
const maxBulk = 100

// Bulk is one decision on an explicit list of events: never on a filter, which may hide what it acts on.
type Bulk struct {
	Kind   handoff.DecisionKind `json:"kind"`
	Reason string               `json:"reason"`
	Events []BulkEvent          `json:"events"`
}

// BulkEvent names one receipt as it was seen.
type BulkEvent struct {
	EventID  string `json:"event_id"`
	Conflict string `json:"conflict,omitempty"`
	Rev      uint64 `json:"rev"`
}

// BulkResult is what became of one of them.
type BulkResult struct {
	BulkEvent
	Answer  *handoff.DecisionAnswer `json:"answer,omitempty"`
	Problem *Problem                `json:"problem,omitempty"`
}

// decideBulk decides one after the other. Each has a decision id of its own, made from the request's, so that repeating the request
// repeats none of them.
func (a *api) decideBulk(w http.ResponseWriter, r *http.Request) error {
	var in Bulk
	if err := body(r, &in); err != nil {
		return err
	}
	switch {
	case !in.Kind.OnEvent():
		return invalid("kind is %.40q: release, applied, ignore, quarantine or retry_now", string(in.Kind))
	case len(in.Events) == 0 || len(in.Events) > maxBulk:
		return invalid("%d events: 1 to %d", len(in.Events), maxBulk)
	}
	who, err := a.actor(r)
	if err != nil {
		return err
	}
	id, err := a.decisionID(r)
	if err != nil {
		return err
	}
	results := make([]BulkResult, len(in.Events))
	for i, ev := range in.Events {
		d := handoff.Decision{
			ID: id + "." + handoff.DigestOf([]byte(ev.EventID + "\x00" + ev.Conflict))[:16], Stream: stream(r), Kind: in.Kind, Actor: who, Reason: in.Reason,
			Event: handoff.ReceiptKey{EventID: ev.EventID, Conflict: ev.Conflict}, Rev: ev.Rev, Quiet: true,
		}
		results[i] = a.oneOfBulk(r.Context(), d, ev)
	}
	a.Engine.DriveNow(r.Context(), stream(r))
	return answer(w, listOf(results, ""), 0)
}

func (a *api) oneOfBulk(ctx context.Context, d handoff.Decision, ev BulkEvent) BulkResult {
	got, err := a.Engine.Decide(ctx, d)
	if err == nil {
		return BulkResult{BulkEvent: ev, Answer: &got}
	}
	p := a.problem(ctx, &idError{d.ID, err})
	return BulkResult{BulkEvent: ev, Problem: &p}
}
