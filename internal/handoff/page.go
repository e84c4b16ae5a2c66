package handoff

import (
	"encoding/json"
	"math/bits"
	"time"
)

// MaxChunks bounds the chunks of a page: its progress is one small number set.
const MaxChunks = 100

// ChunkSet is the set of settled chunks of a page, numbers 0 to MaxChunks-1.
type ChunkSet [2]uint64

// Has reports membership.
func (s ChunkSet) Has(k int) bool { return s[k/64]&(1<<(k%64)) != 0 }

// With adds one.
func (s ChunkSet) With(k int) ChunkSet { s[k/64] |= 1 << (k % 64); return s }

// Len counts.
func (s ChunkSet) Len() int { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }

// List gives the members in ascending order.
func (s ChunkSet) List() []int {
	out := []int{}
	for k := range MaxChunks {
		if s.Has(k) {
			out = append(out, k)
		}
	}
	return out
}

// MarshalJSON gives a list of numbers.
func (s ChunkSet) MarshalJSON() ([]byte, error) { return json.Marshal(s.List()) }

// UnmarshalJSON reads a list of numbers.
func (s *ChunkSet) UnmarshalJSON(b []byte) error {
	var list []int
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*s = ChunkSet{}
	for _, k := range list {
		if k >= 0 && k < MaxChunks {
			*s = s.With(k)
		}
	}
	return nil
}

// Page is the small record that is written once per settled chunk; everything large lies in its Directory.
type Page struct {
	Stream            Stream  `json:"stream"`
	Version           Version `json:"version"`
	Token             string  `json:"token"` // of the write that opened it
	RequestCursorHash string  `json:"request_cursor_hash"`
	NextCursorHash    string  `json:"next_cursor_hash"`
	Events            int     `json:"events"`
	Replays           int     `json:"replays,omitempty"` // dropped as proven replays before it opened
	Chunks            int     `json:"chunks"`
	// ChunksDone holds the chunks whose events are all terminal; the barrier is ChunksDone = {0 … Chunks-1} (I1).
	ChunksDone ChunkSet  `json:"chunks_done"`
	Drives     int       `json:"drives"`
	DrivenAt   time.Time `json:"driven_at,omitzero"`
	Abandoned  bool      `json:"abandoned,omitempty"`
	Lost       bool      `json:"lost,omitempty"`
	OpenedAt   time.Time `json:"opened_at"`
	// OldestAt is when the oldest of its events happened, as far as they say; for gauges only.
	OldestAt time.Time `json:"oldest_at,omitzero"`
	// ExpiresAt is when a store may forget this page and its directory: set when no checkpoint needs it any more, zero is never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// EffectHash is the effect's at opening: a redelivery under another one does not call an outside sink blindly.
	EffectHash string `json:"effect_hash,omitempty"`
}

// Settled reports that every chunk is done.
func (p Page) Settled() bool { return p.ChunksDone.Len() >= p.Chunks }

// ObjectRef names an archive object and the digest of its bytes.
type ObjectRef struct {
	Key    string `json:"key,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// ChunkRef says where a chunk's bytes lie inside the events object.
type ChunkRef struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Digest string `json:"digest"`
	Events int    `json:"events"`
}

// Directory is written once, when the page opens; it names everything a promote or an apply needs.
type Directory struct {
	Stream        Stream  `json:"stream"`
	Version       Version `json:"version"`
	RequestCursor Cursor  `json:"request_cursor"`
	NextCursor    Cursor  `json:"next_cursor"`
	End           bool    `json:"end,omitempty"`
	// What the promote writes into the checkpoint.
	NextPollAt      time.Time `json:"next_poll_at,omitzero"`
	Border          Border    `json:"border,omitzero"`
	Anchor          Anchor    `json:"anchor,omitzero"`
	AppliedPosition Position  `json:"applied_position,omitzero"`
	TokenRefusals   int       `json:"token_refusals,omitempty"`
	Behind          time.Time `json:"behind,omitzero"`
	// What the events were judged against, so that they can be laid out again from the raw answer, byte for byte.
	AppliedBefore Position `json:"applied_before,omitzero"`
	Floor         Position `json:"floor,omitzero"`
	// ReceiptRetention is how long this page's terminal receipts are kept; 0 is for ever.
	ReceiptRetention time.Duration `json:"receipt_retention,omitempty"`
	// Drain is how many more pages this tick may turn.
	Drain    int        `json:"drain,omitempty"`
	Raw      ObjectRef  `json:"raw"`              // metadata object of the raw answer
	Object   ObjectRef  `json:"events,omitzero"`  // events object; none on a page without events
	Chunks   []ChunkRef `json:"chunks,omitempty"` // k-th chunk
	Revision string     `json:"revision"`         // of the whole definition
	Effect   string     `json:"effect_hash,omitempty"`
}

// SpoolEntry caches a fetched raw answer for a version to come. Never authoritative: dropping it costs a fetch.
type SpoolEntry struct {
	Stream        Stream    `json:"stream"`
	Version       Version   `json:"version"`
	Walk          uint64    `json:"walk"`
	N             int       `json:"n"`
	RequestCursor Cursor    `json:"request_cursor"`
	Epoch         uint64    `json:"epoch"`
	Raw           ObjectRef `json:"raw"`
	FetchedAt     time.Time `json:"fetched_at"`
}

// Start is one beginning of a chunk's delivery that was not its first.
type Start struct {
	Token string    `json:"token"`
	At    time.Time `json:"at"`
}
