package aws

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// What the emulator lets pass and DynamoDB refuses, or bills, is looked at in the requests.

// seen makes a bench that keeps every request of one kind.
func seen[T any](t *testing.T) (*bench, *[]T) {
	t.Helper()
	b, all := rigged(t, 1), &[]T{}
	b.call = func(_ string, in any, next func(any) (any, error)) (any, error) {
		if in, ok := in.(T); ok {
			*all = append(*all, in)
		}
		return next(in)
	}
	return b, all
}

// A batch that names one key twice is refused by DynamoDB.
func TestBatchNamesNoKeyTwice(t *testing.T) {
	t.Parallel()
	b, asked := seen[*dynamodb.BatchGetItemInput](t)
	keys := []handoff.ReceiptKey{{EventID: "a"}, {EventID: "b"}, {EventID: "a"}, {EventID: "a", Conflict: "d"}, {EventID: "b"}}
	_, err := b.store.Receipts(t.Context(), stream, keys, false)
	b.done(err)
	n := 0
	for _, in := range *asked {
		for _, k := range in.RequestItems {
			n += len(k.Keys)
		}
	}
	if len(*asked) != 1 || n != 3 {
		t.Errorf("%d keys in %d batches, want 3 in 1", n, len(*asked))
	}
}

// impossible is a settlement whose effect can never be, since field n is a number and field t is not.
func impossible(id, token string) handoff.Settlement {
	s := settlement(id, token, "bad")
	s.Docs = append(s.Docs, handoff.DocChange{Entity: "bad", Add: map[string]string{"t": "not a number"}})
	return s
}

// A settlement that can never be brings nothing into the transaction of its neighbours: its document is not written.
func TestImpossibleEffectTakesNoPart(t *testing.T) {
	t.Parallel()
	b, sent := seen[*dynamodb.TransactWriteItemsInput](t)
	out := b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("a", "t1", "d"), impossible("b", "t2")})
	b.done(out[0].Err)
	var effect *handoff.EffectError
	if !errors.As(out[1].Err, &effect) {
		t.Errorf("got %v, want an EffectError", out[1].Err)
	}
	if len(*sent) != 1 || len((*sent)[0].TransactItems) != 2 {
		t.Errorf("%d transactions, the first of %d items; want 1 of 2", len(*sent), len((*sent)[0].TransactItems))
	}
}

// A receipt in the way comes first, whatever its effect: the engine then judges what stands, and holds nothing that is settled.
func TestRefusalOutranksImpossibleEffect(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	b.done(b.clean.Settle(t.Context(), stream, []handoff.Settlement{settlement("b", "other")})[0].Err)
	expects := impossible("none", "t4")
	expects.If = handoff.Guard{Rev: 3}
	for _, items := range [][]handoff.Settlement{{impossible("b", "t2")}, {impossible("b", "t2"), settlement("a", "t1", "d"), expects}} {
		out := b.store.Settle(t.Context(), stream, items)
		b.want(out[0].Err, handoff.ErrRefused)
		if out[0].Old == nil || out[0].Old.Token != "other" {
			t.Errorf("refused over %+v, want the receipt of another", out[0].Old)
		}
		if len(out) == 3 {
			b.want(out[2].Err, handoff.ErrRefused)
		}
	}
}

// An event that deletes a document takes its position with it, also when the next event is settled in the same transaction; within one
// event the document keeps it.
func TestDeletedDocumentLosesItsPosition(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	at, err := handoff.NumberPosition("7")
	b.done(err)
	first := settlement("first", "t1", "d")
	first.Docs[0].Position = at
	gone := settlement("gone", "t2", "other")
	gone.Docs = []handoff.DocChange{{Entity: "d", Delete: true}}
	replaced := settlement("replaced", "t4", "d")
	replaced.Docs = []handoff.DocChange{{Entity: "d", Delete: true}, replaced.Docs[0]}
	for _, step := range []struct {
		items []handoff.Settlement
		want  handoff.Position
	}{{[]handoff.Settlement{first}, at}, {[]handoff.Settlement{replaced}, at}, {[]handoff.Settlement{gone, settlement("again", "t3", "d")}, handoff.Position{}}} {
		for _, res := range b.store.Settle(t.Context(), stream, step.items) {
			b.done(res.Err)
		}
		d, err := b.clean.Doc(t.Context(), stream, "d")
		b.done(err)
		if !d.Position.Equal(step.want) {
			t.Errorf("after %s: position %s, want %s", step.items[0].Put.EventID, d.Position, step.want)
		}
	}
	b.adds("d", 1)
}

// Taking back a start that never was makes no item: it would lie there for ever.
func TestRemovedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	tables := cloud.Tables(t)
	client := cloud.DynamoDB()
	store := ddbstate.New(client, tables, ddbstate.Options{})
	if err := store.RemoveStart(t.Context(), stream, 4, 0, "never"); err != nil {
		t.Fatal(err)
	}
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &tables.Streams})
	if err != nil || out.Count != 0 {
		t.Errorf("%d items are left (%v), want none", out.Count, err)
	}
}
