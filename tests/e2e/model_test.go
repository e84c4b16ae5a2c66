package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// document is what a projection must hold, field by field as JSON.
type document map[string]string

// expected is the whole truth about the feed, computed from its events alone: no page, lane, chunk or receipt is known here.
type expected struct {
	documents map[string]document
	outcomes  map[handoff.Outcome]int
}

// model reads the events once, in order, and does what the definition says.
func model() expected {
	type ledger struct {
		n, balance int
		last       record
	}
	accounts, bonus := map[string]*ledger{}, ledger{}
	out := expected{documents: map[string]document{}, outcomes: map[handoff.Outcome]int{}}
	for k := 1; k <= total; k++ {
		r := recordOf(k)
		switch r.Type {
		case "ping":
			out.outcomes[handoff.Ignored]++
			continue
		case "test":
			out.outcomes[handoff.Quarantined]++
			continue
		}
		out.outcomes[handoff.Applied]++
		a := accounts[r.Account]
		if a == nil {
			a = &ledger{}
			accounts[r.Account] = a
		}
		a.n, a.balance, a.last = a.n+1, a.balance+r.Amount, r
		if r.Type == "bonus" {
			bonus.n, bonus.balance = bonus.n+1, bonus.balance+r.Amount
		}
	}
	out.outcomes[handoff.Ignored]++ // the second content of one id, as the operator decided
	for name, a := range accounts {
		out.documents[name] = document{
			"n": fmt.Sprint(a.n), "balance": fmt.Sprint(a.balance), "last": fmt.Sprintf("%q", a.last.ID), "last_seq": fmt.Sprint(a.last.Seq),
			"last_type": fmt.Sprintf("%q", a.last.Type),
		}
	}
	out.documents["bonuses"] = document{"n": fmt.Sprint(bonus.n), "amount": fmt.Sprint(bonus.balance)}
	return out
}

// text puts a document into one line, the same for the same document.
func (d document) text() string {
	var b strings.Builder
	for _, field := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&b, "%s=%s ", field, d[field])
	}
	return b.String()
}

// compare names every document that is not as the model says.
func (e expected) compare(t *testing.T, docs []handoff.Doc) {
	t.Helper()
	left := maps.Clone(e.documents)
	for _, d := range docs {
		got := document{}
		for field, value := range d.Fields {
			got[field] = string(value)
		}
		want, ok := left[d.Entity]
		delete(left, d.Entity)
		if !ok {
			t.Errorf("document %q is nobody's: %s", d.Entity, got.text())
		} else if got.text() != want.text() {
			t.Errorf("document %q holds %s, want %s", d.Entity, got.text(), want.text())
		}
	}
	for name := range left {
		t.Errorf("document %q is missing", name)
	}
}

// The feed is what the story needs: whole numbers of pages, each kind of event on both sides of the gate, the two-faced one in an overlap.
func TestFeedTellsTheStory(t *testing.T) {
	t.Parallel()
	if total%perPage != 0 || firstGate%perPage != 0 {
		t.Errorf("%d events, %d at the gate, %d on a page", total, firstGate, perPage)
	}
	if into := twoFaced % perPage; into <= perPage-overlap {
		t.Errorf("event %d is shown once", twoFaced)
	}
	e := model()
	if got := e.outcomes[handoff.Applied] + e.outcomes[handoff.Ignored] + e.outcomes[handoff.Quarantined]; got != total+1 {
		t.Errorf("%d outcomes for %d events and one conflict", got, total)
	}
	if recordOf(twoFaced).Type == "ping" || recordOf(heldEvent).Type != "refund" || len(e.documents) < 10 || e.documents["bonuses"]["n"] == "0" {
		t.Errorf("%+v", e)
	}
	for k := range 200 {
		if got, ok := place(token(k)); !ok || got != k {
			t.Errorf("token %d leads to %d", k, got)
		}
	}
	if _, ok := place("Zm9v"); ok {
		t.Error("a foreign token is taken")
	}
}
