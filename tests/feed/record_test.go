package feed

import (
	"context"
	"encoding/json"
	"math/big"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"

	"github.com/turnleaf/turnleaf/tests/feed/pouch"
)

// record is what a run left: read from the store and the archive once no process works on them.
type record struct {
	pages, drivenAgain int
	seen               map[string]bool // ids of the events on the raw pages that were promoted
	receipts           map[string]handoff.Receipt
	docs               map[string]map[string]any
	ledger             map[string]any
}

func readRecord(t *testing.T, data string) record {
	t.Helper()
	ctx := t.Context()
	state, err := sqlitestate.Open(ctx, filepath.Join(data, "state.db"), sqlitestate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	archive, err := dirarchive.Open(filepath.Join(data, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	r := record{seen: map[string]bool{}, receipts: map[string]handoff.Receipt{}, docs: map[string]map[string]any{}}
	r.readPages(ctx, t, state, archive)
	r.readReceipts(ctx, t, state)
	r.readDocs(ctx, t, state)
	return r
}

// readPages goes over the promoted pages, verifies the raw body of each, and notes what the feed showed on it. Raw objects that
// no promoted page names are answers of polls that died, and prove nothing.
func (r *record) readPages(ctx context.Context, t *testing.T, state handoff.State, archive handoff.Archive) {
	t.Helper()
	checkpoint, err := state.Checkpoint(ctx, stream)
	if err != nil {
		t.Fatal(err)
	}
	for after := handoff.Version(0); ; {
		pages, err := state.ListPages(ctx, stream, after, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(pages) == 0 {
			break
		}
		for _, p := range pages {
			if p.Version != after+1 {
				t.Errorf("page %d follows page %d", p.Version, after)
			}
			after = p.Version
			if p.Version >= checkpoint.Version || p.Abandoned || !p.Settled() {
				t.Errorf("page %d was not promoted: the checkpoint is at %d", p.Version, checkpoint.Version)
				continue
			}
			if p.Drives > 1 {
				r.drivenAgain++
			}
			directory, err := state.Directory(ctx, stream, p.Version)
			if err != nil {
				t.Fatal(err)
			}
			r.readRaw(ctx, t, archive, directory.Raw)
			r.pages++
		}
	}
	if r.pages == 0 {
		t.Error("no page was promoted")
	}
}

// readRaw follows a page's reference to the answer's metadata and from there to its body, and checks both digests.
func (r *record) readRaw(ctx context.Context, t *testing.T, archive handoff.Archive, ref handoff.ObjectRef) {
	t.Helper()
	var meta struct {
		Body handoff.ObjectRef `json:"body"`
	}
	pouch.Decode(t, object(ctx, t, archive, ref), &meta)
	var body struct {
		Results []struct {
			ID      string `json:"id"`
			Changes []struct {
				Rev string `json:"rev"`
			} `json:"changes"`
		} `json:"results"`
	}
	pouch.Decode(t, object(ctx, t, archive, meta.Body), &body)
	for _, e := range body.Results {
		id, err := json.Marshal([]string{e.ID, e.Changes[0].Rev})
		if err != nil {
			t.Fatal(err)
		}
		r.seen[string(id)] = true
	}
}

func object(ctx context.Context, t *testing.T, archive handoff.Archive, ref handoff.ObjectRef) []byte {
	t.Helper()
	b, err := archive.Get(ctx, ref.Key)
	if err != nil {
		t.Fatalf("the archive lacks %s: %v", ref.Key, err)
	}
	if got := handoff.DigestOf(b); got != ref.Digest {
		t.Fatalf("%s has the digest %s", ref.Key, got)
	}
	return b
}

func (r *record) readReceipts(ctx context.Context, t *testing.T, state handoff.State) {
	t.Helper()
	for after := ""; ; {
		receipts, next, err := state.ListReceipts(ctx, stream, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range receipts {
			if one.Outcome != handoff.Applied || one.Conflict != "" {
				t.Errorf("receipt %s is %s %s", one.EventID, one.Outcome, one.Reason)
			}
			if _, twice := r.receipts[one.EventID]; twice {
				t.Errorf("two receipts of %s", one.EventID)
			}
			r.receipts[one.EventID] = one
		}
		if next == "" {
			return
		}
		after = next
	}
}

func (r *record) readDocs(ctx context.Context, t *testing.T, state handoff.State) {
	t.Helper()
	for after := ""; ; {
		docs, next, err := state.ListDocs(ctx, stream, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			fields := map[string]any{}
			for name, raw := range d.Fields {
				var value any
				pouch.Decode(t, raw, &value)
				fields[name] = value
			}
			if d.Entity == "ledger" {
				r.ledger = fields
			} else {
				r.docs[d.Entity] = fields
			}
		}
		if next == "" {
			return
		}
		after = next
	}
}

// oneReceiptEach: the receipts are those of the (id, revision) pairs that the feed showed, no more and no less.
func (r record) oneReceiptEach(t *testing.T) {
	t.Helper()
	lost, invented := 0, 0
	for id := range r.seen {
		if _, ok := r.receipts[id]; !ok {
			lost++
		}
	}
	for id := range r.receipts {
		if !r.seen[id] {
			invented++
		}
	}
	if lost+invented > 0 || len(r.seen) == 0 {
		t.Errorf("%d events seen, %d of them without a receipt, %d receipts of events not seen", len(r.seen), lost, invented)
	}
}

// projectionEquals compares with the server's own documents.
func (r record) projectionEquals(t *testing.T, want map[string]map[string]any) {
	t.Helper()
	if len(want) == 0 || len(r.docs) != len(want) {
		t.Errorf("%d documents, the server has %d", len(r.docs), len(want))
	}
	wrong := 0
	for id := range want {
		if !reflect.DeepEqual(r.docs[id], want[id]) {
			if wrong++; wrong <= 5 {
				t.Errorf("document %s is %v, the server's is %v", id, r.docs[id], want[id])
			}
		}
	}
	if wrong > 5 {
		t.Errorf("%d documents differ", wrong)
	}
}

// ledgerEquals compares with what the writer knows: an entry that was applied twice, or never, shows here alone.
func (r record) ledgerEquals(t *testing.T, know truth) {
	t.Helper()
	if !isNumber(r.ledger["entries"], big.NewRat(int64(know.entries), 1)) || !isNumber(r.ledger["total"], big.NewRat(int64(know.cents), 100)) {
		t.Errorf("the ledger is %v, the truth %d entries and %d cents", r.ledger, know.entries, know.cents)
	}
}

func isNumber(have any, want *big.Rat) bool {
	n, ok := have.(json.Number)
	if !ok {
		return false
	}
	r, ok := new(big.Rat).SetString(n.String())
	return ok && r.Cmp(want) == 0
}
