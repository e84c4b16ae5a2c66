package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/tests/feed/pouch"
)

// docs is how many documents the live feed has; kills is how many function processes die at work.
const (
	docs  = 2000
	kills = 6
)

// writer changes documents while the functions consume them, as its seed says.
type writer struct {
	server *pouch.Server
	rng    *rand.Rand
	revs   map[string]string // of documents that exist and may change
	made   int
	ledger int
}

// write makes one batch of new documents and changes or deletes some old ones. Entries are written once and never changed, so that each
// is shown exactly once.
func (w *writer) write(t *testing.T, n int) {
	t.Helper()
	var batch []map[string]any
	for range min(n, docs-w.made) {
		kind := "order"
		if w.made%3 == 0 {
			kind = "entry"
			w.ledger++
		}
		batch = append(batch, map[string]any{"_id": fmt.Sprintf("%s-%05d", kind, w.made), "kind": kind, "n": w.made, "amount": json.Number("0.10"), "text": "é"})
		w.made++
	}
	for id, rev := range w.revs {
		if w.rng.IntN(4) == 0 && len(batch) < 2*n {
			batch = append(batch, map[string]any{"_id": id, "_rev": rev, "kind": "order", "n": w.rng.IntN(1e6), "amount": 1, "text": "", "_deleted": w.rng.IntN(3) == 0})
			delete(w.revs, id)
		}
	}
	var answers []struct{ ID, Rev, Error string }
	pouch.Decode(t, w.server.Do(t, http.MethodPost, "/orders/_bulk_docs", map[string]any{"docs": batch}), &answers)
	for i, a := range answers {
		if a.Error != "" {
			t.Fatalf("write %s: %s", a.ID, a.Error)
		}
		if deleted, _ := batch[i]["_deleted"].(bool); !deleted && strings.HasPrefix(a.ID, "order-") {
			w.revs[a.ID] = a.Rev
		}
	}
}

// The real feed, through the real functions, on the emulated cloud: processes die at work, and at the end the projection is the server's
// own documents, and the ledger is the truth.
func TestFunctionsConsumeALiveFeed(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	program := os.Getenv("TURNLEAF_POUCHDB")
	if program == "" {
		t.Fatal("TURNLEAF_POUCHDB is not set: run `make test-aws`, which installs pouchdb-server")
	}
	server := pouch.Start(t, program)
	definition, err := os.ReadFile("../feed/testdata/changes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := deploy(t, "orders", strings.ReplaceAll(string(definition), "ADDRESS", server.Address))
	w := &writer{server: server, rng: rand.New(rand.NewPCG(seed, seed)), revs: map[string]string{}}
	s.consume(w)
	engine, state := cloud.Engine(world.Config, s.conf.Stores, s.conf.Queues, s.conf.Times, nil)
	violations, err := engine.CheckInvariants(s.ctx, "orders")
	if err != nil || len(violations) > 0 {
		t.Fatalf("invariants: %v %v", violations, err)
	}
	got := map[string]handoff.Doc{}
	for after := ""; ; {
		list, next, err := state.ListDocs(s.ctx, "orders", after, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			got[d.Entity] = d
		}
		if after = next; after == "" {
			break
		}
	}
	ledger := got["ledger"]
	delete(got, "ledger")
	if n := string(ledger.Fields["entries"]); n != fmt.Sprint(w.ledger) {
		t.Errorf("the ledger counts %s entries, want %d", n, w.ledger)
	}
	want := server.Documents(t)
	if len(got) != len(want) {
		t.Errorf("%d documents are projected, the server has %d", len(got), len(want))
	}
	for id, doc := range want {
		if rev := string(got[id].Fields["rev"]); rev != fmt.Sprintf("%q", doc["rev"]) {
			t.Errorf("%s is at %s, the server's at %v", id, rev, doc["rev"])
		}
	}
	t.Logf("%d documents, %d ledger entries, %d kills", len(want), w.ledger, s.killed)
}

// consume writes and pumps until everything that was written is applied.
func (s *site) consume(w *writer) {
	s.Helper()
	until := time.Now().Add(4 * time.Minute)
	for quiet, rounds := 0, 0; quiet < 3; rounds++ {
		if time.Now().After(until) {
			s.Fatal("the feed was never drained")
		}
		if w.made < docs {
			w.write(s.T, 250)
			quiet = 0
		}
		if s.killed < kills && rounds%5 == 4 {
			f := s.fn([]string{"apply", "poll"}[rounds%2])
			f.mu.Lock()
			f.onGive = func() { // it dies some time into its work
				time.Sleep(time.Duration(w.rng.IntN(40)) * time.Millisecond)
				s.killed++
				_ = f.process.Process.Kill()
			}
			f.mu.Unlock()
		}
		if s.pump(s.conf.Chunks, "apply", 5)+s.pump(s.conf.Polls, "poll", 1) > 0 {
			quiet = 0
			continue
		}
		if _, err := s.fn("poll").invoke(s.ctx, struct{}{}, 10*time.Second); err != nil && !errors.Is(err, errDied) {
			s.Fatal(err)
		}
		var st handoff.StreamStatus
		s.review("GET", "/v1/streams/orders", "", &st)
		if st.Held > 0 {
			s.Fatalf("%s is held: %s", st.Blocked.Event.EventID, st.Blocked.Event.Detail)
		}
		if st.Page == nil && w.made >= docs {
			quiet++
		}
		time.Sleep(100 * time.Millisecond) // what a dead process held comes back in its own time
	}
	if s.killed < kills {
		s.Fatalf("%d of %d kills: the feed was drained too fast to tell the story", s.killed, kills)
	}
}

// definitionFolder writes one definition.
func definitionFolder(t *testing.T, name, text string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
