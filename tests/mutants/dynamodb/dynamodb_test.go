// Package dynamodb holds what only the mutants of internal/ddbstate asked for and no emulator shows: what its requests ask for, and what
// it makes of answers that are rare.
package dynamodb

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// table is empty, and notes how strongly it is read. get and transact answer in its place, where they are set.
type table struct {
	ddbstate.API // calls that no test makes
	strong       map[string]bool
	get          error
	transact     error
	transactions int
}

func (f *table) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	f.strong["item of "+*in.TableName] = aws.ToBool(in.ConsistentRead)
	return &dynamodb.GetItemOutput{}, f.get
}

func (f *table) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for name, keys := range in.RequestItems {
		f.strong["batch of "+name] = aws.ToBool(keys.ConsistentRead)
	}
	return &dynamodb.BatchGetItemOutput{}, nil
}

func (f *table) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	f.strong["query of "+*in.TableName+aws.ToString(in.IndexName)] = aws.ToBool(in.ConsistentRead)
	return &dynamodb.QueryOutput{}, nil
}

func (f *table) Scan(_ context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	f.strong["scan of "+*in.TableName] = aws.ToBool(in.ConsistentRead)
	return &dynamodb.ScanOutput{}, nil
}

func (f *table) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	f.transactions++
	return &dynamodb.TransactWriteItemsOutput{}, f.transact
}

func open() (*table, *ddbstate.Store) {
	f := &table{strong: map[string]bool{}}
	wait := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return f, ddbstate.New(f, ddbstate.Tables{Streams: "S", Receipts: "R", Projections: "P"}, ddbstate.Options{Wait: wait})
}

func settlement(id string, docs ...handoff.DocChange) handoff.Settlement {
	put := handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: id}, Stream: "s", Outcome: handoff.Applied, Rev: 1, Token: "t-" + id}
	return handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: handoff.Guard{Absent: true}, Put: put}, Docs: docs}
}

func add(literal string) handoff.DocChange {
	return handoff.DocChange{Entity: "d", Add: map[string]string{"n": literal}}
}

// Every read is strongly consistent, the replay look-up and the index of holds alone excepted. No emulator tells the difference.
func TestReadsAreStrong(t *testing.T) {
	t.Parallel()
	keys := []handoff.ReceiptKey{{EventID: "e"}}
	for name, c := range map[string]struct {
		read   func(s *ddbstate.Store)
		asked  string
		strong bool
	}{
		"checkpoint":     {func(s *ddbstate.Store) { _, _ = s.Checkpoint(t.Context(), "s") }, "item of S", true},
		"page":           {func(s *ddbstate.Store) { _, _ = s.Page(t.Context(), "s", 1) }, "item of S", true},
		"document":       {func(s *ddbstate.Store) { _, _ = s.Doc(t.Context(), "s", "d") }, "item of P", true},
		"receipts":       {func(s *ddbstate.Store) { _, _ = s.Receipts(t.Context(), "s", keys, false) }, "batch of R", true},
		"replay look-up": {func(s *ddbstate.Store) { _, _ = s.Receipts(t.Context(), "s", keys, true) }, "batch of R", false},
		"to be changed": {func(s *ddbstate.Store) { s.Settle(t.Context(), "s", []handoff.Settlement{settlement("e", add("1"))}) },
			"batch of P", true},
		"pages":    {func(s *ddbstate.Store) { _, _ = s.ListPages(t.Context(), "s", 0, 1) }, "query of S", true},
		"spool":    {func(s *ddbstate.Store) { _, _ = s.Spool(t.Context(), "s", 1) }, "query of S", true},
		"audits":   {func(s *ddbstate.Store) { _, _, _ = s.Audits(t.Context(), "s", "", 1) }, "query of S", true},
		"streams":  {func(s *ddbstate.Store) { _, _ = s.Streams(t.Context()) }, "query of S", true},
		"holds":    {func(s *ddbstate.Store) { _, _, _ = s.HeldReceipts(t.Context(), "s", "", 1) }, "query of R" + ddbstate.IndexHolds, false},
		"ledger":   {func(s *ddbstate.Store) { _, _, _ = s.ListReceipts(t.Context(), "s", "", 1) }, "scan of R", true},
		"all docs": {func(s *ddbstate.Store) { _, _, _ = s.ListDocs(t.Context(), "s", "", 1) }, "scan of P", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := open()
			c.read(s)
			if strong, ok := f.strong[c.asked]; !ok || strong != c.strong {
				t.Errorf("asked for %v, want %s with consistency %v", f.strong, c.asked, c.strong)
			}
		})
	}
}

// An effect can never be, and whether its receipt is in the way cannot be read: that is unknown, and refuses nothing.
func TestImpossibleAndUnread(t *testing.T) {
	t.Parallel()
	f, s := open()
	f.get = errors.New("throttled")
	err := s.Settle(t.Context(), "s", []handoff.Settlement{settlement("e", add("one"))})[0].Err
	if !errors.Is(err, handoff.ErrUnknown) || errors.Is(err, handoff.ErrRefused) {
		t.Errorf("got %v, want unknown", err)
	}
}

// A transaction that was cancelled for a reason without a code, or for one that does not pass, is no refusal.
func TestOddCancellations(t *testing.T) {
	t.Parallel()
	reason := func(codes ...string) error {
		e := &types.TransactionCanceledException{}
		for _, c := range codes {
			r := types.CancellationReason{}
			if c != "" {
				r.Code = aws.String(c)
			}
			e.CancellationReasons = append(e.CancellationReasons, r)
		}
		return e
	}
	for name, c := range map[string]struct {
		err     error
		refused bool // else unknown
	}{
		"blames nothing":                     {reason("", ""), false},
		"a condition beside no code":         {reason("ConditionalCheckFailed", ""), true},
		"a condition beside a throttle":      {reason("ConditionalCheckFailed", "ThrottlingError"), false},
		"the document's condition, for ever": {reason("", "ConditionalCheckFailed"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := open()
			f.transact = c.err
			err := s.Settle(t.Context(), "s", []handoff.Settlement{settlement("e", add("1"))})[0].Err
			if errors.Is(err, handoff.ErrRefused) != c.refused || errors.Is(err, handoff.ErrUnknown) == c.refused {
				t.Errorf("got %v, want refused %v and else unknown", err, c.refused)
			}
		})
	}
}

// What will not pass by itself is not asked again.
func TestWhatDoesNotPassIsAskedOnce(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{"ValidationError": 1, "ItemCollectionSizeLimitExceeded": 1, "TransactionConflict": 8} {
		f, s := open()
		f.transact = &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String(code)}, {}}}
		err := s.Settle(t.Context(), "s", []handoff.Settlement{settlement("e", add("1"))})[0].Err
		if !errors.Is(err, handoff.ErrUnknown) || f.transactions != want {
			t.Errorf("%s: %d transactions, want %d; %v", code, f.transactions, want, err)
		}
	}
}
