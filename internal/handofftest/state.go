package handofftest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// unknownTries bounds how often a write with an unknown outcome is made again.
const unknownTries = 200

// testCase is one promise.
type testCase struct {
	name string
	run  func(*rig)
}

// ExerciseState checks every promise of handoff.State. open is called once per subtest and may give handles on one shared backend, as
// long as no earlier run used it: names are made from t.Name().
func ExerciseState(t *testing.T, open func(t *testing.T) handoff.State) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"Checkpoint", checkpointCases()},
		{"Commit", commitCases()},
		{"Atomic", atomicCases()},
		{"Page", pageCases()},
		{"Start", startCases()},
		{"Spool", spoolCases()},
		{"Settle", settleCases()},
		{"Document", documentCases()},
		{"Held", heldCases()},
		{"List", listCases()},
		{"RoundTrip", roundTripCases()},
		{"Isolation", isolationCases()},
		{"Race", raceCases()},
		{"Cancelled", cancelCases()},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(&rig{t, t.Context(), open(t), handoff.Stream(t.Name())})
				})
			}
		})
	}
}

// rig is one subtest's store and the stream that is its own.
type rig struct {
	*testing.T
	ctx    context.Context
	state  handoff.State
	stream handoff.Stream
}

// at is second n of the story. Nanoseconds must survive.
func at(n int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC).Add(time.Duration(n) * time.Second)
}

func (r *rig) done(err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("got %v, want done", err)
	}
}

func (r *rig) is(err, want error) {
	r.Helper()
	if !errors.Is(err, want) {
		r.Fatalf("got %v, want %v", err, want)
	}
}

// refused: and nothing else: an error that is unknown too would be tried again by one caller and given up by another.
func (r *rig) refused(err error) {
	r.Helper()
	r.is(err, handoff.ErrRefused)
	if errors.Is(err, handoff.ErrUnknown) {
		r.Fatalf("got %v: refused, and unknown as well", err)
	}
}

func (r *rig) notFound(err error) { r.Helper(); r.is(err, handoff.ErrNotFound) }

// commit makes tx, again while its outcome is unknown.
func (r *rig) commit(tx handoff.Tx) error {
	tx.Stream = r.stream
	var err error
	for range unknownTries {
		if err = r.state.Commit(r.ctx, tx); !errors.Is(err, handoff.ErrUnknown) {
			break
		}
	}
	return err
}

// settle makes one settlement, again while its outcome is unknown.
func (r *rig) settle(items ...handoff.Settlement) []handoff.SettleResult {
	r.Helper()
	out := r.state.Settle(r.ctx, r.stream, items)
	if len(out) != len(items) {
		r.Fatalf("%d results for %d settlements", len(out), len(items))
	}
	for range unknownTries {
		i := slices.IndexFunc(out, func(s handoff.SettleResult) bool { return errors.Is(s.Err, handoff.ErrUnknown) })
		if i < 0 {
			break
		}
		out[i] = r.state.Settle(r.ctx, r.stream, items[i:i+1])[0]
	}
	return out
}

func (r *rig) settled(items ...handoff.Settlement) {
	r.Helper()
	for _, res := range r.settle(items...) {
		r.done(res.Err)
	}
}

// receipt reads one receipt; ok is false if it does not exist.
func (r *rig) receipt(k handoff.ReceiptKey) (handoff.Receipt, bool) {
	r.Helper()
	found, err := r.state.Receipts(r.ctx, r.stream, []handoff.ReceiptKey{k}, false)
	r.done(err)
	got, ok := found[k]
	return got, ok
}

// key is an event's own receipt key.
func key(id string) handoff.ReceiptKey { return handoff.ReceiptKey{EventID: id} }

// absent and rev are the two guards.
func absent() handoff.Guard          { return handoff.Guard{Absent: true} }
func atRev(rev uint64) handoff.Guard { return handoff.Guard{Rev: rev} }

func (r *rig) start() handoff.Checkpoint {
	r.Helper()
	cp := handoff.Checkpoint{Stream: r.stream, ResumeCursor: "c0", Version: 1, Rev: 1, Token: "t-start", StartedAt: at(0), UpdatedAt: at(0)}
	r.done(r.commit(handoff.Tx{Token: cp.Token, Checkpoint: &handoff.CheckpointWrite{If: absent(), Put: &cp}}))
	return cp
}

// page is a plain page of this stream.
func (r *rig) page(v handoff.Version) handoff.Page {
	return handoff.Page{Stream: r.stream, Version: v, Token: "t-page", RequestCursorHash: "h1", NextCursorHash: "h2", Events: 250, Chunks: 100, OpenedAt: at(int(v))}
}

func (r *rig) open(v handoff.Version) handoff.Page {
	r.Helper()
	p := r.page(v)
	r.done(r.commit(handoff.Tx{Token: p.Token, PagePut: &p}))
	return p
}

func (r *rig) readPage(v handoff.Version) handoff.Page {
	r.Helper()
	p, err := r.state.Page(r.ctx, r.stream, v)
	r.done(err)
	return p
}

// receiptOf is a plain applied receipt of this stream.
func (r *rig) receiptOf(k handoff.ReceiptKey, rev uint64) handoff.Receipt {
	return handoff.Receipt{ReceiptKey: k, Stream: r.stream, Outcome: handoff.Applied, Digest: "d", By: "apply", PageVersion: 1, Rev: rev, Token: "t-receipt", WrittenAt: at(1)}
}

// item settles an event that has no receipt.
func (r *rig) item(id string, docs ...handoff.DocChange) handoff.Settlement {
	return handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: absent(), Put: r.receiptOf(key(id), 1)}, Docs: docs}
}
