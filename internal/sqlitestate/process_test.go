package sqlitestate_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
)

// helperEnv makes the test binary another process that holds the store at the path it names, and writes to it until it is killed.
const helperEnv = "TURNLEAF_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(helperEnv); path != "" {
		fmt.Fprintln(os.Stderr, writer(context.Background(), path)) // it only comes back with an error
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writer settles event after event and prints the id of each once it is done.
func writer(ctx context.Context, path string) error {
	s, err := sqlitestate.Open(ctx, path, sqlitestate.Options{})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		id := fmt.Sprint("e", i)
		if err := s.Settle(ctx, "s", []handoff.Settlement{settlement(id, "d")})[0].Err; err != nil {
			return err
		}
		if _, err := fmt.Println(id); err != nil {
			return err
		}
	}
}

// settlement applies an event that has no receipt and counts it on a document.
func settlement(id, entity string) handoff.Settlement {
	return handoff.Settlement{
		ReceiptWrite: handoff.ReceiptWrite{If: handoff.Guard{Absent: true}, Put: handoff.Receipt{
			ReceiptKey: handoff.ReceiptKey{EventID: id}, Stream: "s", Outcome: handoff.Applied, Rev: 1, Token: id, PageVersion: 1,
		}},
		Docs: []handoff.DocChange{{Entity: entity, Add: map[string]string{"n": "1"}}},
	}
}

// process is the other process.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
}

// spawn starts it and waits for its first acknowledged write.
func spawn(t *testing.T, path string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), helperEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, bufio.NewScanner(out)}
	t.Cleanup(func() { _ = p.Process.Kill() }) // a test that failed may leave it running
	if !p.lines.Scan() {
		t.Fatal("the other process wrote nothing")
	}
	return p
}

// kill ends it with SIGKILL after n more acknowledged writes, and gives all that it acknowledged before it was gone.
func (p *process) kill(t *testing.T, n int) []string {
	t.Helper()
	acknowledged := []string{p.lines.Text()}
	for p.lines.Scan() {
		acknowledged = append(acknowledged, p.lines.Text())
		if len(acknowledged) == n {
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = p.Wait() // killed is what it was
	return acknowledged
}

func TestLockRefusesAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	other := spawn(t, path)
	s, err := sqlitestate.Open(t.Context(), path, sqlitestate.Options{})
	var locked *sqlitestate.LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("got %v (store %v), want a LockedError", err, s)
	}
	pid := strconv.Itoa(other.Process.Pid)
	if locked.PID != pid || locked.Path != path+".lock" {
		t.Errorf("got process %q and path %q, want %q and %q", locked.PID, locked.Path, pid, path+".lock")
	}
	if text := locked.Error(); !strings.Contains(text, pid) || !strings.Contains(text, locked.Path) {
		t.Errorf("%q names neither process nor path", text)
	}
	other.kill(t, 2)
	openFile(t, path, sqlitestate.Options{}) // free again, with nobody's help
}

func TestLockIsFreeAfterClose(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	for range 2 {
		s, err := sqlitestate.Open(t.Context(), path, sqlitestate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = sqlitestate.Open(t.Context(), path, sqlitestate.Options{})
		var locked *sqlitestate.LockedError
		if !errors.As(err, &locked) {
			t.Fatalf("got %v, want a LockedError", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Done is durable: whatever was acknowledged before SIGKILL is there, receipt and effect together, and nothing is there by half.
func TestAcknowledgedSurvivesSIGKILL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	acknowledged := spawn(t, path).kill(t, 60)
	s := openFile(t, path, sqlitestate.Options{})
	var keys []handoff.ReceiptKey
	for _, id := range acknowledged {
		keys = append(keys, handoff.ReceiptKey{EventID: id})
	}
	found, err := s.Receipts(t.Context(), "s", keys, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(acknowledged) || len(found) < 60 {
		t.Errorf("%d of %d acknowledged are there", len(found), len(acknowledged))
	}
	all, _, err := s.ListReceipts(t.Context(), "s", "", 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Doc(t.Context(), "s", "d")
	if err != nil || string(d.Fields["n"]) != strconv.Itoa(len(all)) {
		t.Errorf("%d receipts, but the document counts %s (%v)", len(all), d.Fields["n"], err)
	}
}

func TestNewerSchemaRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := sqlitestate.Open(t.Context(), path, sqlitestate.Options{})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), `UPDATE meta SET value = '999' WHERE name = 'schema'`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time shows that the first gave the lock up
		_, err = sqlitestate.Open(t.Context(), path, sqlitestate.Options{})
		if err == nil || !strings.Contains(err.Error(), "schema 999") || !strings.Contains(err.Error(), "newer turnleaf") || !strings.Contains(err.Error(), path) {
			t.Fatalf("got %v, want a refusal that names the file, the schema and what to do", err)
		}
	}
}

// Two handles on one file, as two processes without the lock would be: every write is still a compare-and-swap.
func TestTwoHandlesOnOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	a := openFile(t, path, sqlitestate.Options{})
	b := openFile(t, path, sqlitestate.Options{Unlocked: true})
	errs := make(chan error)
	for _, s := range []*sqlitestate.Store{a, b} {
		go func() {
			var err error
			for i := range 40 {
				res := s.Settle(t.Context(), "s", []handoff.Settlement{settlement(fmt.Sprint("e", i), "d")})[0]
				if res.Err != nil && !errors.Is(res.Err, handoff.ErrRefused) {
					err = res.Err
				}
			}
			errs <- err
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	d, err := b.Doc(t.Context(), "s", "d")
	if err != nil || string(d.Fields["n"]) != "40" {
		t.Errorf("the document counts %s (%v), want 40", d.Fields["n"], err)
	}
}

func BenchmarkSettle25(b *testing.B) {
	s := openFile(b, filepath.Join(b.TempDir(), "state.db"), sqlitestate.Options{})
	n := 0
	for b.Loop() {
		items := make([]handoff.Settlement, 25)
		for i := range items {
			n++
			items[i] = settlement(fmt.Sprint("e", n), fmt.Sprint("d", n%1000))
		}
		for _, res := range s.Settle(b.Context(), "s", items) {
			if res.Err != nil {
				b.Fatal(res.Err)
			}
		}
	}
	b.ReportMetric(float64(25*b.N)/b.Elapsed().Seconds(), "events/s")
}
