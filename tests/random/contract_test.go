package random_test

import (
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The orders a source may declare.
const (
	orderUnique = iota
	orderGapless
	orderShared
	orderArrival
	orderWatermark
	orderTime
)

func (s setup) once() bool { return s.Once == 3 && s.holdBack() == 0 }

// holdBack is how young an event may be to be left for later.
func (s setup) holdBack() time.Duration {
	if s.Young == 3 && s.Order != orderWatermark && s.Order != orderTime {
		return 2 * time.Minute
	}
	return 0
}

// interval is how often a source at its end is asked.
func (s setup) interval() time.Duration {
	if s.Pace == 1 {
		return 5 * time.Minute
	}
	return time.Minute
}

// timing is the deployment's; the lives of records and objects only make the protocol do its part, nothing expires here.
func (s setup) timing() handoff.Timing {
	t := handoff.DefaultTiming()
	switch s.Pace {
	case 1:
		t.ArchiveLife = 60 * time.Hour
	case 2:
		t.RecordLife = 400 * 24 * time.Hour
	}
	return t
}

// tokenLife is how long the source says that a token works.
func (s setup) tokenLife() time.Duration {
	if s.Pace == 0 {
		return 0
	}
	return time.Hour
}

// contract is what the source of a run declares. Mischief breaks it, and must then be noticed.
func (s setup) contract() handoff.Contract {
	c := handoff.Contract{Ordered: true, Unique: true, Overlap: s.Overlap > 0, ApplyLate: s.Late == 1, OnceToken: s.once(), HoldBack: s.holdBack()}
	switch s.Order {
	case orderGapless:
		c.Gapless = true
	case orderShared:
		c.Unique = false
	case orderArrival:
		c.Ordered, c.Unique, c.Arrival = false, false, true
	case orderWatermark:
		c.Watermark = true
	}
	return c
}

// settings is the definition of one stream of a run.
func (s setup) settings(name handoff.Stream) handoff.Settings {
	return handoff.Settings{
		Stream: name, Definition: string(name), Start: token(0, 0), Interval: s.interval(), Pages: 3, ChunkSize: s.Chunk + 1,
		Lanes:    []handoff.LaneRule{handoff.LaneEntity, handoff.LanePage, handoff.LaneEvent}[s.Lanes],
		Contract: s.contract(), Revision: "r1", FetchHash: "f1", Identity: "i1", Policy: "p1", Effect: "x1", MaxAttempts: s.Tries,
	}
}
