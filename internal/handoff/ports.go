package handoff

import (
	"context"
	"time"
)

// Guard is the one condition a store knows: the item does not exist, or it exists with exactly this rev. Everything else that
// must hold is judged by this package on the value that was read under that rev; so every rule has one home, and both stores
// have one compare-and-swap to get right (docs/decisions/0002).
type Guard struct {
	Absent bool
	Rev    uint64
}

// CheckpointWrite puts the whole checkpoint under the guard, or with a nil Put checks the guard only.
type CheckpointWrite struct {
	If  Guard
	Put *Checkpoint
}

// PageMark marks an existing page; the write is refused if the page, or with an expiry its directory, does not exist. A mark takes
// nothing back.
type PageMark struct {
	Version   Version
	Abandoned bool
	Lost      bool
	// ExpiresAt is when a store may forget the page and its directory; zero says nothing.
	ExpiresAt time.Time
}

// ReceiptWrite puts the whole receipt under the guard.
type ReceiptWrite struct {
	If  Guard
	Put Receipt
}

// Tx is one atomic write: all of it or nothing. Nil and zero fields are not part of it. Token is fresh per logical write and
// kept over its retries; the items that carry a Token field carry this one.
type Tx struct {
	Token      string
	Stream     Stream
	Entry      *StreamEntry     // put, whatever stands
	Checkpoint *CheckpointWrite //
	PageAbsent Version          // refused if PAGE#v exists
	PageMark   *PageMark        //
	PagePut    *Page            // refused if PAGE#v exists
	Directory  *Directory       // refused if it exists
	Receipt    *ReceiptWrite    //
	Audit      *AuditRecord     // appended; refused if its key exists
	Decision   *DecisionRecord  // refused if a decision of that id exists
}

// Settlement is one event's receipt and its projection writes, atomic together.
type Settlement struct {
	ReceiptWrite
	Docs []DocChange
}

// SettleResult answers one Settlement: Err nil is done; ErrRefused comes with the receipt that stood in the way (nil if none
// exists, where a rev was expected); ErrUnknown; ErrTooLarge; *EffectError.
type SettleResult struct {
	Err error
	Old *Receipt
}

// State is the store of record. Every read is strongly consistent unless its comment says otherwise. Every method may be called
// concurrently and from several processes; none retries on its own beyond what its SDK does. A done write is durable on return.
type State interface {
	Checkpoints
	Pages
	Receipts
	Records
	// Commit writes tx atomically. Safe to repeat: a repeat after success is refused. Sentinels: ErrRefused (nothing
	// written), ErrUnknown (read back by token).
	Commit(ctx context.Context, tx Tx) error
}

// Checkpoints reads what says where streams stand.
type Checkpoints interface {
	// Checkpoint gives ErrNotFound for a stream that was never started.
	Checkpoint(ctx context.Context, s Stream) (Checkpoint, error)
	// Streams lists every stream that was ever started, retired ones included, in order of name.
	Streams(ctx context.Context) ([]StreamEntry, error)
}

// Pages reads pages and makes the small unfenced updates of an existing page. An update of a page that does not exist is
// ErrNotFound and creates nothing.
type Pages interface {
	Page(ctx context.Context, s Stream, v Version) (Page, error)
	Directory(ctx context.Context, s Stream, v Version) (Directory, error)
	// ListPages gives up to limit pages with version > after, ascending.
	ListPages(ctx context.Context, s Stream, after Version, limit int) ([]Page, error)
	// MarkChunk adds k to ChunksDone and returns the page after. Safe to repeat; additions of several callers never undo each other.
	MarkChunk(ctx context.Context, s Stream, v Version, k int) (Page, error)
	// MarkDriven sets Drives and DrivenAt if Drives still is seen; else ErrRefused.
	MarkDriven(ctx context.Context, s Stream, v Version, seen, drives int, at time.Time) error
	// AddStart records a start of a chunk's delivery (same token: no change) and returns all that stand, oldest first. It does not look
	// whether the page exists: who counts has just read it.
	AddStart(ctx context.Context, s Stream, v Version, chunk int, start Start) ([]Start, error)
	// RemoveStart takes it back; removing what is not there is done.
	RemoveStart(ctx context.Context, s Stream, v Version, chunk int, token string) error
	// Spool gives the cached answers for version v in order of (walk, n); none is an empty list.
	Spool(ctx context.Context, s Stream, v Version) ([]SpoolEntry, error)
	// PutSpool is put if absent: ErrRefused if the slot is taken.
	PutSpool(ctx context.Context, e SpoolEntry) error
	DropSpool(ctx context.Context, s Stream, v Version) error
}

// Receipts holds the durable outcomes.
type Receipts interface {
	// Receipts gives those that exist among keys. With proof, the read may be eventually consistent: only a terminal receipt
	// found counts, and a miss proves nothing.
	Receipts(ctx context.Context, s Stream, keys []ReceiptKey, proof bool) (map[ReceiptKey]Receipt, error)
	// Settle writes each settlement atomically by itself, and may put several into one transaction. Results are in the order of
	// items. Never two writes of one receipt or document in one transaction. A guard that fails for one never fails another.
	Settle(ctx context.Context, s Stream, items []Settlement) []SettleResult
	// HeldReceipts lists held and superseded receipts in order of (HeldAt, key): up to limit after the given mark ("" starts).
	// next is "" at the end. Eventually consistent is enough.
	HeldReceipts(ctx context.Context, s Stream, after string, limit int) (rs []Receipt, next string, err error)
	// ListReceipts and ListDocs walk everything, each item once, in an order of the store's own that does not change while nothing
	// is written: for audits and people, never on the hot path.
	ListReceipts(ctx context.Context, s Stream, after string, limit int) (rs []Receipt, next string, err error)
	Doc(ctx context.Context, s Stream, entity string) (Doc, error)
	ListDocs(ctx context.Context, s Stream, after string, limit int) (docs []Doc, next string, err error)
}

// Records reads the append-only record of decisions.
type Records interface {
	// Decision gives ErrNotFound if no decision of that id was taken.
	Decision(ctx context.Context, s Stream, id string) (DecisionRecord, error)
	// Audits lists up to limit records after the mark, oldest first.
	Audits(ctx context.Context, s Stream, after string, limit int) (rs []AuditRecord, next string, err error)
}

// Archive holds immutable objects by key. A done write is durable on return (a folder archive syncs file and folder).
type Archive interface {
	// Put writes if nothing is there. The same bytes already there is done; other bytes are ErrRefused. Safe to repeat and
	// concurrent: one of two writers of different bytes wins whole.
	Put(ctx context.Context, key string, body []byte) error
	// Get gives ErrNotFound for what is not there.
	Get(ctx context.Context, key string) ([]byte, error)
	// GetRange reads length bytes from offset; a shorter object is ErrDigest.
	GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error)
	// List gives keys with the prefix, ascending, up to limit.
	List(ctx context.Context, prefix string, limit int) ([]string, error)
	// Refresh starts the object's life anew, so that an expiry rule does not take it. ErrNotFound.
	Refresh(ctx context.Context, key string) error
}

// ChunkMessage names a chunk and nothing else; where its bytes lie comes from the directory.
type ChunkMessage struct {
	Stream  Stream  `json:"stream"`
	Version Version `json:"version"`
	Chunk   int     `json:"chunk"`
}

// PollMessage asks for a poll.
type PollMessage struct {
	Stream Stream `json:"stream"`
	// Version is the one the sender saw; a poll that finds another exits. 0 asks whatever it is.
	Version Version `json:"version,omitempty"`
	// Drive asks to drive the open chunks now, without waiting for the drive lease.
	Drive bool `json:"drive,omitempty"`
	// Drain is how many more pages may be turned on this tick's account.
	Drain int `json:"drain,omitempty"`
}

// Queue carries messages at least once, in any order. Messages are hints: a lost one is healed by the next poll's sweep. Both
// methods return nil only when every message was accepted; after an error some may have been.
type Queue interface {
	SendChunks(ctx context.Context, ms []ChunkMessage, delay time.Duration) error
	SendPoll(ctx context.Context, m PollMessage, delay time.Duration) error
}

// SentRequest is the request as it went out, without its secrets.
type SentRequest struct {
	Method string              `json:"method"`
	URL    string              `json:"url"`
	Header map[string][]string `json:"header,omitempty"`
	Body   string              `json:"body,omitempty"`
}

// Answer is a raw response and all that Read needs to judge it again: it is archived as it stands.
type Answer struct {
	Cursor    Cursor              `json:"cursor"`
	FetchHash string              `json:"fetch_hash"` // of the definition's fetch part
	Epoch     uint64              `json:"epoch"`
	Request   SentRequest         `json:"request"`
	Status    int                 `json:"status"`
	Header    map[string][]string `json:"header,omitempty"`
	FetchedAt time.Time           `json:"fetched_at"`
	// Truncated: the body was longer than the limit, and what is kept is its beginning.
	Truncated bool   `json:"truncated,omitempty"`
	Body      []byte `json:"-"`
}

// ReadKind is what an answer amounts to.
type ReadKind string

// The kinds of a Reading.
const (
	ReadPage          ReadKind = "page"
	ReadUnavailable   ReadKind = "unavailable"    // throttled, 5xx, 401: ask again later; leaves no trace
	ReadUnreadable    ReadKind = "unreadable"     // not what the definition describes; kept for a person
	ReadTooLarge      ReadKind = "too_large"      // beyond the limits of a page
	ReadCursorRefused ReadKind = "cursor_refused" // the source does not take this cursor any more
	ReadTokenRefused  ReadKind = "token_refused"  // only the short-lived page token; Bookmark still works
	ReadMisconfigured ReadKind = "misconfigured"  // the definition cannot work like this
)

// Reading is an answer understood. Exactly the fields of its kind are set.
type Reading struct {
	Kind ReadKind
	// Detail says in a few words what was seen, for the operator; no payload, no secret.
	Detail string
	// Class is a stable word for metrics: http_500, throttled, timeout, html, truncated, …
	Class string
	// RetryAfter is what the source asked for; 0 if it did not say.
	RetryAfter time.Duration

	Events []Event // in source order, oldest first; Index and Lane are not set yet
	// Next is the cursor after this page; empty means the answer carried none.
	Next Cursor
	// End: the source says that there is nothing more for now. It decides first.
	End bool
	// Continues: Next goes on in the same query, so that borders are checked across it.
	Continues bool
	// TokenLife is the declared life of a token, for idle answers with fresh ones; 0 is unknown.
	TokenLife time.Duration
	// Bookmark is where a refused page token goes back to.
	Bookmark Cursor
}

// Source speaks one event API.
type Source interface {
	// Ask sends one request and returns the answer as it came, whatever its status. An error means that no answer was had;
	// it wraps ErrConfig if it never can be. It bounds its own time and never sends credentials off the configured origin.
	Ask(ctx context.Context, c Cursor, now time.Time) (Answer, error)
	// Read is a pure function of the definition and the answer: the same in poll, replay and try. It never panics.
	Read(a Answer) Reading
}

// Verdict is what policy says about an event.
type Verdict string

// The verdicts.
const (
	VerdictApply      Verdict = "apply"
	VerdictIgnore     Verdict = "ignored"
	VerdictHold       Verdict = "held"
	VerdictQuarantine Verdict = "quarantined"
)

// Ruling is a verdict and the name of the rule that gave it.
type Ruling struct {
	Verdict Verdict
	Rule    string
}

// Policy judges events. Pure. An error (a missing field, say) holds the event.
type Policy interface {
	Judge(e Event) (Ruling, error)
}

// EffectKind says what a store or sink promises.
type EffectKind string

// The kinds of effects.
const (
	Transactional EffectKind = "transactional" // effect and receipt in one transaction
	Idempotent    EffectKind = "idempotent"    // the sink knows the key
	Unsafe        EffectKind = "unsafe"        // the sink knows nothing
)

// EffectTraits is what an effect declares.
type EffectTraits struct {
	Kind EffectKind
	// Timeout bounds one call with all its retries.
	Timeout time.Duration
	// KeyWindow is how long the sink remembers a key; 0 is for ever.
	KeyWindow time.Duration
}

// CallKind is the answer of an outside call.
type CallKind string

// The answers: done, refused for good, surely not done but worth another try, unknown.
const (
	CallDone    CallKind = "done"
	CallRefused CallKind = "refused"
	CallRetry   CallKind = "retry"
	CallUnknown CallKind = "unknown"
)

// CallResult is the answer and, without payload, why.
type CallResult struct {
	Kind   CallKind
	Detail string
	After  time.Duration // what the sink asked for before another try
}

// Effect is what applying an event does.
type Effect interface {
	Traits() EffectTraits
	// Plan gives the projection writes of a transactional effect. Pure. An error holds the event: effect_refused.
	Plan(e Event) ([]DocChange, error)
	// Call makes the outside call of an idempotent or unsafe effect, with the key that names the event for ever. It returns
	// within Timeout. Never called for a transactional effect.
	Call(ctx context.Context, e Event, key string) CallResult
}

// Clock is the time. UTC.
type Clock interface{ Now() time.Time }

// IDs gives fresh random names.
type IDs interface{ New() string }

// Observer is told of every step, for logs, metrics and progress. It must not block and never gets payload, cursor or secret.
type Observer interface {
	Observe(ctx context.Context, o Observation)
}

// Observation is one step of the protocol as it happened.
type Observation struct {
	Step    string // open, promote, settle, hold, halt, drive, close, caught_up, …: the names of docs and crash sites
	Stream  Stream
	Version Version
	Chunk   int
	Count   int
	EventID string // only where one event is concerned
	Detail  string
	Err     error
}
