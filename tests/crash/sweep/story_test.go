package sweep

import (
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// story is a script and, written by hand, how it ends.
type story struct {
	name    string
	replies map[handoff.Cursor][]reply
	policy  policy
	later   []string // of an outside sink, see sink
	mute    []string
	decides func(r handoff.Receipt, cp handoff.Checkpoint) (handoff.Decision, bool) // the operator's book
	strays  int                                                                     // at this step the definition is missing
	accepts handoff.Cursor                                                          // a halt at this cursor is accepted
	mends   map[handoff.Cursor][]reply                                              // what the source's owner repairs when the stream halts
	ends    ending
}

// ending is the simple model: what is true when everything is over, whatever happened on the way.
type ending struct {
	cursor      handoff.Cursor
	version     handoff.Version
	applied     string
	effects     map[string]string // entity: ids in order
	quarantined []string
	conflicts   map[string]handoff.Outcome // id: outcome of its second content
}

// long is the story of the issue: pages that overlap, three lanes, a held event and its release, a second content under one id, an event
// quarantined by policy and one by the operator, an empty page with a new token, a page of replays, a page in the wrong order that the
// source's owner repairs, a reset over a held page, the source's end, and after it new events, in a wrong order that the operator accepts.
func long() story {
	second := ev(2, "b")
	second.Body = "v2"
	return story{
		name: "long",
		replies: map[handoff.Cursor][]reply{
			"c0": {{Records: []record{ev(1, "a"), ev(2, "b"), ev(3, "c"), ev(4, "a")}, Next: "c1"}},
			"c1": {{Records: []record{second, ev(4, "a"), ev(5, "a"), ev(6, "b"), ev(7, "c")}, Next: "c2"}},
			"c2": {{Next: "c3"}},
			"c3": {{Records: []record{ev(6, "b"), ev(7, "c")}, Next: "c4"}},
			"c4": {{Records: []record{ev(8, "a"), ev(9, "b"), ev(10, "b"), ev(11, "c")}, Next: "wrong way"}},
			"r":  {{Records: []record{ev(8, "a"), ev(10, "b"), ev(9, "b")}, Next: "r1"}},
			"r1": {{Records: []record{ev(10, "b"), ev(11, "c"), ev(12, "a")}, Next: "r2", End: true}},
			"r2": {
				{Next: "r2", End: true},
				{Records: []record{ev(14, "b"), ev(13, "a")}, Next: "r2", End: true},
				{Records: []record{ev(13, "a"), ev(14, "b")}, Next: "r2", End: true},
			},
		},
		accepts: "r2",
		mends:   map[handoff.Cursor][]reply{"r": {{Records: []record{ev(8, "a"), ev(9, "b"), ev(10, "b")}, Next: "r1"}}},
		policy: policy{
			"3": handoff.VerdictHold, "4": handoff.VerdictQuarantine, "6": handoff.VerdictHold, "9": handoff.VerdictHold,
		},
		strays: 4, later: []string{"5"}, mute: []string{"7"},
		decides: func(r handoff.Receipt, cp handoff.Checkpoint) (handoff.Decision, bool) {
			d := handoff.Decision{Event: r.ReceiptKey, Rev: r.Rev}
			switch id := bare(r.EventID); {
			case r.Conflict != "":
				d.Kind = handoff.DecideIgnore
			case id == "6":
				d.Kind = handoff.DecideQuarantine
			case id == "9" && cp.Epoch == 0: // the page that it blocks is the wrong one
				return handoff.Decision{Kind: handoff.DecideReset, Rev: cp.Rev, Cursor: "r"}, cp.Version == 5 && cp.Closing == 0
			case r.Outcome == handoff.Held && r.PageVersion == cp.Version && cp.Closing == 0:
				d.Kind = handoff.DecideRelease
			default:
				return d, false
			}
			return d, true
		},
		ends: ending{
			cursor: "r2", version: 9, applied: "14",
			effects:     map[string]string{"a": "1 5 8 12 13", "b": "2 9 10 14", "c": "3 7 11"},
			quarantined: []string{"4", "6"},
			conflicts:   map[string]handoff.Outcome{"2": handoff.Ignored},
		},
	}
}

// short is two small pages that overlap, and one decision.
func short() story {
	return story{
		name: "short",
		replies: map[handoff.Cursor][]reply{
			"c0": {{Records: []record{ev(1, "a"), ev(2, "b")}, Next: "c1"}},
			"c1": {{Records: []record{ev(2, "b"), ev(3, "a")}, Next: "c1", End: true}},
		},
		policy: policy{"2": handoff.VerdictHold},
		decides: func(r handoff.Receipt, cp handoff.Checkpoint) (handoff.Decision, bool) {
			return handoff.Decision{Event: r.ReceiptKey, Rev: r.Rev, Kind: handoff.DecideRelease}, r.Outcome == handoff.Held && r.PageVersion == cp.Version
		},
		ends: ending{cursor: "c1", version: 3, applied: "3", effects: map[string]string{"a": "1 3", "b": "2"}},
	}
}

// settings are those of every story.
func settings(s handoff.Stream) handoff.Settings {
	return handoff.Settings{
		Stream: s, Definition: string(s), Start: "c0", Interval: time.Minute, Pages: 20, Lanes: handoff.LaneEntity, ChunkSize: 2,
		Contract: handoff.Contract{Ordered: true, Unique: true, Overlap: true}, Revision: "r1", FetchHash: "f1", Identity: "i1", Policy: "p1", Effect: "e1",
	}
}

// timing keeps records and archived objects for a while, so that the writes which keep and expire them are part of the story.
func timing() handoff.Timing {
	t := handoff.DefaultTiming()
	t.RecordLife, t.ArchiveLife = 1000*time.Hour, 3*time.Hour
	return t
}
