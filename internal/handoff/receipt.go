package handoff

import (
	"encoding/json"
	"time"
)

// Outcome is what became of one event.
type Outcome string

// The outcomes. Only the first three are terminal, and terminal is for ever (I6).
const (
	Applied     Outcome = "applied"
	Ignored     Outcome = "ignored"
	Quarantined Outcome = "quarantined"
	Held        Outcome = "held"
	Retrying    Outcome = "retrying"
	Claimed     Outcome = "claimed"
	Released    Outcome = "released"
	Superseded  Outcome = "superseded"
)

// Terminal reports one of the three outcomes that settle an event. An unknown outcome is not terminal.
func (o Outcome) Terminal() bool { return o == Applied || o == Ignored || o == Quarantined }

// HoldReason names why an event waits for a person.
type HoldReason string

// The holds.
const (
	HoldInvalidEvent     HoldReason = "invalid_event"
	HoldIdentityConflict HoldReason = "identity_conflict"
	HoldLate             HoldReason = "late"
	HoldReceiptExpired   HoldReason = "receipt_expired"
	HoldAmbiguous        HoldReason = "ambiguous"
	HoldEffectChanged    HoldReason = "effect_changed"
	HoldEffectRefused    HoldReason = "effect_refused"
	HoldCrashLoop        HoldReason = "crash_loop"
	HoldPolicy           HoldReason = "policy"
)

// ReceiptKey is the key of a receipt within its stream.
type ReceiptKey struct {
	EventID string `json:"event_id"`
	// Conflict is the digest of a second content under the same id; empty for the event's own receipt.
	Conflict string `json:"conflict,omitempty"`
}

// Attempt is an outside call whose outcome is not known yet. It is cleared only by its own settlement or a decision on it.
type Attempt struct {
	Token      string    `json:"token"`
	At         time.Time `json:"at"`
	EffectHash string    `json:"effect_hash"`
}

// AnsweredHold is a hold that a release answered.
type AnsweredHold struct {
	Reason HoldReason `json:"reason"`
	Detail string     `json:"detail,omitempty"`
}

// Receipt is the durable outcome of one event of one stream.
type Receipt struct {
	ReceiptKey
	Stream  Stream  `json:"stream"`
	Outcome Outcome `json:"outcome"`
	// Reason and Detail say why it is held; Detail is also the policy rule that ignored or quarantined it. No payload.
	Reason   HoldReason `json:"reason,omitempty"`
	Detail   string     `json:"detail,omitempty"`
	Digest   string     `json:"digest"`
	Identity string     `json:"identity_revision,omitempty"`
	Position Position   `json:"position,omitzero"`
	Entity   string     `json:"entity,omitempty"`
	// By is who decided the outcome: apply, close, or an operator's name.
	By       string    `json:"by"`
	Attempts int       `json:"attempts,omitempty"`
	Attempt  *Attempt  `json:"attempt,omitempty"`
	NextAt   time.Time `json:"next_at,omitzero"`
	Error    string    `json:"error,omitempty"`
	Policy   string    `json:"policy_hash,omitempty"`
	Effect   string    `json:"effect_hash,omitempty"`
	// Answered are the holds that releases answered, since the receipt began: each suppresses itself and nothing else.
	Answered []AnsweredHold `json:"answered_holds,omitempty"`
	// PageVersion, Chunk and Index say which page wrote it last: the stamp, which never decreases.
	PageVersion Version `json:"page_version"`
	Chunk       int     `json:"chunk"`
	Index       int     `json:"index"`
	// Rev counts writes of this receipt; Token is the token of the last one.
	Rev       uint64    `json:"rev"`
	Token     string    `json:"token"`
	HeldAt    time.Time `json:"held_at,omitzero"` // kept while it is held or superseded: the index of holds
	WrittenAt time.Time `json:"written_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// Listed reports that the receipt belongs to the index of holds: it waits for a person, or may be decided by one.
func (r Receipt) Listed() bool { return r.Outcome == Held || r.Outcome == Superseded }

// DocChange is a projection write on one document: a value that a State executes in the transaction of its receipt. Deletion
// comes first, then Set, then Add.
type DocChange struct {
	Entity string `json:"entity"`
	// Delete drops the document (before Set and Add, if there are any).
	Delete bool                       `json:"delete,omitempty"`
	Set    map[string]json.RawMessage `json:"set,omitempty"`
	// Add holds exact JSON number literals. An absent field counts as 0.
	Add map[string]string `json:"add,omitempty"`
	// Position is the event's, kept on its own document as the last one applied; none on other documents.
	Position Position `json:"position,omitzero"`
}

// Doc is one document of a stream's projection.
type Doc struct {
	Stream   Stream                     `json:"stream"`
	Entity   string                     `json:"entity"`
	Fields   map[string]json.RawMessage `json:"fields"`
	Position Position                   `json:"position,omitzero"`
}

// Apply gives the document after the change, and whether it still exists. It is pure and exact, and the meaning of a change
// for every store. An *EffectError says that the change can never apply.
func (d Doc) Apply(c DocChange) (after Doc, exists bool, err error) {
	after = Doc{Stream: d.Stream, Entity: c.Entity, Fields: map[string]json.RawMessage{}, Position: d.Position}
	if !c.Delete {
		for k, v := range d.Fields {
			after.Fields[k] = v
		}
	}
	for k, v := range c.Set {
		if !json.Valid(v) {
			return Doc{}, false, &EffectError{c.Entity, "set " + k + ": not JSON"}
		}
		after.Fields[k] = v
	}
	for k, literal := range c.Add {
		sum, err := addLiteral(after.Fields[k], literal)
		if err != nil {
			return Doc{}, false, &EffectError{c.Entity, "add to " + k + ": " + err.Error()}
		}
		after.Fields[k] = sum
	}
	if !c.Position.IsZero() {
		after.Position = c.Position
	}
	return after, !c.Delete || len(c.Set)+len(c.Add) > 0, nil
}

func addLiteral(have json.RawMessage, literal string) (json.RawMessage, error) {
	term, err := ParseDecimal(literal)
	if err != nil {
		return nil, err
	}
	if len(have) == 0 || string(have) == "null" {
		return json.RawMessage(term.String()), nil
	}
	base, err := ParseDecimal(string(have))
	if err != nil {
		return nil, err
	}
	return json.RawMessage(base.Add(term).String()), nil
}
