package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

type rawJSON = json.RawMessage

// jsonText is a JSON text of about n bytes.
func jsonText(n int) rawJSON { return rawJSON(`"` + strings.Repeat("x", n) + `"`) }

// A fault of a read is an error: never "not found", never an empty answer.
func TestFaultsOfReads(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	b.done(b.store.Commit(t.Context(), opening("t1")))
	b.done(b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("e", "t2", "d")})[0].Err)
	ctx := t.Context()
	for _, r := range []struct {
		op   string
		read func() error
	}{
		{"GetItem", func() error { _, err := b.store.Checkpoint(ctx, stream); return err }},
		{"GetItem", func() error { _, err := b.store.Page(ctx, stream, 1); return err }},
		{"GetItem", func() error { _, err := b.store.Doc(ctx, stream, "d"); return err }},
		{"BatchGetItem", func() error {
			_, err := b.store.Receipts(ctx, stream, []handoff.ReceiptKey{{EventID: "e"}}, false)
			return err
		}},
		{"Query", func() error { _, err := b.store.ListPages(ctx, stream, 0, 10); return err }},
		{"Query", func() error { _, _, err := b.store.HeldReceipts(ctx, stream, "", 10); return err }},
		{"Query", func() error { _, err := b.store.Spool(ctx, stream, 1); return err }},
		{"Query", func() error { _, err := b.store.Streams(ctx); return err }},
		{"Scan", func() error { _, _, err := b.store.ListReceipts(ctx, stream, "", 10); return err }},
	} {
		for name, fault := range faults() {
			b.attempt = always(r.op, fault)
			if err := r.read(); err == nil || errors.Is(err, handoff.ErrNotFound) || errors.Is(err, handoff.ErrRefused) {
				t.Errorf("%s under %s: got %v", r.op, name, err)
			}
		}
		b.attempt = nil
		b.done(r.read())
	}
}

// shed answers a batch read for its first keys only, and hands the others back.
func shed(in *dynamodb.BatchGetItemInput, next func(any) (any, error), keep int) (any, error) {
	some, back := *in, map[string]types.KeysAndAttributes{}
	some.RequestItems = map[string]types.KeysAndAttributes{}
	for table, k := range in.RequestItems {
		n := min(keep, len(k.Keys))
		front, rest := k, k
		front.Keys, rest.Keys = k.Keys[:n], k.Keys[n:]
		some.RequestItems[table] = front
		if len(rest.Keys) > 0 {
			back[table] = rest
		}
	}
	if keep == 0 {
		return &dynamodb.BatchGetItemOutput{UnprocessedKeys: back}, nil
	}
	out, err := next(&some)
	if err == nil {
		out.(*dynamodb.BatchGetItemOutput).UnprocessedKeys = back
	}
	return out, err
}

// Keys that come back unprocessed are asked for again; those that stay so are an error, never receipts that are missing.
func TestUnprocessedKeys(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	var items []handoff.Settlement
	var keys []handoff.ReceiptKey
	for i := range 120 {
		items = append(items, settlement(fmt.Sprint("e", i), "t"))
		keys = append(keys, items[i].Put.ReceiptKey)
	}
	for _, res := range b.clean.Settle(t.Context(), stream, items) {
		b.done(res.Err)
	}
	b.call = func(op string, in any, next func(any) (any, error)) (any, error) {
		if get, ok := in.(*dynamodb.BatchGetItemInput); ok {
			return shed(get, next, 40)
		}
		return next(in)
	}
	for _, proof := range []bool{false, true} {
		found, err := b.store.Receipts(t.Context(), stream, keys, proof)
		b.done(err)
		if len(found) != len(keys) {
			t.Errorf("%d of %d receipts are found", len(found), len(keys))
		}
	}
	if b.waits != 4 {
		t.Errorf("waited %d times, want before each further try: 4", b.waits)
	}
	b.call = func(op string, in any, next func(any) (any, error)) (any, error) {
		if get, ok := in.(*dynamodb.BatchGetItemInput); ok {
			return shed(get, next, 0)
		}
		return next(in)
	}
	if found, err := b.store.Receipts(t.Context(), stream, keys, true); err == nil || found != nil {
		t.Errorf("got %d receipts and %v, want an error", len(found), err)
	}
	// The documents of an event are read like that too: without them nothing is written.
	b.want(b.store.Settle(t.Context(), stream, []handoff.Settlement{settlement("new", "t", "d")})[0].Err, handoff.ErrUnknown)
	b.stands("new", "")
}

// Deletions that come back unprocessed are asked for again; those that stay so are no success.
func TestUnprocessedItems(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	fill := func() {
		for n := range 30 {
			b.done(b.clean.PutSpool(t.Context(), handoff.SpoolEntry{Stream: stream, Version: 2, N: n, RequestCursor: "c", FetchedAt: noon}))
		}
	}
	left := func(want int) {
		t.Helper()
		entries, err := b.clean.Spool(t.Context(), stream, 2)
		b.done(err)
		if len(entries) != want {
			t.Errorf("%d entries are left, want %d", len(entries), want)
		}
	}
	dropping := func(keep int) {
		b.call = func(op string, in any, next func(any) (any, error)) (any, error) {
			w, ok := in.(*dynamodb.BatchWriteItemInput)
			if !ok {
				return next(in)
			}
			some, back := *w, map[string][]types.WriteRequest{}
			some.RequestItems = map[string][]types.WriteRequest{}
			for table, all := range w.RequestItems {
				n := min(keep, len(all))
				some.RequestItems[table] = all[:n]
				if n < len(all) {
					back[table] = all[n:]
				}
			}
			if keep == 0 {
				return &dynamodb.BatchWriteItemOutput{UnprocessedItems: back}, nil
			}
			out, err := next(&some)
			if err == nil {
				out.(*dynamodb.BatchWriteItemOutput).UnprocessedItems = back
			}
			return out, err
		}
	}
	fill()
	dropping(10)
	b.done(b.store.DropSpool(t.Context(), stream, 2))
	left(0)
	fill()
	dropping(0)
	b.want(b.store.DropSpool(t.Context(), stream, 2), handoff.ErrUnknown)
	left(30)
}

// An answer may end long before the limit, at 1 MB or at what a filter left out: only a missing last key is the end.
func TestShortPages(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	ctx := t.Context()
	for v := handoff.Version(1); v <= 5; v++ {
		b.done(b.clean.Commit(ctx, handoff.Tx{
			Token: "t", Stream: stream, PagePut: &handoff.Page{Stream: stream, Version: v, OpenedAt: noon}, Directory: &handoff.Directory{Stream: stream, Version: v},
			Entry: &handoff.StreamEntry{Stream: handoff.Stream(fmt.Sprint("s", v))}, Audit: &handoff.AuditRecord{ID: fmt.Sprint("a", v), At: noon},
		}))
		b.done(b.clean.PutSpool(ctx, handoff.SpoolEntry{Stream: stream, Version: 9, N: int(v)}))
		held := settlement(fmt.Sprint("e", v), "t", fmt.Sprint("d", v))
		held.Put.Outcome, held.Put.HeldAt = handoff.Held, noon
		b.done(b.clean.Settle(ctx, stream, []handoff.Settlement{held})[0].Err)
		other := settlement(fmt.Sprint("e", v), "t", "d")
		b.done(b.clean.Settle(ctx, "orders2", []handoff.Settlement{other})[0].Err)
	}
	b.call = func(op string, in any, next func(any) (any, error)) (any, error) {
		switch in := in.(type) {
		case *dynamodb.QueryInput:
			one := *in
			one.Limit = aws.Int32(1)
			return next(&one)
		case *dynamodb.ScanInput:
			one := *in
			one.Limit = aws.Int32(1)
			return next(&one)
		}
		return next(in)
	}
	pages, err := b.store.ListPages(ctx, stream, 0, 10)
	b.five("pages", len(pages), "", err)
	entries, err := b.store.Streams(ctx)
	b.five("streams", len(entries), "", err)
	spool, err := b.store.Spool(ctx, stream, 9)
	b.five("spool", len(spool), "", err)
	audits, next, err := b.store.Audits(ctx, stream, "", 10)
	b.five("audits", len(audits), next, err)
	held, next, err := b.store.HeldReceipts(ctx, stream, "", 10)
	b.five("held", len(held), next, err)
	all, next, err := b.store.ListReceipts(ctx, stream, "", 10)
	b.five("receipts", len(all), next, err)
	docs, next, err := b.store.ListDocs(ctx, stream, "", 10)
	b.five("documents", len(docs), next, err)
	pages, err = b.store.ListPages(ctx, stream, 1, 2)
	b.done(err)
	if len(pages) != 2 || pages[0].Version != 2 || pages[1].Version != 3 {
		t.Errorf("two pages after 1 are %+v", pages)
	}
}

func (b *bench) five(what string, n int, next string, err error) {
	b.Helper()
	b.done(err)
	if n != 5 || next != "" {
		b.Errorf("%d %s and mark %q, want all 5 and the end", n, what, next)
	}
}

// A place that no listing of this stream gave is refused, before anything is asked.
func TestForeignMarks(t *testing.T) {
	t.Parallel()
	b := rigged(t, 1)
	for _, mark := range []string{"x", "[]", `["orders2#e","RECEIPT"]`, `["orders#e"]`} {
		_, _, err1 := b.store.HeldReceipts(t.Context(), stream, mark, 1)
		_, _, err2 := b.store.ListReceipts(t.Context(), stream, mark, 1)
		_, _, err3 := b.store.ListDocs(t.Context(), stream, mark, 1)
		_, _, err4 := b.store.Audits(t.Context(), stream, mark, 1)
		for _, err := range []error{err1, err2, err3, err4} {
			var invalid *handoff.InvalidError
			if !errors.As(err, &invalid) {
				t.Errorf("mark %s: got %v, want it refused", mark, err)
			}
		}
	}
	if len(b.calls) > 0 {
		t.Errorf("the store was asked: %v", b.calls)
	}
}
