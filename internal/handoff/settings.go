package handoff

import "time"

// Contract is what a source declares and what is then checked (DESIGN §3).
type Contract struct {
	// Ordered: events come in order of position inside one response; false implies arrival.
	Ordered bool `json:"ordered"`
	// Unique: no two events share a position. Shared positions make I2 read "below" for "at or below".
	Unique bool `json:"unique"`
	// Arrival: the source promises no order, or has no positions.
	Arrival bool `json:"arrival"`
	// Gapless: positions are whole numbers without holes.
	Gapless bool `json:"gapless"`
	// ApplyLate applies unseen events below the applied position; false holds them.
	ApplyLate bool `json:"apply_late"`
	// OnceToken: a token can be used once only.
	OnceToken bool `json:"once_token"`
	// Overlap: answers may show again what lies at or below the applied position.
	Overlap bool `json:"overlap"`
	// Watermark proves replays by position instead of receipts.
	Watermark bool `json:"watermark"`
	// HoldBack cuts events younger than this off the tail; 0 is off.
	HoldBack time.Duration `json:"hold_back"`
	// Retention is how far back the source can be read; 0 is unknown.
	Retention time.Duration `json:"retention"`
	// ReceiptRetention is how long terminal receipts are kept; 0 is for ever.
	ReceiptRetention time.Duration `json:"receipt_retention"`
}

// LaneRule says how a page is cut into lanes.
type LaneRule string

// The lane rules.
const (
	LanePage   LaneRule = "page"   // no entity declared: the page is one lane
	LaneEntity LaneRule = "entity" // one lane per entity
	LaneEvent  LaneRule = "event"  // entity: none
)

// Settings is what the protocol needs to know of a definition.
type Settings struct {
	Stream     Stream
	Definition string
	// Start is where the first tick begins; empty waits for `streams start`.
	Start Cursor
	// Interval is between polls once the source's end is reached.
	Interval time.Duration
	// Pages is the most pages turned on one tick's account.
	Pages     int
	ChunkSize int // 25 if 0
	Lanes     LaneRule
	Contract  Contract
	// Hashes of the parts of the definition.
	Revision  string
	FetchHash string
	Identity  string
	Policy    string
	Effect    string
	// MaxAttempts is how often a retryable effect is tried before the event is held; 0 is for ever.
	MaxAttempts int
}

// Binding joins a definition's settings and the code it configures.
type Binding struct {
	Settings
	Source Source
	Policy Policy
	Effect Effect
}

// Timing is what the deployment promises about time; one set for all streams.
type Timing struct {
	// Tick is the distance of scheduled polls.
	Tick time.Duration
	// DriveLease is the first wait before an open page's chunks are sent again: longer than the queue's visibility time. It
	// doubles with each drive up to MaxDriveLease.
	DriveLease    time.Duration
	MaxDriveLease time.Duration
	// FunctionLife is the longest an invocation can live; what is older than it plus Margin cannot still be running.
	FunctionLife time.Duration
	Margin       time.Duration
	// PoisonStarts is how many dead starts of a chunk's delivery make a crash loop.
	PoisonStarts int
	// RetryBase and RetryMax bound the waits between attempts; MaxDelay is the queue's longest delay.
	RetryBase time.Duration
	RetryMax  time.Duration
	MaxDelay  time.Duration
	// ArchiveLife is how long the archive keeps an object that nobody touches; 0 is for ever.
	ArchiveLife time.Duration
	// RecordLife is how long promoted and abandoned pages, decisions and audit lines are kept; 0 is for ever.
	RecordLife time.Duration
	// StallTicks, UnreadableTicks: how many ticks in a row make a halt.
	StallTicks      int
	UnreadableTicks int
}

// DefaultTiming fits the AWS template: one-minute ticks, a 30 s function, a 180 s visibility time.
func DefaultTiming() Timing {
	return Timing{
		Tick: time.Minute, DriveLease: 200 * time.Second, MaxDriveLease: 15 * time.Minute,
		FunctionLife: 30 * time.Second, Margin: 5 * time.Second, PoisonStarts: 3,
		RetryBase: 2 * time.Second, RetryMax: 15 * time.Minute, MaxDelay: 15 * time.Minute,
		StallTicks: 3, UnreadableTicks: 3,
	}
}
