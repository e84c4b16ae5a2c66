package handofftest

import (
	"encoding/json"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The samples fill every field, with numbers beyond 2^53 and text that careless encoders change. See filled.

const (
	bigNumber = 1<<53 + 1
	oddText   = "“é”, <b>&amp;</b> \"q\" 'q' \\ \u2028 \t 漢 🂡 #/%2F"
)

// positionKinds gives one position of every kind, with what a lossy store would round.
func positionKinds(r *rig) map[string]handoff.Position {
	r.Helper()
	number, err := handoff.NumberPosition("123456789012345678901234567890.000000000000000000010")
	r.done(err)
	instant, err := handoff.TimePosition("2026-03-01T12:00:00.123456789+02:00")
	r.done(err)
	return map[string]handoff.Position{
		"Number":  number,
		"Time":    instant,
		"Text":    handoff.TextPosition(oddText),
		"Tuple":   handoff.TuplePosition(instant, number, handoff.TextPosition("")),
		"Arrival": handoff.ArrivalPosition(bigNumber, 7),
	}
}

func sampleCheckpoint(s handoff.Stream, p handoff.Position) handoff.Checkpoint {
	answer := handoff.ObjectRef{Key: "raw/" + oddText, Digest: "d1"}
	return handoff.Checkpoint{
		Stream: s, ResumeCursor: oddText, AppliedPosition: p, Version: 12, Rev: 1, Token: "t1",
		Paused: true, PausedAt: at(1), Halt: &handoff.Halt{Reason: handoff.HaltGap, Detail: oddText, At: at(2), Answer: answer},
		Closing: 11, Accepts: []handoff.Accept{{Version: 12, Check: handoff.HaltGap, Answer: answer}, {Version: 12, Check: handoff.HaltTokenCycle, Answer: answer}},
		NextPollAt: at(3), CursorSince: 10, CursorSinceAt: at(4),
		Border: handoff.Border{Position: p, EventID: `"e"`}, Anchor: handoff.Anchor{Hash: "h", Count: bigNumber},
		PrefixFloor: p, FloorOpen: true, Bootstrap: true,
		Stalls: 3, StalledSince: at(5), RefusedSince: at(6), TokenRefusals: 4,
		Failures: 5, FailingSince: at(7), FailureClass: "http_500", Unreadable: 6,
		Epoch: bigNumber, StartedAt: at(8), UpdatedAt: at(9), KeptAt: at(10), Behind: at(11),
	}
}

func sampleEntry(s handoff.Stream) handoff.StreamEntry {
	return handoff.StreamEntry{Stream: s, Definition: oddText, StartedAt: at(1), RetiredAt: at(2), OrphanedAt: at(3)}
}

func samplePage(s handoff.Stream, v handoff.Version) handoff.Page {
	return handoff.Page{
		Stream: s, Version: v, Token: "t1", RequestCursorHash: "h1", NextCursorHash: "h2", Events: 2500, Replays: 3, Chunks: 100,
		ChunksDone: handoff.ChunkSet{}.With(0).With(63).With(64).With(99), Drives: 4, DrivenAt: at(1), Abandoned: true, Lost: true,
		OpenedAt: at(2), EffectHash: "e1", OldestAt: at(4), ExpiresAt: at(3).Truncate(time.Second), // a store may keep whole seconds
	}
}

func sampleDirectory(s handoff.Stream, v handoff.Version, p handoff.Position) handoff.Directory {
	return handoff.Directory{
		Stream: s, Version: v, RequestCursor: oddText, NextCursor: oddText + "2", End: true,
		NextPollAt: at(1), Border: handoff.Border{Position: p, EventID: `"e"`}, Anchor: handoff.Anchor{Hash: "h", Count: bigNumber},
		AppliedPosition: p, TokenRefusals: 2, AppliedBefore: p, Floor: p, ReceiptRetention: 90 * 24 * time.Hour, Drain: 3,
		Raw: handoff.ObjectRef{Key: "raw", Digest: "d1"}, Object: handoff.ObjectRef{Key: "events", Digest: "d2"},
		Chunks:   []handoff.ChunkRef{{Offset: 1, Length: bigNumber, Digest: "d3", Events: 25}, {Offset: bigNumber, Length: 1, Digest: "d4", Events: 1}},
		Revision: "rev", Effect: "e1", Behind: at(2),
	}
}

func sampleSpool(s handoff.Stream, v handoff.Version) handoff.SpoolEntry {
	return handoff.SpoolEntry{Stream: s, Version: v, Walk: 2, N: 3, RequestCursor: oddText, Epoch: bigNumber, Raw: handoff.ObjectRef{Key: "raw", Digest: "d"}, FetchedAt: at(1)}
}

func sampleReceipt(s handoff.Stream, p handoff.Position) handoff.Receipt {
	return handoff.Receipt{
		ReceiptKey: handoff.ReceiptKey{EventID: `"` + oddText + `"`, Conflict: "d2"}, Stream: s, Outcome: handoff.Held,
		Reason: handoff.HoldAmbiguous, Detail: oddText, Digest: "d2", Identity: "i1", Position: p, Entity: oddText, By: "ada",
		Attempts: 3, Attempt: &handoff.Attempt{Token: "a1", At: at(1), EffectHash: "e1"}, NextAt: at(2), Error: oddText, Policy: "p1", Effect: "e2",
		Answered:    []handoff.AnsweredHold{{Reason: handoff.HoldLate, Detail: "one"}, {Reason: handoff.HoldPolicy, Detail: "two"}},
		PageVersion: 12, Chunk: 3, Index: 77, Rev: 1, Token: "t1", HeldAt: at(3), WrittenAt: at(4), ExpiresAt: at(5),
	}
}

// sampleChange makes a document; sampleDoc is what it must be.
func sampleChange(p handoff.Position) handoff.DocChange {
	return handoff.DocChange{Entity: oddText, Set: sampleFields(), Position: p}
}

func sampleDoc(s handoff.Stream, p handoff.Position) handoff.Doc {
	return handoff.Doc{Stream: s, Entity: oddText, Fields: sampleFields(), Position: p}
}

func sampleFields() map[string]json.RawMessage {
	return map[string]json.RawMessage{
		"number": json.RawMessage(`123456789012345678901234567890.10`), "text": json.RawMessage(`"<b>&\u0000\ud83c\udca1 漢"`),
		"null": json.RawMessage(`null`), "tree": json.RawMessage(`{"b":[1,2.0,1e400],"a":{}}`), oddText: json.RawMessage(`true`), "": json.RawMessage(`""`),
	}
}

func sampleDecision(s handoff.Stream) handoff.DecisionRecord {
	return handoff.DecisionRecord{
		ID: oddText, Stream: s, Token: "t1", RequestHash: "h", At: at(1), ExpiresAt: at(2),
		Answer: handoff.DecisionAnswer{Decision: oddText, Outcome: handoff.Ignored, Status: handoff.Halted, Version: 12, Rev: bigNumber},
	}
}

func sampleAudit(s handoff.Stream) handoff.AuditRecord {
	return handoff.AuditRecord{
		ID: oddText, At: at(1), Stream: s, Kind: handoff.DecideReset, Actor: oddText, Reason: oddText,
		Event: handoff.ReceiptKey{EventID: `"e"`, Conflict: "d"}, Before: oddText, After: oddText, Undo: oddText, ExpiresAt: at(2),
	}
}
