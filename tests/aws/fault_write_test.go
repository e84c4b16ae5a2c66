package aws

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

const stream handoff.Stream = "orders"

var noon = time.Date(2031, 3, 1, 12, 0, 0, 0, time.UTC)

func receipt(id, token string) handoff.Receipt {
	return handoff.Receipt{
		ReceiptKey: handoff.ReceiptKey{EventID: id}, Stream: stream, Outcome: handoff.Applied, Digest: "d", By: "apply", PageVersion: 1, Rev: 1,
		Token: token, WrittenAt: noon,
	}
}

// settlement is a first receipt that adds 1 to field n of each document.
func settlement(id, token string, docs ...string) handoff.Settlement {
	s := handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: handoff.Guard{Absent: true}, Put: receipt(id, token)}}
	for _, d := range docs {
		s.Docs = append(s.Docs, handoff.DocChange{Entity: d, Add: map[string]string{"n": "1"}})
	}
	return s
}

func opening(token string) handoff.Tx {
	cp := handoff.Checkpoint{Stream: stream, ResumeCursor: "c0", Version: 1, Rev: 1, Token: token, StartedAt: noon, UpdatedAt: noon}
	return handoff.Tx{
		Token: token, Stream: stream, Checkpoint: &handoff.CheckpointWrite{If: handoff.Guard{Absent: true}, Put: &cp},
		PagePut: &handoff.Page{Stream: stream, Version: 1, Token: token, Chunks: 1, OpenedAt: noon},
	}
}

func (b *bench) want(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("got %v, want %v", err, want)
	}
	for _, other := range []error{handoff.ErrRefused, handoff.ErrUnknown, handoff.ErrNotFound} {
		if !errors.Is(want, other) && errors.Is(err, other) {
			b.Fatalf("got %v, which is %v as well as %v", err, other, want)
		}
	}
}

func (b *bench) done(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("got %v, want done", err)
	}
}

// stands requires whose receipt stands, "" for none, as a client without faults sees it.
func (b *bench) stands(id, token string) {
	b.Helper()
	k := handoff.ReceiptKey{EventID: id}
	found, err := b.clean.Receipts(b.Context(), stream, []handoff.ReceiptKey{k}, false)
	b.done(err)
	if got := found[k].Token; got != token {
		b.Fatalf("receipt %s carries token %q, want %q", id, got, token)
	}
}

// adds requires how often document d was added to.
func (b *bench) adds(d string, want int) {
	b.Helper()
	doc, err := b.clean.Doc(b.Context(), stream, d)
	if want == 0 {
		b.want(err, handoff.ErrNotFound)
		return
	}
	b.done(err)
	if got := string(doc.Fields["n"]); got != fmt.Sprint(want) {
		b.Fatalf("document %s stands at %s, want %d", d, got, want)
	}
}

// No fault of the service is ever a refusal, whatever is written; nothing is written; and the same write is then done.
func TestFaultsAreUnknown(t *testing.T) {
	t.Parallel()
	for name, fault := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := rigged(t, 2)
			settle := func(s handoff.Settlement) func() error {
				return func() error { return b.store.Settle(b.Context(), stream, []handoff.Settlement{s})[0].Err }
			}
			spool := handoff.SpoolEntry{Stream: stream, Version: 2, RequestCursor: "c1", FetchedAt: noon}
			for _, w := range []struct {
				op    string
				write func() error
			}{
				{"TransactWriteItems", func() error { return b.store.Commit(b.Context(), opening("t1")) }},
				{"PutItem", settle(settlement("plain", "t2"))},
				{"TransactWriteItems", settle(settlement("with document", "t3", "a"))},
				{"UpdateItem", func() error { _, err := b.store.MarkChunk(b.Context(), stream, 1, 0); return err }},
				{"UpdateItem", func() error { return b.store.MarkDriven(b.Context(), stream, 1, 0, 1, noon) }},
				{"PutItem", func() error { return b.store.PutSpool(b.Context(), spool) }},
				{"BatchWriteItem", func() error { return b.store.DropSpool(b.Context(), stream, 2) }},
			} {
				b.attempt = always(w.op, fault)
				b.want(w.write(), handoff.ErrUnknown)
				b.attempt = nil
				b.done(w.write())
			}
			b.adds("a", 1)
		})
	}
}

// One throttled attempt is the SDK's to retry.
func TestOneThrottleIsRetried(t *testing.T) {
	t.Parallel()
	b := rigged(t, 3)
	b.attempt = once("TransactWriteItems", faults()["ProvisionedThroughputExceeded"])
	b.done(b.store.Commit(b.Context(), opening("t1")))
	b.attempt = once("PutItem", faults()["Throttling"])
	b.done(b.store.Settle(b.Context(), stream, []handoff.Settlement{settlement("e", "t2")})[0].Err)
	if n := b.count(b.attempts, "TransactWriteItems"); n != 2 {
		t.Errorf("%d attempts of the transaction, want 2", n)
	}
}

// A cancelled transaction is a refusal only if conditions failed and nothing else happened to it.
func TestCancellationReasons(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	for _, c := range []struct {
		codes []string
		want  error
	}{
		{[]string{"None", "ConditionalCheckFailed"}, handoff.ErrRefused},
		{[]string{"ConditionalCheckFailed", "None"}, handoff.ErrRefused},
		{[]string{"ConditionalCheckFailed", "TransactionConflict"}, handoff.ErrUnknown},
		{[]string{"TransactionConflict", "None"}, handoff.ErrUnknown},
		{[]string{"None", "ThrottlingError"}, handoff.ErrUnknown},
		{[]string{"ConditionalCheckFailed", "ProvisionedThroughputExceeded"}, handoff.ErrUnknown},
		{[]string{"None", "ItemCollectionSizeLimitExceeded"}, handoff.ErrUnknown},
		{[]string{"None", "ValidationError"}, handoff.ErrUnknown},
		{[]string{"None", "None"}, handoff.ErrUnknown},
		{nil, handoff.ErrUnknown},
	} {
		b.attempt = always("TransactWriteItems", cancelled(c.codes...))
		b.want(b.store.Commit(b.Context(), opening("t1")), c.want)
	}
	b.attempt = nil
	b.done(b.store.Commit(b.Context(), opening("t1")))
	b.want(b.store.Commit(b.Context(), opening("t2")), handoff.ErrRefused)
}

// The write happened and its answer was lost. Without a retry nobody knows; a put that the SDK tries again is refused by its own
// success, and says whose that is; a transaction that it tries again is recognised by its request token.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	once, twice := rigged(t, 1), rigged(t, 2)
	promote := func(b *bench, token string) error {
		cp := *opening(token).Checkpoint.Put
		cp.Version, cp.Rev = 2, 2
		return b.store.Commit(b.Context(), handoff.Tx{Token: token, Stream: stream, Checkpoint: &handoff.CheckpointWrite{If: handoff.Guard{Rev: 1}, Put: &cp}})
	}
	for _, b := range []*bench{once, twice} {
		b.attempt = lost("TransactWriteItems")
	}
	once.want(once.store.Commit(t.Context(), opening("t1")), handoff.ErrUnknown)
	twice.done(twice.store.Commit(t.Context(), opening("t1")))
	if got := twice.tokens; len(got) != 2 || got[0] != got[1] || got[0] == "" || len(got[0]) > 36 {
		t.Errorf("request tokens of one call: %q, want one of 1 to 36 characters, kept", got)
	}
	for _, b := range []*bench{once, twice} {
		b.attempt = lost("PutItem")
	}
	once.want(promote(once, "t2"), handoff.ErrUnknown)
	twice.want(promote(twice, "t2"), handoff.ErrRefused)
	for _, b := range []*bench{once, twice} {
		cp, err := b.clean.Checkpoint(t.Context(), stream)
		b.done(err)
		if cp.Token != "t2" {
			t.Errorf("the checkpoint carries token %q, want t2", cp.Token)
		}
		b.attempt = lost("PutItem")
	}
	item := []handoff.Settlement{settlement("e", "t3")}
	once.want(once.store.Settle(t.Context(), stream, item)[0].Err, handoff.ErrUnknown)
	once.stands("e", "t3")
	echo := twice.store.Settle(t.Context(), stream, item)[0]
	twice.want(echo.Err, handoff.ErrRefused)
	if echo.Old == nil || echo.Old.Token != "t3" {
		t.Errorf("the echo comes with %+v, want our own receipt", echo.Old)
	}
	for _, b := range []*bench{once, twice} {
		b.attempt = lost("TransactWriteItems")
	}
	item = []handoff.Settlement{settlement("f", "t4", "a")}
	once.want(once.store.Settle(t.Context(), stream, item)[0].Err, handoff.ErrUnknown)
	twice.done(twice.store.Settle(t.Context(), stream, item)[0].Err)
	for _, b := range []*bench{once, twice} {
		b.stands("f", "t4")
		b.adds("a", 1)
	}
	again := once.store.Settle(t.Context(), stream, item)[0] // as the engine does after an unknown answer
	once.want(again.Err, handoff.ErrRefused)
	if again.Old == nil || again.Old.Token != "t4" {
		t.Errorf("the second try comes with %+v, want our own receipt", again.Old)
	}
	once.adds("a", 1)
	if slices.Equal(once.tokens[:1], once.tokens[1:2]) {
		t.Error("two calls carry one request token")
	}
}
