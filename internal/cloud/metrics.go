package cloud

import (
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Unit is one of CloudWatch's.
type Unit string

// The units that are used.
const (
	Count   Unit = "Count"
	Seconds Unit = "Seconds"
)

// Metric is one number that a function tells CloudWatch. docs/operations.md says what each means; a test compares the two.
type Metric struct {
	Name string
	Unit Unit
	// ByStream: it has the dimensions Service and Stream, and once more Service alone, where alarms look. Else only Service.
	ByStream bool
}

// The names. Counts that are zero are not sent: CloudWatch bills a metric for the hours in which it is.
const (
	mTicks   = "Ticks"
	mOrphans = "Orphans"

	mPolls         = "Polls"
	mPagesOpened   = "PagesOpened"
	mPagesPromoted = "PagesPromoted"
	mPagesTurned   = "PagesTurned"
	mPagesDriven   = "PagesDriven"

	mEventsOpened      = "EventsOpened"
	mEventsSettled     = "EventsSettled"
	mEventsApplied     = "EventsApplied"
	mEventsIgnored     = "EventsIgnored"
	mEventsQuarantined = "EventsQuarantined"
	mEventsHeld        = "EventsHeld"
	mEventsRetrying    = "EventsRetrying"
	mEventsReplayed    = "EventsReplayed"

	mSinkRetries  = "SinkRetries"
	mSinkRefusals = "SinkRefusals"
	mSinkUnknowns = "SinkUnknowns"

	mConflicts = "CASConflicts"
	mUnknowns  = "UnknownOutcomes"
	mHalts     = "Halts"
	mDecisions = "Decisions"

	// Failures by class are grouped once more by what is to be done about them: an alarm looks at one metric.
	mFailures    = "Failures" // and a class
	mSourceFails = "SourceFailures"
	mSourceSays  = "SourceRefusals"
	mOwnFails    = "OwnFailures"

	mHalted      = "Halted"
	mBlockedAge  = "BlockedAge"
	mUnapplied   = "OldestUnappliedAge"
	mPageAge     = "PageOpenAge"
	mHeld        = "HeldCount"
	mOldestHold  = "OldestHoldAge"
	mHeadroom    = "RetentionHeadroom"
	mEmptyStreak = "EmptyStreak"
)

// Metrics lists every metric, those of failures by class included.
func Metrics() []Metric {
	list := []Metric{
		{mTicks, Count, false}, {mOrphans, Count, false},
		{mPolls, Count, true}, {mPagesOpened, Count, true}, {mPagesPromoted, Count, true}, {mPagesTurned, Count, true}, {mPagesDriven, Count, true},
		{mEventsOpened, Count, true}, {mEventsSettled, Count, true}, {mEventsApplied, Count, true}, {mEventsIgnored, Count, true},
		{mEventsQuarantined, Count, true}, {mEventsHeld, Count, true}, {mEventsRetrying, Count, true}, {mEventsReplayed, Count, true},
		{mSinkRetries, Count, true}, {mSinkRefusals, Count, true}, {mSinkUnknowns, Count, true},
		{mConflicts, Count, true}, {mUnknowns, Count, true}, {mHalts, Count, true}, {mDecisions, Count, true},
		{mSourceFails, Count, true}, {mSourceSays, Count, true}, {mOwnFails, Count, true},
		{mHalted, Count, true}, {mBlockedAge, Seconds, true}, {mUnapplied, Seconds, true}, {mPageAge, Seconds, true}, {mHeld, Count, true},
		{mOldestHold, Seconds, true}, {mHeadroom, Seconds, true}, {mEmptyStreak, Count, true},
	}
	for _, c := range Classes() {
		list = append(list, Metric{failuresOf(c), Count, true})
	}
	return list
}

// failuresOf is the name of the metric that counts one class: source_throttled gives FailuresSourceThrottled.
func failuresOf(c Class) string {
	name := mFailures
	for word := range strings.SplitSeq(string(c), "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// groupOf is the metric that a class counts for besides its own: the source does not answer, which heals by itself; it answers what needs
// a person; or the trouble is on our side.
func groupOf(c Class) string {
	switch c {
	case ClassSourceUnavailable, ClassSourceThrottled:
		return mSourceFails
	case ClassSourceRefused, ClassUnreadable, ClassConfig:
		return mSourceSays
	}
	return mOwnFails
}

// countOf says which metric a step of the protocol counts for, and how much. Steps that are only told to the log count for none.
func countOf(o handoff.Observation) (name string, n int) {
	switch o.Step {
	case "open":
		return mPagesOpened, 1
	case "promote":
		return mPagesPromoted, 1
	case "turn":
		return mPagesTurned, 1
	case "drive":
		return mPagesDriven, 1
	case "halt":
		return mHalts, 1
	case "conflict":
		return mConflicts, 1
	case "unknown":
		return mUnknowns, 1
	case "decide":
		return mDecisions, 1
	case "sink_retry":
		return mSinkRetries, 1
	case "sink_refused":
		return mSinkRefusals, 1
	case "sink_unknown":
		return mSinkUnknowns, 1
	}
	return "", 0
}

// gauge tells a state from a count.
func gauge(name string) bool {
	switch name {
	case mOrphans, mHalted, mBlockedAge, mUnapplied, mPageAge, mHeld, mOldestHold, mHeadroom, mEmptyStreak:
		return true
	}
	return false
}

// snake is a metric's name as a key of a log line: EventsApplied gives events_applied.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		upper := c >= 'A' && c <= 'Z'
		if upper && i > 0 && (name[i-1] >= 'a' && name[i-1] <= 'z' || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z') {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(c)))
	}
	return b.String()
}
