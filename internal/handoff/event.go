package handoff

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Stream names one event feed and its destination: NAME, or NAME/PARTITION.
type Stream string

// Version counts turned pages and resets of one stream; the first is 1 and 0 means none. It is the fence of every protocol write.
type Version uint64

// Cursor is opaque provider state that names a fetch. It is never compared for order, never incremented, and never parsed
// outside the source adapter. The empty Cursor means absent and is never stored over another.
type Cursor string

// Hash names a cursor in keys and logs: the first 16 bytes of its SHA-256, in hex.
func (c Cursor) Hash() string {
	sum := sha256.Sum256([]byte(c))
	return hex.EncodeToString(sum[:16])
}

// Event is one record of a source, as frozen in the archive when its page opens.
type Event struct {
	// ID is the stable identity as canonical JSON, so that it carries its type: `"1"` is not `1`. Never empty: a record
	// without a readable id gets InvalidID of its digest.
	ID string `json:"id"`
	// Position is none where the source has none; the receipt then stamps arrival.
	Position Position `json:"position,omitzero"`
	// Entity is whose order matters, as plain text; empty where the definition declares none.
	Entity string `json:"entity,omitempty"`
	// Time is when it happened, for retention and hold-back; zero where the definition declares none.
	Time time.Time `json:"time,omitzero"`
	// Digest is the hex SHA-256 over the declared fields: same id with another digest is an identity conflict.
	Digest string `json:"digest"`
	// Raw is the record's JSON, byte for byte as received.
	Raw []byte `json:"-"`
	// Invalid says what makes the record unfit (no id, no position, a future time); it becomes held: invalid_event.
	Invalid string `json:"invalid,omitempty"`
	// Late marks an unseen event strictly below the applied position; set when the page opens.
	Late bool `json:"late,omitempty"`
	// Unproven marks an event whose receipt may have expired, so that nobody can tell whether it was applied.
	Unproven bool `json:"unproven,omitempty"`
	// Conflict marks the second content of one id inside its page; it follows the first in the first one's lane.
	Conflict bool `json:"conflict,omitempty"`
	// Index is the place in the page, in source order, counted over the events that are on it.
	Index int `json:"index"`
	// Lane is the order domain inside the page.
	Lane string `json:"lane"`
}

// InvalidID is the identity of a record that has none of its own.
func InvalidID(digest string) string { return "!" + digest }

// happened is the event's time, or its position where that is one; zero where neither says.
func (e Event) happened() time.Time {
	if t, ok := e.Position.Time(); e.Time.IsZero() && ok {
		return t
	}
	return e.Time
}

// oldest is when the first of the events happened, as far as they say.
func oldest(events []Event) (first time.Time) {
	for _, ev := range events {
		if t := ev.happened(); !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// Key is the key of the event's own receipt.
func (e Event) Key() ReceiptKey { return ReceiptKey{EventID: e.ID} }

// conflictKey is the key of the receipt of a second content under one id.
func (e Event) conflictKey() ReceiptKey { return ReceiptKey{EventID: e.ID, Conflict: e.Digest} }

// DigestOf is the digest used everywhere: hex SHA-256.
func DigestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
