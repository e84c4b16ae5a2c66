package handofftest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func isolationCases() []testCase {
	return []testCase{
		{"Receipts", isolatedReceipts},
		{"Documents", isolatedDocuments},
		{"Streams", isolatedStreams},
		{"Records", isolatedRecords},
	}
}

// name is a stream (as a suffix of the subtest's) and something in it.
type name struct {
	stream handoff.Stream
	id     string
}

// names are pairs that meet if keys are joined, cut, folded or escaped carelessly.
func names() []name {
	long := strings.Repeat("x", 3000)
	var out []name
	for _, sep := range []string{"#", "/", "%", "%23", "|", "\x00", ":", "\x1f", "#RECEIPT#"} {
		out = append(out, name{handoff.Stream("a"), "b" + sep + "c"}, name{handoff.Stream("a" + sep + "b"), "c"}, name{handoff.Stream("a" + sep), sep + "b"})
	}
	for _, id := range []string{
		`"1"`, `1`, `1.0`, `01`, "A", "a", "a ", " a", "é", "e\u0301", "x", "x\x00", "x\x00y", "\x00", `"`, `'`, `\`, `\\`, `it''s`, "%2F", "%252F", "🂡", "🂢",
		"null", "true", long + "1", long + "2", long, "漢" + long, "CHECKPOINT", "_", "%", "a_", "a%",
	} {
		out = append(out, name{"s", id})
	}
	return out
}

func isolatedReceipts(r *rig) {
	want := map[name]handoff.Receipt{}
	for i, n := range names() {
		one := r.on(r.stream + n.stream)
		rec := one.receiptOf(key(n.id), 1)
		rec.Detail = fmt.Sprint("receipt ", i)
		want[n] = rec
		one.put(rec)
	}
	for n, rec := range want {
		got, ok := r.on(r.stream + n.stream).receipt(key(n.id))
		if !ok {
			r.Errorf("stream %.20q has no receipt of %.20q", n.stream, n.id)
			continue
		}
		r.same("receipt", got, rec)
	}
	// A conflict's digest is a part of the key too.
	keys := []handoff.ReceiptKey{
		{EventID: "e"}, {EventID: "e", Conflict: "d"}, {EventID: "e#d"}, {EventID: "e#CONFLICT#d"}, {EventID: "e#", Conflict: "d"}, {EventID: "e", Conflict: "#d"},
	}
	for _, k := range keys {
		r.put(r.receiptOf(k, 1))
	}
	got, err := r.state.Receipts(r.ctx, r.stream, keys, false)
	r.done(err)
	for _, k := range keys {
		r.same("receipt beside conflicts", got[k], r.receiptOf(k, 1))
	}
}

func isolatedDocuments(r *rig) {
	all := append(names(), name{"s", ""}) // a feed without entities may project into the entity ""
	for i, n := range all {
		set := map[string]json.RawMessage{"n": json.RawMessage(fmt.Sprint(i))}
		r.on(r.stream + n.stream).settled(r.on(r.stream+n.stream).item(fmt.Sprint("e", i), handoff.DocChange{Entity: n.id, Set: set}))
	}
	for i, n := range all {
		one := r.on(r.stream + n.stream)
		d, err := one.state.Doc(r.ctx, one.stream, n.id)
		r.done(err)
		want := handoff.Doc{Stream: one.stream, Entity: n.id, Fields: map[string]json.RawMessage{"n": json.RawMessage(fmt.Sprint(i))}}
		r.same("document", d, want)
	}
	// Listings see their own stream, all of it, at every page size.
	for _, limit := range limits() {
		seen := map[string]int{}
		for _, d := range walk(r, limit, func(after string, limit int) ([]handoff.Doc, string, error) {
			return r.state.ListDocs(r.ctx, r.stream+"s", after, limit)
		}) {
			seen[d.Entity]++
		}
		for _, n := range all {
			if n.stream == "s" && seen[n.id] != 1 {
				r.Errorf("document %.20q is listed %d times, %d at a time", n.id, seen[n.id], limit)
			}
			if n.stream == "s" {
				delete(seen, n.id)
			}
		}
		r.same("documents of other streams", len(seen), 0)
	}
}

// isolatedStreams: whatever is done on one stream, those whose names begin or end alike keep what they have.
func isolatedStreams(r *rig) {
	var before []stored
	var rigs []*rig
	for _, suffix := range []handoff.Stream{"", "a", "a#", "a/b", "a%2Fb", "a#PAGE#000000000001", "A", "a ", "a\x00"} {
		one := r.on(r.stream + "-" + suffix)
		one.scene()
		one.done(one.state.PutSpool(r.ctx, sampleSpool(one.stream, 2)))
		one.settled(one.item("x", count("d")))
		rigs = append(rigs, one)
	}
	for _, one := range rigs {
		before = append(before, one.ownSnapshot())
	}
	for i, one := range rigs {
		one.done(one.commit(one.all()))
		one.settled(one.item("y", count("d")))
		one.done(one.state.DropSpool(r.ctx, one.stream, 2))
		_, err := one.state.MarkChunk(r.ctx, one.stream, 1, 5)
		one.done(err)
		for j, other := range rigs {
			if j > i {
				other.same(fmt.Sprintf("stream %q after writes on %q", other.stream, one.stream), other.ownSnapshot(), before[j])
			}
		}
	}
}

// ownSnapshot leaves out the entries of streams that only begin alike.
func (r *rig) ownSnapshot() stored {
	r.Helper()
	s := r.snapshot()
	for _, e := range s.Entries {
		if e.Stream == r.stream {
			s.Entries = []handoff.StreamEntry{e}
			return s
		}
	}
	r.Errorf("stream %q is not listed", r.stream)
	return s
}

func isolatedRecords(r *rig) {
	all := names()
	for i, n := range all {
		one := r.on(r.stream + n.stream)
		r.done(one.commit(handoff.Tx{
			Token:    "t",
			Decision: &handoff.DecisionRecord{ID: n.id, Stream: one.stream, RequestHash: fmt.Sprint(i), At: at(i)},
			Audit:    &handoff.AuditRecord{ID: n.id, Stream: one.stream, Reason: fmt.Sprint(i), At: at(1)},
		}))
	}
	for i, n := range all {
		one := r.on(r.stream + n.stream)
		d, err := one.state.Decision(r.ctx, one.stream, n.id)
		r.done(err)
		r.same("decision", d, handoff.DecisionRecord{ID: n.id, Stream: one.stream, RequestHash: fmt.Sprint(i), At: at(i)})
	}
	perStream := map[handoff.Stream]int{}
	for _, n := range all {
		perStream[n.stream]++
	}
	for s, want := range perStream {
		got := walk(r, 5, func(after string, limit int) ([]handoff.AuditRecord, string, error) {
			return r.state.Audits(r.ctx, r.stream+s, after, limit)
		})
		r.same(fmt.Sprintf("audits of %q", s), len(got), want)
	}
}
