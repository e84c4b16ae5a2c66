package feed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/tests/feed/pouch"
)

// batchSize is how many documents one _bulk_docs writes.
const batchSize = 100

// write is one document of a batch: a new one, a change, a deletion, or one that comes back after its deletion.
type write struct {
	id     string
	fields map[string]any // nil deletes
	again  bool           // the document exists, so its revision must be sent
}

// truth is what the writer knows, and no feed shows: each entry of the ledger was inserted once.
type truth struct {
	entries, cents    int
	inserts, changes  int
	deletes, returned int
}

// plan lays all batches out beforehand, from the seed alone: what the server answers and when changes nothing.
func plan(rng *rand.Rand, docs int) ([][]write, truth) {
	p := planner{rng: rng, docs: docs}
	var batches [][]write
	for p.know.inserts < docs {
		batches = append(batches, p.batch())
	}
	return batches, p.know
}

// planner knows which documents may be touched: those of earlier batches, each at most once a batch.
type planner struct {
	rng     *rand.Rand
	docs    int
	know    truth
	live    []string // may be changed or deleted
	deleted []string
}

func (p *planner) batch() []write {
	var out []write
	var live, deleted []string // touchable from the next batch on
	for len(out) < batchSize && p.know.inserts < p.docs {
		switch dice := p.rng.IntN(100); {
		case dice < 20 && len(p.live) > 0:
			id := take(p.rng, &p.live)
			out = append(out, write{id, p.fields("order", p.rng.IntN(100_000)), true})
			live = append(live, id)
			p.know.changes++
		case dice < 28 && len(p.live) > 0:
			id := take(p.rng, &p.live)
			out = append(out, write{id, nil, true})
			deleted = append(deleted, id)
			p.know.deletes++
		case dice < 30 && len(p.deleted) > 0:
			id := take(p.rng, &p.deleted)
			out = append(out, write{id, p.fields("order", p.rng.IntN(100_000)), false})
			live = append(live, id)
			p.know.returned++
		default:
			w, changeable := p.insert()
			out = append(out, w)
			if changeable {
				live = append(live, w.id)
			}
		}
	}
	p.live = append(p.live, live...)
	p.deleted = append(p.deleted, deleted...)
	return out
}

// insert makes a new document: an order that may change later, or an entry of the ledger that never does.
func (p *planner) insert() (w write, changeable bool) {
	p.know.inserts++
	cents := p.rng.IntN(100_000)
	if p.rng.IntN(10) < 4 {
		p.know.entries++
		p.know.cents += cents
		return write{id: fmt.Sprintf("entry-%05d", p.know.inserts), fields: p.fields("entry", cents)}, false
	}
	return write{id: fmt.Sprintf("order-%05d", p.know.inserts), fields: p.fields("order", cents)}, true
}

func (p *planner) fields(kind string, cents int) map[string]any {
	texts := []string{"", "plain", "zwölf Boxkämpfer", `a "quote" and a \`, "line\nbreak", "\u2028", "日本"}
	return map[string]any{
		"kind": kind, "n": p.rng.IntN(1_000_000), "amount": float64(cents) / 100, "text": texts[p.rng.IntN(len(texts))],
	}
}

// take removes one of the ids.
func take(rng *rand.Rand, ids *[]string) string {
	i, last := rng.IntN(len(*ids)), len(*ids)-1
	id := (*ids)[i]
	(*ids)[i] = (*ids)[last]
	*ids = (*ids)[:last]
	return id
}

// writer sends batches and remembers the revisions they got.
type writer struct {
	server    *pouch.Server
	revisions map[string]string
	written   int
}

// write sends batches over a span of time, evenly.
func (w *writer) write(batches [][]write, span time.Duration) error {
	pace := time.NewTicker(max(span/time.Duration(len(batches)+1), time.Millisecond))
	defer pace.Stop()
	for _, b := range batches {
		<-pace.C
		if err := w.send(b); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) send(batch []write) error {
	docs := make([]map[string]any, len(batch))
	for i, one := range batch {
		doc := map[string]any{"_id": one.id}
		for k, v := range one.fields {
			doc[k] = v
		}
		if one.fields == nil {
			doc["_deleted"] = true
		}
		if one.again {
			doc["_rev"] = w.revisions[one.id]
		}
		docs[i] = doc
	}
	b, err := w.server.Try(http.MethodPost, "/orders/_bulk_docs", map[string]any{"docs": docs})
	if err != nil {
		return err
	}
	return w.remember(batch, b)
}

func (w *writer) remember(batch []write, answer []byte) error {
	var results []struct {
		OK  bool   `json:"ok"`
		ID  string `json:"id"`
		Rev string `json:"rev"`
	}
	if err := json.Unmarshal(answer, &results); err != nil {
		return err
	}
	if len(results) != len(batch) {
		return fmt.Errorf("wrote %d documents, %d answers", len(batch), len(results))
	}
	for i, r := range results {
		if !r.OK || r.ID != batch[i].id {
			return fmt.Errorf("write of %s refused: %.300s", batch[i].id, answer)
		}
		w.revisions[r.ID] = r.Rev
	}
	w.written += len(batch)
	return nil
}

func TestPlanIsTheSeedsAlone(t *testing.T) {
	t.Parallel()
	first, know := plan(rand.New(rand.NewPCG(7, 0)), 500)
	second, _ := plan(rand.New(rand.NewPCG(7, 0)), 500)
	if fmt.Sprint(first) != fmt.Sprint(second) {
		t.Error("one seed gave two plans")
	}
	if know.inserts != 500 || know.entries == 0 || know.changes == 0 || know.deletes == 0 || know.returned == 0 {
		t.Errorf("the plan lacks something: %+v", know)
	}
	for i, b := range first {
		seen := map[string]bool{}
		for _, w := range b {
			if seen[w.id] {
				t.Errorf("batch %d writes %s twice", i, w.id)
			}
			seen[w.id] = true
		}
	}
}
