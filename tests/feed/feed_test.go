package feed

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/tests/feed/pouch"
)

// stream is the definition's name, after its file.
const stream = "changes"

// The moments of the kills. A process reads what was written meanwhile faster than it starts, and then waits for its next poll:
// kills at any time of its life alone would mostly hit it starting or idle. So half of them come within a short time after its
// first answer is in the archive.
const (
	anyTime     = 400 * time.Millisecond
	whileItRead = 120 * time.Millisecond
	noAnswer    = 3 * time.Second // then it is killed idle
)

// checkEvery is after how many kills the invariants are checked on the way.
const checkEvery = 8

// install is a data folder and a folder with the one definition.
type install struct{ program, data, streams string }

func newInstall(t *testing.T, program, address string) install {
	t.Helper()
	in := install{program, filepath.Join(t.TempDir(), "data"), t.TempDir()}
	definition, err := os.ReadFile("testdata/changes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	definition = bytes.ReplaceAll(definition, []byte("http://ADDRESS"), []byte("http://"+address))
	if err := os.WriteFile(filepath.Join(in.streams, stream+".yaml"), definition, 0o600); err != nil {
		t.Fatal(err)
	}
	return in
}

// start runs a turnleaf command.
func (in install) start(t *testing.T, args ...string) *process {
	t.Helper()
	return startProcess(t, exec.Command(in.program, append(args, "--data", in.data, "--streams", in.streams)...))
}

// TestLiveFeedSurvivesKills is the main job, end to end: a feed that is written while it is read, and a reader that dies all the
// time. At the end nothing is lost and nothing is doubled.
func TestLiveFeedSurvivesKills(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := readSettings(t)
	t.Logf("TURNLEAF_SEED=%d TURNLEAF_DOCS=%d TURNLEAF_KILLS=%d", s.seed, s.docs, s.kills)
	batches, know := plan(rand.New(rand.NewPCG(s.seed, 1)), s.docs)
	server := pouch.Start(t, s.pouchdb)
	w := &writer{server: server, revisions: map[string]string{}}
	in := newInstall(t, s.turnleaf, server.Address)

	starts := killWhileWriting(t, in, w, batches, rand.New(rand.NewPCG(s.seed, 2)), s.kills)
	in.start(t, "local", "--once").succeeds(t, 2*time.Minute)
	starts++

	if w.written != know.inserts+know.changes+know.deletes+know.returned {
		t.Errorf("%d writes of %+v were made", w.written, know)
	}
	in.start(t, "audit", stream, "--deep").succeeds(t, time.Minute)
	r := readRecord(t, in.data)
	r.oneReceiptEach(t)
	r.projectionEquals(t, server.Documents(t))
	r.ledgerEquals(t, know)
	if s.kills >= 25 && r.drivenAgain == 0 {
		t.Error("no kill hit a page while it was open: the kills proved nothing")
	}
	t.Logf("%d kills, %d starts; %d writes (%d inserts, %d changes, %d deletes, %d returned) in %d pages (%d driven again after a kill), "+
		"%d receipts, %d documents, %d ledger entries; %.1f s; seed %d", s.kills, starts, w.written, know.inserts, know.changes, know.deletes,
		know.returned, r.pages, r.drivenAgain, len(r.receipts), len(r.docs), know.entries, time.Since(began).Seconds(), s.seed)
}

// killWhileWriting spreads the batches over one run of the process per kill, and one more share that nobody reads before the end.
// It gives the number of starts.
func killWhileWriting(t *testing.T, in install, w *writer, batches [][]write, rng *rand.Rand, kills int) (starts int) {
	t.Helper()
	shares := kills + 1
	share := func(i int) [][]write { return batches[i*len(batches)/shares : (i+1)*len(batches)/shares] }
	for i := range kills {
		written := make(chan error, 1)
		go func() { written <- w.write(share(i), anyTime/2) }()
		in.runAndKill(t, rng)
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		starts++
		if (i+1)%checkEvery == 0 {
			in.start(t, "audit", stream, "--deep").succeeds(t, time.Minute)
		}
	}
	if err := w.write(share(kills), 0); err != nil {
		t.Fatal(err)
	}
	return starts
}

// runAndKill starts the process and kills it at a random moment.
func (in install) runAndKill(t *testing.T, rng *rand.Rand) {
	t.Helper()
	reading, moment := rng.IntN(2) == 0, rng.Float64() // both drawn always, so that a seed means the same on every machine
	before := in.answers()
	p := in.start(t, "local")
	within := anyTime
	if reading {
		within = whileItRead
		for end := time.Now().Add(noAnswer); in.answers() == before && time.Now().Before(end); {
			p.runFor(t, time.Millisecond)
		}
	}
	p.runFor(t, time.Duration(moment*float64(within)))
	p.kill()
}

// answers counts the page versions that have an answer in the archive.
func (in install) answers() int {
	versions, err := os.ReadDir(filepath.Join(in.data, "archive", "raw", stream))
	if err != nil {
		return 0 // not written to yet
	}
	return len(versions)
}
