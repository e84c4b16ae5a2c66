package ddbstate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// However settlements are mixed: every one is in exactly one group, in order; no group has a receipt twice, or more items than a
// transaction takes.
func TestGroups(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var items []handoff.Settlement
		for range r.IntN(250) {
			it := handoff.Settlement{}
			it.Put.EventID = fmt.Sprint(r.IntN(400))
			for range r.IntN(5) {
				it.Docs = append(it.Docs, handoff.DocChange{Entity: fmt.Sprint(r.IntN(60))})
			}
			items = append(items, it)
		}
		var all []int
		for _, run := range runs(items) {
			seen := map[string]bool{}
			for _, i := range run {
				if seen[items[i].Put.EventID] {
					t.Fatalf("a run writes receipt %s twice", items[i].Put.EventID)
				}
				seen[items[i].Put.EventID] = true
				if len(items[i].Docs) == 0 {
					all = append(all, i)
				}
			}
			for _, group := range groups(items, run) {
				docs := map[string]bool{}
				for _, i := range group {
					for _, c := range items[i].Docs {
						docs[c.Entity] = true
					}
				}
				if n := len(group) + len(docs); n > maxTransaction {
					t.Fatalf("a transaction of %d items", n)
				}
				if !slices.IsSorted(group) {
					t.Fatalf("group %v is out of order", group)
				}
				all = append(all, group...)
			}
		}
		slices.Sort(all)
		for i := range items {
			if i >= len(all) || all[i] != i {
				t.Fatalf("settlement %d is not settled exactly once", i)
			}
		}
		if len(all) != len(items) {
			t.Fatalf("%d settled of %d", len(all), len(items))
		}
	}
}

// No two parts of a transaction write one item: DynamoDB refuses such a request. Parts that can never hold together are refused.
func TestPartsNeverMeet(t *testing.T) {
	t.Parallel()
	s := New(nil, Tables{"streams", "receipts", "projections"}, Options{})
	page := func(v handoff.Version) *handoff.Page { return &handoff.Page{Version: v} }
	for name, c := range map[string]struct {
		tx    handoff.Tx
		parts int
		err   error
	}{
		"put says absent":     {handoff.Tx{PagePut: page(3), PageAbsent: 3}, 1, nil},
		"two pages":           {handoff.Tx{PagePut: page(3), PageAbsent: 4, PageMark: &handoff.PageMark{Version: 2}}, 3, nil},
		"marked and absent":   {handoff.Tx{PageAbsent: 3, PageMark: &handoff.PageMark{Version: 3}}, 0, handoff.ErrRefused},
		"marked and put":      {handoff.Tx{PagePut: page(3), PageMark: &handoff.PageMark{Version: 3}}, 0, handoff.ErrRefused},
		"nothing":             {handoff.Tx{}, 0, nil},
		"page and directory":  {handoff.Tx{PagePut: page(3), Directory: &handoff.Directory{Version: 3}}, 2, nil},
		"entry and decisions": {handoff.Tx{Entry: &handoff.StreamEntry{Stream: "a"}, Audit: &handoff.AuditRecord{ID: "d"}, Decision: &handoff.DecisionRecord{ID: "d"}}, 3, nil},
	} {
		c.tx.Stream = "a"
		ws, err := s.parts(c.tx)
		if !errors.Is(err, c.err) || c.err == nil && len(ws) != c.parts {
			t.Errorf("%s: %d parts and %v, want %d and %v", name, len(ws), err, c.parts, c.err)
		}
		seen := map[key]bool{}
		for _, w := range ws {
			if err == nil && seen[w.key] {
				t.Errorf("%s: %v is written twice", name, w.key)
			}
			seen[w.key] = true
		}
	}
	var invalid *handoff.InvalidError
	if _, err := s.parts(handoff.Tx{PagePut: page(maxVersion + 1)}); !errors.As(err, &invalid) {
		t.Errorf("a version of 13 digits: got %v", err)
	}
}
