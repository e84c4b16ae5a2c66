package handofftest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// limits are page sizes that do and do not divide the lists.
func limits() []int { return []int{1, 2, 3, 7, 100} }

// walk collects a listing page by page. A page may be shorter than the limit, never longer; the end is the empty mark.
func walk[T any](r *rig, limit int, list func(after string, limit int) ([]T, string, error)) (all []T) {
	r.Helper()
	after := ""
	for range 1000 {
		page, next, err := list(after, limit)
		r.done(err)
		if len(page) > limit {
			r.Fatalf("%d listed, the limit is %d", len(page), limit)
		}
		all = append(all, page...)
		if next == "" {
			return all
		}
		after = next
	}
	r.Fatal("the listing does not end")
	return nil
}

func heldCases() []testCase {
	return []testCase{
		{"OrderAndPaging", heldOrder},
		{"LeavesWhenDecided", heldLeaves},
		{"NoneIsTheEnd", func(r *rig) {
			r.settled(r.item("applied"))
			rs, next, err := r.state.HeldReceipts(r.ctx, r.stream, "", 10)
			r.done(err)
			r.same("held", len(rs), 0)
			r.same("next", next, "")
		}},
	}
}

// heldOf is a receipt in the index of holds.
func (r *rig) heldOf(k handoff.ReceiptKey, o handoff.Outcome, second int) handoff.Receipt {
	rec := r.receiptOf(k, 1)
	rec.Outcome, rec.Reason, rec.HeldAt = o, handoff.HoldPolicy, at(second)
	return rec
}

func (r *rig) put(recs ...handoff.Receipt) {
	r.Helper()
	for _, rec := range recs {
		r.settled(handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: absent(), Put: rec}})
	}
}

// heldOrder: by the time held, then by key, across both outcomes and conflicts; no other outcome is listed, whatever its times say.
func heldOrder(r *rig) {
	conflict := handoff.ReceiptKey{EventID: "b", Conflict: "d2"}
	want := []handoff.Receipt{
		r.heldOf(key("z"), handoff.Held, 1), r.heldOf(key("a"), handoff.Superseded, 2), r.heldOf(key("b"), handoff.Held, 2),
		r.heldOf(conflict, handoff.Held, 2), r.heldOf(key("c"), handoff.Held, 2), r.heldOf(key("A"), handoff.Superseded, 10), r.heldOf(key("m"), handoff.Held, 100),
	}
	for _, i := range []int{4, 2, 6, 0, 3, 5, 1} {
		r.put(want[i])
	}
	for _, o := range []handoff.Outcome{handoff.Applied, handoff.Ignored, handoff.Quarantined, handoff.Retrying, handoff.Claimed, handoff.Released} {
		r.put(r.heldOf(key("n-"+string(o)), o, 3))
	}
	for _, limit := range limits() {
		got := walk(r, limit, func(after string, limit int) ([]handoff.Receipt, string, error) {
			return r.state.HeldReceipts(r.ctx, r.stream, after, limit)
		})
		r.same(fmt.Sprintf("held, %d at a time", limit), got, want)
	}
}

// heldLeaves: on every way that a receipt is written, the index follows; and a receipt that is held again comes back.
func heldLeaves(r *rig) {
	list := func(want ...string) {
		r.Helper()
		rs, _, err := r.state.HeldReceipts(r.ctx, r.stream, "", 10)
		r.done(err)
		var got []string
		for _, rec := range rs {
			got = append(got, rec.EventID)
		}
		r.same("held", got, want)
	}
	r.put(r.heldOf(key("a"), handoff.Held, 1), r.heldOf(key("b"), handoff.Held, 2), r.heldOf(key("c"), handoff.Superseded, 3))
	list("a", "b", "c")
	decided := r.receiptOf(key("a"), 2)
	r.done(r.commit(handoff.Tx{Token: "t", Receipt: &handoff.ReceiptWrite{If: atRev(1), Put: decided}}))
	list("b", "c")
	released := r.heldOf(key("b"), handoff.Released, 2) // its time stays, it is listed no more
	released.Rev = 2
	r.settled(handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: atRev(1), Put: released}})
	list("c")
	again := r.heldOf(key("b"), handoff.Held, 9)
	again.Rev = 3
	r.done(r.commit(handoff.Tx{Token: "t", Receipt: &handoff.ReceiptWrite{If: atRev(2), Put: again}}))
	list("c", "b")
}

func listCases() []testCase {
	return []testCase{
		{"Receipts", listReceipts},
		{"Documents", listDocuments},
		{"Pages", listPages},
		{"Audits", listAudits},
		{"Streams", listStreams},
		{"MarkOfNoListing", markOfNoListing},
	}
}

// stable requires each item once, and one order whatever the page size.
func stable[T any](r *rig, what string, limit int, first *[]T, got, want []T, name func(T) string) {
	r.Helper()
	if *first == nil {
		*first = got
	}
	r.same(fmt.Sprintf("order of %s, %d at a time", what, limit), got, *first)
	sorted := slices.SortedFunc(slices.Values(got), func(a, b T) int { return strings.Compare(name(a), name(b)) })
	r.same(fmt.Sprintf("%s, %d at a time", what, limit), sorted, want)
}

func listReceipts(r *rig) {
	var want, first []handoff.Receipt
	for i := range 12 {
		want = append(want, r.receiptOf(key(fmt.Sprintf("e%02d", i)), 1))
	}
	conflict := r.heldOf(handoff.ReceiptKey{EventID: "e05", Conflict: "d2"}, handoff.Held, 1)
	want = slices.Insert(want, 6, conflict)
	r.put(want[7:]...)
	r.put(want[:7]...)
	for _, limit := range limits() {
		got := walk(r, limit, func(after string, limit int) ([]handoff.Receipt, string, error) {
			return r.state.ListReceipts(r.ctx, r.stream, after, limit)
		})
		stable(r, "receipts", limit, &first, got, want, func(rec handoff.Receipt) string { return rec.EventID + "\x00" + rec.Conflict })
	}
}

func listDocuments(r *rig) {
	var want, first []handoff.Doc
	for _, i := range []int{5, 2, 9, 0, 7, 3, 11, 1, 10, 4, 8, 6} {
		r.settled(r.item(fmt.Sprint("e", i), count(fmt.Sprintf("d%02d", i))))
	}
	for i := range 12 {
		d, err := r.state.Doc(r.ctx, r.stream, fmt.Sprintf("d%02d", i))
		r.done(err)
		want = append(want, d)
	}
	for _, limit := range limits() {
		got := walk(r, limit, func(after string, limit int) ([]handoff.Doc, string, error) {
			return r.state.ListDocs(r.ctx, r.stream, after, limit)
		})
		stable(r, "documents", limit, &first, got, want, func(d handoff.Doc) string { return d.Entity })
	}
}

// listPages: in order of number, not of digits; only those above the mark.
func listPages(r *rig) {
	versions := []handoff.Version{1, 2, 9, 10, 11, 99, 100, 1000, 99999999999}
	var want []handoff.Page
	for _, i := range []int{3, 8, 0, 6, 4, 1, 7, 2, 5} {
		r.open(versions[i])
	}
	for _, v := range versions {
		want = append(want, r.page(v))
	}
	for i := range len(want) {
		for _, limit := range limits() {
			got, err := r.state.ListPages(r.ctx, r.stream, versions[i]-1, limit)
			r.done(err)
			r.same("pages", got, want[i:min(len(want), i+limit)])
		}
	}
	got, err := r.state.ListPages(r.ctx, r.stream, versions[8], 10)
	r.done(err)
	r.same("pages after the last", len(got), 0)
}

// listAudits: oldest first, whatever the order of writing, and by id within one instant.
func listAudits(r *rig) {
	var want []handoff.AuditRecord
	for i := range 12 {
		want = append(want, handoff.AuditRecord{ID: fmt.Sprintf("d%02d", 11-i), At: at(i / 2 * 5), Stream: r.stream, Actor: "ada"})
	}
	for i := 0; i < len(want); i += 2 { // two of each instant, lower id first
		want[i], want[i+1] = want[i+1], want[i]
	}
	for _, i := range []int{7, 2, 11, 0, 5, 9, 1, 10, 3, 8, 4, 6} {
		r.done(r.commit(handoff.Tx{Token: "t", Audit: &want[i]}))
	}
	for _, limit := range limits() {
		got := walk(r, limit, func(after string, limit int) ([]handoff.AuditRecord, string, error) {
			return r.state.Audits(r.ctx, r.stream, after, limit)
		})
		r.same(fmt.Sprintf("audits, %d at a time", limit), got, want)
	}
}

// listStreams: every one of them, retired ones included, in order of name.
func listStreams(r *rig) {
	var want []handoff.StreamEntry
	for _, name := range []handoff.Stream{"", "/a", "/a/b", "/b", "B", "a", "b"} {
		want = append(want, handoff.StreamEntry{Stream: r.stream + name, Definition: "d", StartedAt: at(1)})
	}
	want[2].RetiredAt = at(2)
	for _, i := range []int{4, 2, 6, 0, 3, 5, 1} {
		one := r.on(want[i].Stream)
		r.done(one.commit(handoff.Tx{Token: "t", Entry: &want[i]}))
	}
	r.same("streams", r.entries(), want)
}

// on is the same store seen from another stream.
func (r *rig) on(s handoff.Stream) *rig { return &rig{r.T, r.ctx, r.state, s} }

// sub runs a subtest on a stream of its own.
func (r *rig) sub(name string, run func(*rig)) {
	r.Run(name, func(t *testing.T) { run(&rig{t, t.Context(), r.state, handoff.Stream(t.Name())}) })
}

// markOfNoListing: a mark comes out of a request, so it may be anything; one that no listing gave is the caller's fault.
func markOfNoListing(r *rig) {
	r.put(r.heldOf(key("e"), handoff.Held, 1))
	for name, list := range map[string]func(after string) error{
		"holds":     func(after string) error { _, _, err := r.state.HeldReceipts(r.ctx, r.stream, after, 1); return err },
		"receipts":  func(after string) error { _, _, err := r.state.ListReceipts(r.ctx, r.stream, after, 1); return err },
		"documents": func(after string) error { _, _, err := r.state.ListDocs(r.ctx, r.stream, after, 1); return err },
		"audits":    func(after string) error { _, _, err := r.state.Audits(r.ctx, r.stream, after, 1); return err },
	} {
		for _, mark := range []string{"x", `{`, `[1]`} {
			var invalid *handoff.InvalidError
			if err := list(mark); !errors.As(err, &invalid) {
				r.Errorf("%s behind the mark %q: got %v, want an InvalidError", name, mark, err)
			}
		}
	}
}
