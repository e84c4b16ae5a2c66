package reviewapi

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The examples are values of the types that are served, so that they stay what is served.

type (
	// StreamStatus and the others are the protocol's, by the names of the document.
	StreamStatus   = handoff.StreamStatus
	Receipt        = handoff.Receipt
	DecisionAnswer = handoff.DecisionAnswer
	AuditRecord    = handoff.AuditRecord
	Page           = handoff.Page
	Doc            = handoff.Doc
	Violation      = handoff.Violation
)

var (
	exampleTime    = time.Date(2031, 3, 1, 12, 30, 0, 0, time.UTC)
	exampleEvent   = handoff.ReceiptKey{EventID: `"evt/1042"`}
	exampleRaw     = `{"id":"evt/1042","order":1000000000000000000000000000001,"note":"<b>not markup</b>"}`
	exampleReceipt = Receipt{
		ReceiptKey: exampleEvent, Stream: "orders/eu", Outcome: handoff.Held, Reason: handoff.HoldLate, Detail: "below the applied position",
		Digest: handoff.DigestOf([]byte(exampleRaw)), Entity: "order-77", By: "apply", PageVersion: 12, Rev: 3, Token: "w-1",
		HeldAt: exampleTime, WrittenAt: exampleTime,
	}
	exampleDecided = Receipt{
		ReceiptKey: exampleEvent, Stream: "orders/eu", Outcome: handoff.Ignored, Digest: exampleReceipt.Digest, By: "ada", PageVersion: 12,
		Rev: 4, Token: "w-2", WrittenAt: exampleTime,
	}
	exampleBlocked = &handoff.Blocked{By: "hold: late", Since: exampleTime, Detail: exampleReceipt.Detail, Event: &exampleReceipt}
	examplePage    = Page{
		Stream: "orders/eu", Version: 12, Token: "w-0", RequestCursorHash: handoff.Cursor("c11").Hash(), NextCursorHash: handoff.Cursor("c12").Hash(),
		Events: 2, Chunks: 1, OpenedAt: exampleTime,
	}
	exampleAnswer = DecisionAnswer{Decision: "2031-03-01-ada-7", Outcome: handoff.Ignored, Version: 12, Rev: 4}
)

// answerExamples are good answers, by route.
var answerExamples = map[string]any{
	"GET /v1/streams": listOf([]StreamLine{{
		Stream: "orders/eu", Definition: "orders", Status: handoff.Active, Version: 12, Rev: 40, Blocked: exampleBlocked, Held: 1, StartedAt: exampleTime,
	}}, ""),
	"GET /v1/streams/{stream}": StreamStatus{
		Stream: "orders/eu", Status: handoff.Active, Version: 12, Rev: 40, Blocked: exampleBlocked, Page: &examplePage, Held: 1, OldestHeld: exampleTime,
		Checkpoint: handoff.Checkpoint{Stream: "orders/eu", ResumeCursor: "c11", Version: 12, Rev: 40, Token: "w-0", StartedAt: exampleTime, UpdatedAt: exampleTime},
	},
	"GET /v1/streams/{stream}/holds":                     listOf([]Receipt{exampleReceipt}, ""),
	"GET /v1/streams/{stream}/events/{event}":            EventView{Receipt: exampleReceipt, Raw: &exampleRaw},
	"POST /v1/streams/{stream}/events/{event}/decisions": exampleAnswer,
	"POST /v1/streams/{stream}/decisions":                DecisionAnswer{Decision: "2031-03-01-ada-8", Status: handoff.Active, Version: 13, Rev: 41},
	"POST /v1/streams/{stream}/bulk": listOf([]BulkResult{
		{BulkEvent: BulkEvent{EventID: `"evt/1042"`, Rev: 3}, Answer: &exampleAnswer},
		{BulkEvent: BulkEvent{EventID: `17`, Rev: 1}, Problem: &Problem{
			Type: "not_found", Title: "There is no such thing", Status: http.StatusNotFound, Detail: "no such stream, or no such event or page in it",
		}},
	}, ""),
	"GET /v1/streams/{stream}/audit": listOf([]AuditRecord{{
		ID: exampleAnswer.Decision, At: exampleTime, Stream: "orders/eu", Kind: handoff.DecideIgnore, Actor: "ada", Reason: "known duplicate, ticket 88",
		Event: exampleEvent, Before: "held (late)", After: "ignored by ada at 2031-03-01 12:30:00Z",
	}}, ""),
	"GET /v1/streams/{stream}/pages": listOf([]Page{examplePage}, "12"),
	"GET /v1/streams/{stream}/docs": listOf([]Doc{{
		Stream: "orders/eu", Entity: "order-77", Fields: map[string]json.RawMessage{"total": json.RawMessage("1000000000000000000000000000001")},
	}}, ""),
	"GET /v1/streams/{stream}/check": listOf([]Violation{{Invariant: "I9", Version: 11, Detail: "1 events are archived, 2 were opened"}}, ""),
}

// requestExamples are request bodies, by route.
var requestExamples = map[string]any{
	"POST /v1/streams/{stream}/events/{event}/decisions": EventDecision{Kind: handoff.DecideIgnore, Reason: "known duplicate, ticket 88", Rev: 3},
	"POST /v1/streams/{stream}/decisions":                StreamDecision{Kind: handoff.DecideReset, Reason: "the source was restored", Rev: 40, Cursor: "c7"},
	"POST /v1/streams/{stream}/bulk": Bulk{Kind: handoff.DecideIgnore, Reason: "known duplicates, ticket 88", Events: []BulkEvent{
		{EventID: `"evt/1042"`, Rev: 3}, {EventID: `17`, Rev: 1},
	}},
}

// problemExamples are refusals, by status.
var problemExamples = map[int]Problem{
	http.StatusConflict: {
		Type: "conflict", Title: "Something changed", Status: http.StatusConflict, Receipt: &exampleDecided,
		Detail: "the event changed since it was seen: it is ignored by ada at 2031-03-01 12:30:00Z",
	},
	http.StatusServiceUnavailable: {
		Type: "unknown", Title: "The outcome is unknown", Status: http.StatusServiceUnavailable, Decision: "2031-03-01-ada-7",
		Detail: "it may or may not have been done: repeat the same request with the same Idempotency-Key",
	},
}
