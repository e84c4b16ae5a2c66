// Package demo is a made-up event API to try Turnleaf on: account movements behind opaque tokens, with overlapping pages, an
// empty page, a record without an id, and a few events that the demo's policy holds. It stores nothing: every event is computed
// from a seed and its number, so that it says the same after any restart.
package demo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// The numbers of the events that a newcomer is meant to meet.
const (
	// TestEvent is of type test: policy quarantines it.
	TestEvent = 90
	// HeldEvent and HeldAgain are refunds over the limit: policy holds them.
	HeldEvent = 137
	HeldAgain = 251
	// NamelessEvent has no id: held as invalid_event, whatever the policy.
	NamelessEvent = 198
	// LiveRefund is how often a refund over the limit arrives once the backlog is read.
	LiveRefund = 240
	// pings come every 17th event; policy ignores them.
	pingEvery, pingAt = 17, 5
	accounts          = 12
)

// Feed is the whole data set.
type Feed struct {
	Seed uint64
	// Start is when the feed first ran. Event Backlog+n exists from Start + n × Every on.
	Start   time.Time
	Backlog int           // events that exist from the beginning
	Every   time.Duration // between two new events
}

// Count is how many events exist at now. It never falls as long as the clock does not.
func (f Feed) Count(now time.Time) int {
	if f.Every <= 0 || now.Before(f.Start) {
		return f.Backlog
	}
	return f.Backlog + int(now.Sub(f.Start)/f.Every)
}

// record is an event as the API gives it. Amounts are whole cents.
type record struct {
	Seq     int    `json:"seq"`
	ID      string `json:"id,omitempty"`
	Type    string `json:"type"`
	Account string `json:"account"`
	Amount  int    `json:"amount"`
	Time    string `json:"time"`
}

// Record is event k as JSON; the first is 1. The same for ever.
func (f Feed) Record(k int) json.RawMessage {
	r := rand.New(rand.NewPCG(f.Seed, uint64(k)))
	rec := record{
		Seq: k, ID: fmt.Sprintf("evt-%04d", k), Type: "deposit",
		Account: fmt.Sprintf("acct-%02d", 1+r.IntN(accounts)),
		Amount:  100 + r.IntN(20_000), Time: f.time(k).Format(time.RFC3339),
	}
	if r.IntN(10) < 4 {
		rec.Type, rec.Amount = "payment", -rec.Amount/2
	}
	f.special(k, &rec)
	b, err := json.Marshal(rec)
	if err != nil { // texts and numbers always marshal
		return json.RawMessage("null")
	}
	return b
}

// special turns the numbers that mean something into what they mean.
func (f Feed) special(k int, rec *record) {
	switch {
	case k == HeldEvent || k == HeldAgain || (k > f.Backlog && k%LiveRefund == 0):
		rec.Type, rec.Amount = "refund", -125_000
	case k == NamelessEvent:
		rec.ID = ""
	case k == TestEvent:
		rec.Type = "test"
	case k%pingEvery == pingAt:
		rec.Type, rec.Amount = "ping", 0
	}
}

// time spreads the backlog over the hours before Start, one event a minute.
func (f Feed) time(k int) time.Time {
	if k <= f.Backlog {
		return f.Start.Add(-time.Duration(f.Backlog-k) * time.Minute).UTC()
	}
	return f.Start.Add(time.Duration(k-f.Backlog) * f.Every).UTC()
}
