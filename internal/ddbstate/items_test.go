package ddbstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

var noon = time.Date(2031, 3, 1, 12, 0, 0, 1, time.UTC)

func hash(s string) string { return handoff.DigestOf([]byte(s)) }

// Each update is billed by the item's whole size: a page with everything it can have, and all chunks done, stays under 1 KB, and so
// does a receipt with the names and hashes of a common definition.
func TestItemsStaySmall(t *testing.T) {
	t.Parallel()
	p := handoff.Page{
		Stream: "customer-events/eu-central", Version: 123456789, Token: strings.Repeat("t", 36), RequestCursorHash: hash("a")[:32], NextCursorHash: hash("b")[:32],
		Events: 2500, Replays: 100, Chunks: 100, Drives: 12, DrivenAt: noon, Abandoned: true, Lost: true, OpenedAt: noon, OldestAt: noon, EffectHash: hash("e"),
	}
	for k := range handoff.MaxChunks {
		p.ChunksDone = p.ChunksDone.With(k)
	}
	it, err := pageItem(pageKey(p.Stream, p.Version), p)
	if err != nil || sizeOf(it) >= 1024 {
		t.Errorf("a page of %d bytes (%v)", sizeOf(it), err)
	}
	pos, err := handoff.NumberPosition("123456789012")
	if err != nil {
		t.Fatal(err)
	}
	r := handoff.Receipt{
		ReceiptKey: handoff.ReceiptKey{EventID: `"evt_1PqR8sLkdIwHu7ixY3xT2mAB"`}, Stream: p.Stream, Outcome: handoff.Applied, Digest: hash("d"), Identity: hash("i"),
		Position: pos, Entity: `"cus_QhZk3J9fTq1LmN"`, By: "apply", Attempts: 1, Policy: hash("p"), Effect: hash("e"), PageVersion: p.Version, Chunk: 99, Index: 2499,
		Rev: 1, Token: p.Token, WrittenAt: noon, ExpiresAt: noon,
	}
	it, err = receiptItem(p.Stream, r)
	if err != nil || sizeOf(it) >= 1024 {
		t.Errorf("a receipt of %d bytes (%v)", sizeOf(it), err)
	}
}

// The index of holds is sparse, and TTL never drops a receipt before its time.
func TestReceiptAttributes(t *testing.T) {
	t.Parallel()
	r := handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: "e"}, Outcome: handoff.Held, HeldAt: noon, Rev: 7, ExpiresAt: noon}
	it, err := receiptItem("a#b", r)
	if err != nil {
		t.Fatal(err)
	}
	if s, at := textOf(it, "held_stream"), textOf(it, "held_at"); s != "a%23b" || at != "2031-03-01T12:00:00.000000001Z#e#" {
		t.Errorf("held under %q at %q", s, at)
	}
	if n, err := numberOf(it, "expires_at"); err != nil || n != uint64(noon.Unix())+1 {
		t.Errorf("expires at %d (%v), want the second after %d", n, err, noon.Unix())
	}
	r.Outcome, r.ExpiresAt = handoff.Released, time.Time{}
	if it, err = receiptItem("a#b", r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"held_stream", "held_at", "expires_at"} {
		if _, ok := it[name]; ok {
			t.Errorf("a released receipt that never expires has %s", name)
		}
	}
}

// An item of a format to come is an error, one without a format too.
func TestFormats(t *testing.T) {
	t.Parallel()
	it, err := encode(key{"p", "s"}, handoff.StreamEntry{Stream: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode[handoff.StreamEntry](it); err != nil || got.Stream != "a" {
		t.Errorf("got %+v, %v", got, err)
	}
	it["format"] = number(format + 1)
	if _, err := decode[handoff.StreamEntry](it); err == nil {
		t.Error("an item of a newer format is read")
	}
	delete(it, "format")
	if _, err := decode[handoff.StreamEntry](it); err == nil {
		t.Error("an item without a format is read")
	}
}

// By the rules of the service: names and values count; a number has a byte for two digits and one more.
func TestSizes(t *testing.T) {
	t.Parallel()
	it := item{
		"pk": text("éa"), "n": number(1234), "set": numberSet(1, 22, 333), "yes": flag(),
	}
	if got, want := sizeOf(it), (2+3)+(1+3)+(3+2+2+3)+(3+1); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	large := func(n int) write {
		return write{table: "t", key: key{"p", "s"}, item: item{"pk": text("p"), "sk": text("s"), "x": text(strings.Repeat("x", n-7))}}
	}
	if err := fits([]write{large(maxItem)}); err != nil {
		t.Errorf("400 KB: %v", err)
	}
	eleven := []write{}
	for range 11 {
		eleven = append(eleven, large(380<<10))
	}
	for name, ws := range map[string][]write{"item": {large(maxItem + 1)}, "transaction": eleven, "count": make([]write, 101)} {
		if err := fits(ws); !errors.Is(err, handoff.ErrTooLarge) {
			t.Errorf("%s: got %v, want too large", name, err)
		}
	}
}

// Every name of every expression stands behind #, and only the names that occur are sent.
func TestNames(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(named(startPrefix+"t1", atDoc, addStart))
	if want := `{"#format":"format","#rev":"rev","#start":"start:t1","#written_by":"written_by"}`; err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if named("", "") != nil || merged(nil, nil) != nil {
		t.Error("empty maps are sent, which are refused")
	}
	for _, e := range []string{
		absent, exists, atRev, atDoc, atDrives, addChunk, setDriven, touch + alsoAbandon + alsoLose + alsoExpire, addStart, removeStart,
		inPartition, between, under, heldBy, onlyPages, ofStream,
	} {
		bare := strings.NewReplacer("attribute_not_exists", "", "attribute_exists", "", "if_not_exists", "", "begins_with", "", "BETWEEN", "", "AND", "", "SET", "", "ADD", "", "REMOVE", "").Replace(e)
		for _, word := range strings.FieldsFunc(bare, func(r rune) bool { return strings.ContainsRune(" (),=", r) }) {
			if word[0] != '#' && word[0] != ':' {
				t.Errorf("%q names %q without #", e, word)
			}
		}
	}
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	defs := Definitions(Tables{"s", "r", "p"})
	for i, name := range []string{"s", "r", "p"} {
		if *defs[i].TableName != name || defs[i].BillingMode != types.BillingModePayPerRequest {
			t.Errorf("table %d is %s, %s", i, *defs[i].TableName, defs[i].BillingMode)
		}
	}
	if n := len(defs[1].GlobalSecondaryIndexes); n != 1 || len(defs[0].GlobalSecondaryIndexes)+len(defs[2].GlobalSecondaryIndexes) != 0 {
		t.Error("the index of holds lies elsewhere than on receipts")
	}
}

// What may be forgotten says when, rounded up to whole seconds, on the item itself; what must stay says nothing.
func TestExpiry(t *testing.T) {
	t.Parallel()
	at := noon
	s := New(nil, Tables{"s", "r", "p"}, Options{})
	tx := handoff.Tx{
		Stream: "a", PagePut: &handoff.Page{Version: 2, ExpiresAt: at}, Directory: &handoff.Directory{Version: 2},
		Audit: &handoff.AuditRecord{ID: "d", At: noon, ExpiresAt: at}, Decision: &handoff.DecisionRecord{ID: "d", ExpiresAt: at},
	}
	ws, err := s.parts(tx)
	if err != nil || len(ws) != 4 {
		t.Fatalf("%d writes, %v", len(ws), err)
	}
	for _, w := range ws {
		if n, err := numberOf(w.item, TTLAttribute); err != nil || n != uint64(noon.Unix())+1 {
			t.Errorf("%s expires at %d (%v)", w.key.sk, n, err)
		}
	}
	tx.PagePut.ExpiresAt, tx.Audit.ExpiresAt, tx.Decision.ExpiresAt = time.Time{}, time.Time{}, time.Time{}
	if ws, err = s.parts(tx); err != nil {
		t.Fatal(err)
	}
	for _, w := range ws {
		if _, ok := w.item[TTLAttribute]; ok {
			t.Errorf("%s expires", w.key.sk)
		}
	}
	ws, err = s.parts(handoff.Tx{Stream: "a", PageMark: &handoff.PageMark{Version: 2, ExpiresAt: at}})
	if err != nil || len(ws) != 2 || ws[0].key != pageKey("a", 2) || ws[1].key != directoryKey("a", 2) {
		t.Fatalf("%+v, %v: want the page and its directory", ws, err)
	}
	for _, w := range ws {
		if n, ok := w.update.values[":expires"].(*types.AttributeValueMemberN); !ok || n.Value != fmt.Sprint(noon.Unix()+1) || w.when.text != exists {
			t.Errorf("%+v", w)
		}
	}
}
