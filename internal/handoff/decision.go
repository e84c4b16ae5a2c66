package handoff

import "time"

// DecisionKind is an operator's word.
type DecisionKind string

// On an event; then on a stream.
const (
	DecideRelease    DecisionKind = "release"
	DecideApplied    DecisionKind = "applied"
	DecideIgnore     DecisionKind = "ignore"
	DecideQuarantine DecisionKind = "quarantine"
	DecideRetryNow   DecisionKind = "retry_now"

	DecidePause   DecisionKind = "pause"
	DecideResume  DecisionKind = "resume"
	DecidePollNow DecisionKind = "poll_now"
	DecideReset   DecisionKind = "reset"
	DecideAccept  DecisionKind = "accept"
	DecideLost    DecisionKind = "lost"
	DecideStart   DecisionKind = "start"
	DecideRetire  DecisionKind = "retire"
)

// OnEvent reports whether the decision concerns one event.
func (k DecisionKind) OnEvent() bool {
	switch k {
	case DecideRelease, DecideApplied, DecideIgnore, DecideQuarantine, DecideRetryNow:
		return true
	}
	return false
}

// Decision is a request of an operator. ID makes it safe to repeat.
type Decision struct {
	ID     string       `json:"id"`
	Stream Stream       `json:"stream"`
	Kind   DecisionKind `json:"kind"`
	Actor  string       `json:"actor"`
	Reason string       `json:"reason"`
	// Event names the receipt, and Rev the receipt's version that the operator saw.
	Event ReceiptKey `json:"event,omitzero"`
	// Rev is what was seen: the receipt's on an event, the checkpoint's on a stream (0 where none is needed: pause, poll_now).
	Rev uint64 `json:"rev,omitempty"`
	// Cursor is where a reset or a start begins.
	Cursor Cursor `json:"cursor,omitempty"`
	// Check and Answer name what `accept` lets pass.
	Check  HaltReason `json:"check,omitempty"`
	Answer string     `json:"answer,omitempty"` // digest
	// Version is the page that is `lost`.
	Version Version `json:"version,omitempty"`
	// Quiet leaves the hint to drive to the caller, who has more to decide.
	Quiet bool `json:"-"`
	// Definition is what a start was made from.
	Definition string `json:"definition,omitempty"`
}

// DecisionRecord makes a repeated request answer as the first did.
type DecisionRecord struct {
	ID          string         `json:"id"`
	Stream      Stream         `json:"stream"`
	Token       string         `json:"token"`
	RequestHash string         `json:"request_hash"`
	Answer      DecisionAnswer `json:"answer"`
	At          time.Time      `json:"at"`
	ExpiresAt   time.Time      `json:"expires_at,omitzero"` // when a store may forget it; zero is never
}

// DecisionAnswer is what a decision did.
type DecisionAnswer struct {
	Decision string `json:"decision"` // its id
	// Outcome is the event's after a decision on it; Status the stream's.
	Outcome Outcome `json:"outcome,omitempty"`
	Status  Status  `json:"status,omitempty"`
	Version Version `json:"version,omitempty"`
	Rev     uint64  `json:"rev"`
}

// AuditRecord is one line of the append-only record: who decided what, when, why, and what stood before and after.
type AuditRecord struct {
	ID     string       `json:"id"` // the decision's
	At     time.Time    `json:"at"`
	Stream Stream       `json:"stream"`
	Kind   DecisionKind `json:"kind"`
	Actor  string       `json:"actor"`
	Reason string       `json:"reason"`
	Event  ReceiptKey   `json:"event,omitzero"`
	Before string       `json:"before"` // in words: held (late), version 12 at cursor 3fa9…
	After  string       `json:"after"`
	// Undo is the cursor before a reset, so that the way back is known.
	Undo Cursor `json:"undo,omitempty"`
	// ExpiresAt is when a store may forget this line; zero is never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}
