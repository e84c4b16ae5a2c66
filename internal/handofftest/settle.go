package handofftest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func settleCases() []testCase {
	return []testCase{
		{"None", func(r *rig) { r.same("results", len(r.settle()), 0) }},
		{"Mixture", mixture},
		{"ReceiptGuards", settleReceiptGuards},
		{"SameReceiptTwiceInOneCall", sameReceiptTwice},
		{"SameDocumentTwiceInOneCall", sameDocumentTwice},
		{"RefusedLeavesDocument", refusedLeavesDocument},
		{"EffectErrorLeavesAll", effectErrorLeavesAll},
		{"EffectErrorLeavesNoTrace", effectErrorLeavesNoTrace},
		{"ManyInOneCall", func(r *rig) {
			var items []handoff.Settlement
			for i := range 120 {
				items = append(items, r.item(fmt.Sprintf("%04d", i), handoff.DocChange{Entity: "all", Add: map[string]string{"n": "1"}}))
			}
			r.settled(items...)
			r.fields("all", `{"n":120}`)
		}},
		{"ReceiptsGivesThoseThatExist", receiptsThatExist},
	}
}

// count is an effect that shows how often it happened.
func count(entity string) handoff.DocChange {
	return handoff.DocChange{Entity: entity, Add: map[string]string{"n": "1"}}
}

// fields compares a document's fields as compact JSON with sorted names; "" is no document.
func (r *rig) fields(entity, want string) {
	r.Helper()
	d, err := r.state.Doc(r.ctx, r.stream, entity)
	if want == "" {
		r.notFound(err)
		return
	}
	r.done(err)
	got, err := json.Marshal(d.Fields)
	r.done(err)
	r.same("fields of "+entity, string(got), want)
}

// mixture: the results stand in the order of the items, and each item stands or falls by itself.
func mixture(r *rig) {
	r.settled(r.item("stands", count("s")))
	bad := handoff.DocChange{Entity: "bad", Add: map[string]string{"n": "1", "t": "not a number"}}
	expectsOne := r.item("none", count("x"))
	expectsOne.If, expectsOne.Put.Rev = atRev(3), 4
	items := []handoff.Settlement{
		r.item("a", count("a")), r.item("stands", count("s")), r.item("b", count("b")), expectsOne,
		r.item("poison", bad), r.item("c", count("c")),
	}
	out := r.settle(items...)
	for _, i := range []int{0, 2, 5} {
		r.done(out[i].Err)
	}
	r.refused(out[1].Err)
	r.refused(out[3].Err)
	if old := out[1].Old; old == nil {
		r.Error("the refusal over a receipt comes without it")
	} else {
		r.same("the receipt in the way", *old, r.receiptOf(key("stands"), 1))
	}
	if out[3].Old != nil {
		r.Errorf("a refusal over nothing comes with receipt %s", text(out[3].Old))
	}
	var effect *handoff.EffectError
	if !errors.As(out[4].Err, &effect) || effect.Entity != "bad" {
		r.Errorf("got %v, want an EffectError on bad", out[4].Err)
	}
	for entity, want := range map[string]string{"a": `{"n":1}`, "b": `{"n":1}`, "c": `{"n":1}`, "s": `{"n":1}`, "x": "", "bad": ""} {
		r.fields(entity, want)
	}
	for id, want := range map[string]bool{"a": true, "b": true, "c": true, "stands": true, "none": false, "poison": false} {
		_, ok := r.receipt(key(id))
		r.same("receipt of "+id, ok, want)
	}
}

func settleReceiptGuards(r *rig) {
	write := func(g handoff.Guard, rev uint64) handoff.SettleResult {
		return r.settle(handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: g, Put: r.receiptOf(key("e"), rev)}})[0]
	}
	r.refused(write(atRev(0), 1).Err)
	r.refused(write(atRev(1), 2).Err)
	if _, ok := r.receipt(key("e")); ok {
		r.Fatal("a refused write made a receipt")
	}
	r.done(write(absent(), 1).Err)
	for _, g := range []handoff.Guard{absent(), atRev(0), atRev(2)} {
		res := write(g, 9)
		r.refused(res.Err)
		if res.Old == nil || res.Old.Rev != 1 {
			r.Fatalf("guard %+v: the refusal comes with %s, want rev 1", g, text(res.Old))
		}
	}
	r.done(write(atRev(1), 2).Err)
	got, _ := r.receipt(key("e"))
	r.same("the receipt after", got, r.receiptOf(key("e"), 2))
}

// sameReceiptTwice: the second is judged against the first.
func sameReceiptTwice(r *rig) {
	next := r.item("e", count("d"))
	next.If, next.Put.Rev = atRev(1), 2
	out := r.settle(r.item("e", count("d")), r.item("e", count("d")), next)
	r.done(out[0].Err)
	r.refused(out[1].Err)
	if out[1].Old == nil || out[1].Old.Rev != 1 {
		r.Errorf("the second is refused over %s, want the first", text(out[1].Old))
	}
	r.done(out[2].Err)
	r.fields("d", `{"n":2}`)
	got, _ := r.receipt(key("e"))
	r.same("rev", got.Rev, uint64(2))
}

// sameDocumentTwice: both effects happen, in the order of the items.
func sameDocumentTwice(r *rig) {
	set := func(v string) handoff.DocChange {
		return handoff.DocChange{Entity: "d", Set: map[string]json.RawMessage{"last": json.RawMessage(v)}, Add: map[string]string{"n": "1"}}
	}
	r.settled(r.item("1", set("1")), r.item("2", set("2")), r.item("3", handoff.DocChange{Entity: "d", Delete: true}), r.item("4", set("4")), r.item("5", set("5")))
	r.fields("d", `{"last":5,"n":2}`)
}

func refusedLeavesDocument(r *rig) {
	r.settled(r.item("e", count("d")))
	stale := r.item("e", count("d"), handoff.DocChange{Entity: "new", Set: map[string]json.RawMessage{"x": json.RawMessage("1")}})
	before := r.snapshot()
	r.refused(r.settle(stale)[0].Err)
	stale.If = atRev(5)
	r.refused(r.settle(stale)[0].Err)
	stale.Docs = []handoff.DocChange{{Entity: "d", Delete: true}}
	r.refused(r.settle(stale)[0].Err)
	r.same("what is stored after refusals", r.snapshot(), before)
}

// effectErrorLeavesAll: an effect that cannot be leaves the receipt and every other document of its event as they were.
func effectErrorLeavesAll(r *rig) {
	r.settled(r.item("e", handoff.DocChange{Entity: "d", Set: map[string]json.RawMessage{"text": json.RawMessage(`"x"`), "n": json.RawMessage("1")}}))
	before := r.snapshot()
	for _, bad := range []handoff.DocChange{
		{Entity: "d", Add: map[string]string{"text": "1"}},
		{Entity: "d", Add: map[string]string{"n": "one"}},
		{Entity: "d", Add: map[string]string{"n": "+1"}}, // JSON has no such number
		{Entity: "d", Set: map[string]json.RawMessage{"n": json.RawMessage(`{`)}},
		{Entity: "d", Set: map[string]json.RawMessage{"n": json.RawMessage(`[]`)}, Add: map[string]string{"n": "1"}},
	} {
		for _, it := range []handoff.Settlement{r.item("fresh", count("a"), bad, count("z")), r.item("e", count("a"), bad)} {
			if it.Put.EventID == "e" {
				it.If, it.Put.Rev = atRev(1), 2
			}
			var effect *handoff.EffectError
			if err := r.settle(it)[0].Err; !errors.As(err, &effect) {
				r.Errorf("got %v, want an EffectError", err)
			}
			r.same("what is stored after an effect that cannot be", r.snapshot(), before)
		}
	}
}

// effectErrorLeavesNoTrace: what an impossible effect would have changed before it failed is not in the documents that others of its call
// write.
func effectErrorLeavesNoTrace(r *rig) {
	bad := handoff.DocChange{Entity: "bad", Add: map[string]string{"n": "one"}}
	out := r.settle(r.item("1", count("d")), r.item("2", count("d"), count("only"), bad), r.item("3", count("d")))
	r.done(out[0].Err)
	r.done(out[2].Err)
	var effect *handoff.EffectError
	if !errors.As(out[1].Err, &effect) {
		r.Errorf("got %v, want an EffectError", out[1].Err)
	}
	r.fields("d", `{"n":2}`)
	r.fields("only", "")
}

func receiptsThatExist(r *rig) {
	var keys []handoff.ReceiptKey
	want := map[handoff.ReceiptKey]handoff.Receipt{}
	for i := range 230 { // more than one batch of any store
		k := key(fmt.Sprint("e", i))
		keys = append(keys, k)
		if i%3 == 0 {
			want[k] = r.receiptOf(k, 1)
			r.settled(handoff.Settlement{ReceiptWrite: handoff.ReceiptWrite{If: absent(), Put: want[k]}})
		}
	}
	conflict := handoff.ReceiptKey{EventID: "e0", Conflict: "d2"}
	keys = append(keys, conflict, keys[0], keys[1]) // and some twice
	got, err := r.state.Receipts(r.ctx, r.stream, keys, false)
	r.done(err)
	r.same("receipts", got, want)
	for _, proof := range []bool{false, true} {
		got, err := r.state.Receipts(r.ctx, r.stream, nil, proof)
		r.done(err)
		r.same("receipts of no keys", len(got), 0)
	}
	// With proof a miss proves nothing, but what is found must be what stands.
	got, err = r.state.Receipts(r.ctx, r.stream, keys, true)
	r.done(err)
	for k, rec := range got {
		r.same("a receipt found as proof", rec, want[k])
	}
}
