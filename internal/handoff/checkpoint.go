package handoff

import "time"

// Status is what the stream is allowed to do.
type Status string

// The statuses. Paused wins over halted: a pause is a person's word, a halt below it is kept.
const (
	Active Status = "active"
	Paused Status = "paused"
	Halted Status = "halted"
)

// HaltReason names why a stream stopped itself.
type HaltReason string

// The halts: the source broke its contract, and a person decides.
const (
	HaltOrderRegression  HaltReason = "order_regression"
	HaltPositionConflict HaltReason = "position_conflict"
	HaltGap              HaltReason = "gap"
	HaltTokenStalled     HaltReason = "token_stalled"
	HaltTokenCycle       HaltReason = "token_cycle"
	HaltCursorRejected   HaltReason = "cursor_rejected"
	HaltPageUnreadable   HaltReason = "page_unreadable"
	HaltPageTooLarge     HaltReason = "page_too_large"
	HaltConfig           HaltReason = "config"
)

// Acceptable reports whether `accept` may let the archived answer pass this check.
func (r HaltReason) Acceptable() bool {
	switch r {
	case HaltOrderRegression, HaltPositionConflict, HaltGap, HaltTokenCycle:
		return true
	}
	return false
}

// Remedy is what the operator can do, shown beside every halt.
func (r HaltReason) Remedy() string {
	switch r {
	case HaltOrderRegression, HaltPositionConflict, HaltGap, HaltTokenCycle:
		return "look at the archived answer; `accept` lets that one answer pass, `reset` starts elsewhere, `resume` asks the source again"
	case HaltTokenStalled:
		return "the source does not move its token; `resume` asks again, `reset` starts elsewhere"
	case HaltCursorRejected:
		return "the source no longer takes this token; `reset` to one it takes (events between may be lost: check its retention)"
	case HaltPageUnreadable:
		return "look at the archived answer; `resume` once the source or the definition is mended"
	case HaltPageTooLarge:
		return "ask for smaller pages or raise max_body, then `resume`"
	default:
		return "mend the definition or its secrets, deploy, then `resume`"
	}
}

// Halt is a stream's own stop.
type Halt struct {
	Reason HaltReason `json:"reason"`
	// Detail says what was seen, without payload.
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
	// Answer is the archived answer that failed the check, where there is one.
	Answer ObjectRef `json:"answer,omitzero"`
}

// Accept is an operator's leave for one archived answer to pass one check.
type Accept struct {
	Version Version    `json:"version"`
	Check   HaltReason `json:"check"`
	Answer  ObjectRef  `json:"answer"`
}

// Border is the last event of the page before, as long as its token continues: gaps and position conflicts are judged against it.
type Border struct {
	Position Position `json:"position,omitzero"`
	EventID  string   `json:"event_id,omitempty"`
}

// IsZero reports that there is nothing to be checked against.
func (b Border) IsZero() bool { return b.Position.IsZero() }

// Anchor remembers one token while pages without a new event change the cursor (Brent's cycle detection: one token, no set).
type Anchor struct {
	Hash  string `json:"hash,omitempty"`
	Count uint64 `json:"count,omitempty"`
}

// Checkpoint is the one small record that says where a stream stands. Every write of it is a compare-and-swap on Rev; the
// transition functions of this package decide, on the value read, whether the write is allowed at all.
type Checkpoint struct {
	Stream Stream `json:"stream"`
	// ResumeCursor is where to fetch. It changes only together with Version (I3).
	ResumeCursor Cursor `json:"resume_cursor"`
	// AppliedPosition is what is durably done: it never decreases (I2), and is not derived from ResumeCursor nor the reverse.
	AppliedPosition Position `json:"applied_position,omitzero"`
	// Version is the page that is open, or would open next.
	Version Version `json:"version"`
	// Rev changes with every write of this item and is the API's If-Match.
	Rev uint64 `json:"rev"`
	// Token is the token of the last write, so that an unknown answer can be read back.
	Token string `json:"token"`

	Paused   bool      `json:"paused,omitempty"`
	PausedAt time.Time `json:"paused_at,omitzero"`
	Halt     *Halt     `json:"halt,omitempty"`
	// Closing is the page version that a reset passed and whose events are being superseded; 0 for none. While it is set
	// nothing opens and no other reset is taken.
	Closing Version  `json:"closing,omitempty"`
	Accepts []Accept `json:"accepts,omitempty"`

	// NextPollAt delays fetches, never sweeps. Zero is now.
	NextPollAt time.Time `json:"next_poll_at,omitzero"`
	// CursorSince is the version and time at which ResumeCursor last changed.
	CursorSince   Version   `json:"cursor_since,omitempty"`
	CursorSinceAt time.Time `json:"cursor_since_at,omitzero"`
	Border        Border    `json:"border,omitzero"`
	Anchor        Anchor    `json:"anchor,omitzero"`
	// PrefixFloor: unseen events below it are a backfill somebody asked for, not late (SOURCES §3, §4).
	PrefixFloor Position `json:"prefix_floor,omitzero"`
	// FloorOpen: no page with positions was opened since the last start or reset, so the floor may still rise to its lowest.
	FloorOpen bool `json:"floor_open,omitempty"`
	// Bootstrap: no answer has moved the cursor since the last start or reset.
	Bootstrap bool `json:"bootstrap,omitempty"`

	// Stalls counts ticks that asked the source and got the same token with nothing new, not at an end.
	Stalls       int       `json:"stalls,omitempty"`
	StalledSince time.Time `json:"stalled_since,omitzero"`
	// RefusedSince is when the source first refused ResumeCursor.
	RefusedSince time.Time `json:"refused_since,omitzero"`
	// TokenRefusals counts refused page tokens without a new event between.
	TokenRefusals int `json:"token_refusals,omitempty"`
	// Failures counts fetches in a row without a readable answer; it drives the persisted back-off.
	Failures     int       `json:"failures,omitempty"`
	FailingSince time.Time `json:"failing_since,omitzero"`
	FailureClass string    `json:"failure_class,omitempty"`
	// Unreadable counts unreadable answers in a row.
	Unreadable int `json:"unreadable,omitempty"`
	// KeptAt is when the archive objects in use last started their life anew.
	KeptAt time.Time `json:"kept_at,omitzero"`
	// Behind is when the last event read happened, while the source is known to have more: what is not read is about as old. Zero once
	// its end was reached. For gauges only.
	Behind time.Time `json:"behind,omitzero"`
	// Epoch counts resets.
	Epoch     uint64    `json:"epoch,omitempty"`
	StartedAt time.Time `json:"started_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Status derives the one word: paused over halted over active.
func (c Checkpoint) Status() Status {
	switch {
	case c.Paused:
		return Paused
	case c.Halt != nil:
		return Halted
	}
	return Active
}

// StreamEntry lists a stream; nothing scans for streams.
type StreamEntry struct {
	Stream     Stream    `json:"stream"`
	Definition string    `json:"definition"`
	StartedAt  time.Time `json:"started_at"`
	RetiredAt  time.Time `json:"retired_at,omitzero"`
	// OrphanedAt is when a tick first missed its definition.
	OrphanedAt time.Time `json:"orphaned_at,omitzero"`
}
