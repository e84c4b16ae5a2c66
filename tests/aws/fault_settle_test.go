package aws

import (
	"errors"
	"fmt"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Several settlements share a transaction, and a document that all of them change is written once in it.
func TestSettlementsShareATransaction(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	var items []handoff.Settlement
	for i := range 49 { // 49 receipts, 49 documents, 1 total: 99 items
		items = append(items, settlement(fmt.Sprint("e", i), "t", fmt.Sprint("d", i), "total"))
	}
	for i, res := range b.store.Settle(t.Context(), stream, items) {
		if res.Err != nil {
			t.Fatalf("settlement %d: %v", i, res.Err)
		}
	}
	if n := b.count(b.calls, "TransactWriteItems"); n != 1 {
		t.Errorf("%d transactions, want 1", n)
	}
	if n := b.count(b.calls, "BatchGetItem"); n != 1 {
		t.Errorf("%d reads of documents, want 1", n)
	}
	b.adds("total", 49)
	items = items[:0]
	for i := range 51 { // 51 receipts, 51 documents: two transactions
		items = append(items, settlement(fmt.Sprint("f", i), "t", fmt.Sprint("d", i)))
	}
	for i, res := range b.store.Settle(t.Context(), stream, items) {
		if res.Err != nil {
			t.Fatalf("settlement %d: %v", i, res.Err)
		}
	}
	if n := b.count(b.calls, "TransactWriteItems"); n != 3 {
		t.Errorf("%d transactions, want 3", n)
	}
}

// One refused receipt cancels the transaction of its neighbours; they are settled by themselves, and it is refused over what stands.
func TestCancelledFallsBackToSingles(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	b.done(b.clean.Settle(t.Context(), stream, []handoff.Settlement{settlement("b", "other")})[0].Err)
	out := b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("a", "t1", "total"), settlement("b", "t2", "total"), settlement("c", "t3", "total")})
	b.done(out[0].Err)
	b.want(out[1].Err, handoff.ErrRefused)
	if out[1].Old == nil || out[1].Old.Token != "other" {
		t.Errorf("refused over %+v, want the receipt of another", out[1].Old)
	}
	b.done(out[2].Err)
	b.adds("total", 2)
	if n := b.count(b.calls, "TransactWriteItems"); n != 3 {
		t.Errorf("%d transactions, want one for all and two for the others", n)
	}
}

// A conflict of transactions is nobody's refusal: each settlement is tried again by itself.
func TestConflictFallsBackToSingles(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	// The first receipt's condition is said to have failed beside a conflict: that proves nothing.
	b.attempt = once("TransactWriteItems", cancelled("ConditionalCheckFailed", "None", "TransactionConflict"))
	for _, res := range b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("a", "t1", "total"), settlement("b", "t2", "total")}) {
		b.done(res.Err)
	}
	b.adds("total", 2)
	b.attempt = once("TransactWriteItems", cancelled("ConditionalCheckFailed", "TransactionConflict"))
	b.done(b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("c", "t3", "total")})[0].Err)
	b.adds("total", 3)
	if b.waits != 1 {
		t.Errorf("waited %d times, want once before the second try", b.waits)
	}
	b.attempt = always("TransactWriteItems", cancelled("None", "TransactionConflict"))
	b.want(b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("d", "t4", "total")})[0].Err, handoff.ErrUnknown)
	b.stands("d", "")
}

// Somebody writes the document between our read and our write: it is read again, and no addition is lost. If somebody always does,
// the answer is unknown and never a refusal of the receipt, whose own condition held.
func TestDocumentGuard(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	others := 0
	meddle := func(n int) func(string, func() error) error {
		return on("TransactWriteItems", func(k int, next func() error) error {
			if k <= n {
				others++
				b.done(b.clean.Settle(t.Context(), stream, []handoff.Settlement{settlement(fmt.Sprint("other", others), "o", "total")})[0].Err)
			}
			return next()
		})
	}
	b.attempt = meddle(3)
	b.done(b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("a", "t1", "total")})[0].Err)
	b.adds("total", 4)
	b.attempt = meddle(1 << 20)
	b.want(b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("b", "t2", "total")})[0].Err, handoff.ErrUnknown)
	b.stands("b", "")
	b.adds("total", others+1)
}

// A document that was deleted and made again between our read and our write counts from 1 again: only its token tells.
func TestDocumentMadeAgain(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	b.done(b.clean.Settle(t.Context(), stream, []handoff.Settlement{settlement("first", "t1", "d", "d")})[0].Err)
	b.attempt = on("TransactWriteItems", func(n int, next func() error) error {
		if n == 1 {
			gone := settlement("gone", "t2")
			gone.Docs = []handoff.DocChange{{Entity: "d", Delete: true}}
			b.done(b.clean.Settle(t.Context(), stream, []handoff.Settlement{gone})[0].Err)
			b.done(b.clean.Settle(t.Context(), stream, []handoff.Settlement{settlement("again", "t3", "d")})[0].Err)
		}
		return next()
	})
	b.done(b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("mine", "t4", "d")})[0].Err)
	b.adds("d", 2) // "again" and "mine"; the first two are gone
}

// What no transaction takes is too large, alone; its neighbours are settled.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	big := settlement("big", "t1")
	big.Docs = []handoff.DocChange{{Entity: "big", Set: map[string]rawJSON{"x": jsonText(400 << 10)}}}
	many := settlement("many", "t2")
	for i := range 100 {
		many.Docs = append(many.Docs, handoff.DocChange{Entity: fmt.Sprint("m", i), Add: map[string]string{"n": "1"}})
	}
	heavy := settlement("heavy", "t3")
	for i := range 12 {
		heavy.Docs = append(heavy.Docs, handoff.DocChange{Entity: fmt.Sprint("h", i), Set: map[string]rawJSON{"x": jsonText(380 << 10)}})
	}
	out := b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("a", "t", "total"), big, many, heavy, settlement("b", "t", "total")})
	for i, large := range []bool{false, true, true, true, false} {
		if large != errors.Is(out[i].Err, handoff.ErrTooLarge) || !large && out[i].Err != nil {
			t.Errorf("settlement %d: got %v, too large is %v", i, out[i].Err, large)
		}
	}
	b.adds("total", 2)
	for _, id := range []string{"big", "many", "heavy"} {
		b.stands(id, "")
	}
}

// Each fits by itself, and together they pass 4 MB: they are cut by bytes.
func TestCutByBytes(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	var items []handoff.Settlement
	for i := range 15 {
		s := settlement(fmt.Sprint("e", i), "t", "total")
		s.Docs = append(s.Docs, handoff.DocChange{Entity: fmt.Sprint("d", i), Set: map[string]rawJSON{"x": jsonText(300 << 10)}})
		items = append(items, s)
	}
	for i, res := range b.store.Settle(t.Context(), stream, items) {
		if res.Err != nil {
			t.Errorf("settlement %d: %v", i, res.Err)
		}
	}
	b.adds("total", 15)
	if n := b.count(b.calls, "TransactWriteItems"); n != 2 {
		t.Errorf("%d transactions, want 2", n)
	}
}
