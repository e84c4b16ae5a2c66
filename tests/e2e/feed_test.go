package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The shape of the feed: 2,000 events over 20 pages, each page showing the last ones of the page before again.
const (
	total    = 2000
	perPage  = 100
	overlap  = 5
	pages    = total / perPage
	accounts = 37
)

// The events that mean something.
const (
	heldEvent = 437 // a refund over the limit: policy holds it
	twoFaced  = 798 // shown again with other content, in the overlap of the next page
	firstGate = 1000
	// Types that the first definition does not know come behind the gate only, so that what each event does follows from the event alone,
	// whichever code settled it.
	bonusEvery = 9
)

// record is an event as the feed shows it. Amounts are whole cents.
type record struct {
	Seq     int    `json:"seq"`
	ID      string `json:"id"`
	Type    string `json:"type"`
	Account string `json:"account"`
	Amount  int    `json:"amount"`
}

// recordOf is event k, the first is 1. The same for ever.
func recordOf(k int) record {
	r := record{Seq: k, ID: fmt.Sprintf("evt-%04d", k), Type: "deposit", Account: account(k), Amount: 100 + (k*7919)%20_000}
	switch {
	case k == heldEvent:
		r.Type, r.Amount = "refund", -125_000
	case k%17 == 5:
		r.Type = "ping"
	case k%250 == 90:
		r.Type = "test"
	case k > firstGate && k%bonusEvery == 0:
		r.Type = "bonus"
	case k%3 == 0:
		r.Type, r.Amount = "payment", -r.Amount/2
	}
	return r
}

// account spreads events unevenly, so that lanes have different lengths.
func account(k int) string { return fmt.Sprintf("acct-%02d", (k*k+k/7)%accounts) }

// feed is an HTTP API that speaks opaque tokens: /events, and /late, a small one of its own.
type feed struct {
	*httptest.Server

	onAsk func(r *http.Request) // runs while the answer is waited for; set before the first request

	mu        sync.Mutex
	published int // guarded by mu: how many events of /events there are
	asked     int // guarded by mu
}

func newFeed(t *testing.T) *feed {
	f := &feed{published: firstGate, onAsk: func(*http.Request) {}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, perPage, f.count()) })
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, latePage, lateTotal) })
	f.Server = httptest.NewUnstartedServer(mux)
	f.Config.ErrorLog = silent
	f.Start()
	t.Cleanup(f.Close)
	return f
}

// The second stream's feed.
const (
	lateTotal = 30
	latePage  = 20
)

func (f *feed) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.published
}

func (f *feed) publish(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.published = n
}

func (f *feed) serve(w http.ResponseWriter, r *http.Request, size, count int) {
	f.mu.Lock()
	f.asked++
	f.mu.Unlock()
	f.onAsk(r)
	after, ok := place(r.URL.Query().Get("cursor"))
	if !ok {
		http.Error(w, "not a cursor of ours", http.StatusBadRequest)
		return
	}
	to := min(after+size, count)
	events := []record{}
	for k := max(after-overlap, 0) + 1; k <= to; k++ {
		rec := recordOf(k)
		if k == twoFaced && k <= after {
			rec.Amount++ // the same id, and not what it was
		}
		events = append(events, rec)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"events": events, "next": token(to), "has_more": to < count}) // who went away is told nothing
}

// token is opaque to everybody else.
func token(after int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "turn:%d:leaf", after*31))
}

func place(token string) (after int, ok bool) {
	if token == "" {
		return 0, true
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return 0, false
	}
	text, ok := strings.CutPrefix(string(raw), "turn:")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, ":leaf"))
	return n / 31, err == nil && n%31 == 0
}

// definition is the stream's file. ADDRESS is the feed's; EXTRA is what a later deployment adds.
const definition = `
start: beginning
source:
  url: ADDRESS/events
  allow_private: true          # the feed is the test's own
  events: body.events
  end: "!body.has_more"
  refused: status == 400
  cursor: {token: body.next, send: "query:cursor"}
event: {id: event.id, position: event.seq, entity: event.account}
contract: {positions: unique, gapless: true, overlap: true}
policy:
  - {name: refund_over_limit, when: 'event.type == "refund" && event.amount < -100000', then: held}
  - {name: test_traffic, when: 'event.type == "test"', then: quarantined}
  - {name: pings, when: 'event.type == "ping"', then: ignored}
effect:
  projection:
    add: {n: "1", balance: event.amount}
    set: {last: event.id, last_seq: event.seq, last_type: event.type}
EXTRA`

// extra is what the second deployment knows about bonuses, which the feed did not have before.
const extra = `    also:
      - entity: '"bonuses"'
        when: event.type == "bonus"
        add: {n: "1", amount: event.amount}
`

// lateDefinition is a stream that the second deployment adds.
const lateDefinition = `
start: beginning
source:
  url: ADDRESS/late
  allow_private: true
  events: body.events
  end: "!body.has_more"
  cursor: {token: body.next, send: "query:cursor"}
event: {id: event.id, position: event.seq, entity: none}
contract: {positions: unique, overlap: true}
effect:
  projection:
    set: {seq: event.seq}
`

// fill puts the feed's address into a definition.
func (f *feed) fill(definition, extra string) string {
	return strings.NewReplacer("ADDRESS", f.URL, "EXTRA", extra).Replace(definition)
}
