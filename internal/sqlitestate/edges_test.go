package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func openMemory(t *testing.T) *Store {
	t.Helper()
	s, err := OpenMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A chunk number comes out of a message, so it may be anything; it must neither panic nor stay behind on the page.
func TestChunkNumberThatNoPageHas(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	page := handoff.Page{Stream: "s", Version: 1, Chunks: handoff.MaxChunks}
	if err := s.Commit(t.Context(), handoff.Tx{Stream: "s", PagePut: &page}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{-1, handoff.MaxChunks, 127, 128, 1 << 40} {
		_, err := s.MarkChunk(t.Context(), "s", 1, k)
		var invalid *handoff.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("chunk %d: got %v, want an InvalidError", k, err)
		}
	}
	got, err := s.MarkChunk(t.Context(), "s", 1, handoff.MaxChunks-1)
	if err != nil || got.ChunksDone != (handoff.ChunkSet{}).With(handoff.MaxChunks-1) {
		t.Errorf("got %v (%v), want only the last chunk", got.ChunksDone.List(), err)
	}
}

// One settlement that the store cannot take does not take the others of its call with it.
func TestTooLargeFallsAlone(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	conn, err := s.write.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, 20_000); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	items := make([]handoff.Settlement, 3)
	for i := range items {
		items[i].If.Absent = true
		items[i].Put = handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: string(rune('a' + i))}, Stream: "s", Outcome: handoff.Applied, Rev: 1}
	}
	items[1].Put.Detail = strings.Repeat("x", 30_000)
	for i, res := range s.Settle(t.Context(), "s", items) {
		if i == 1 && !errors.Is(res.Err, handoff.ErrTooLarge) || i != 1 && res.Err != nil {
			t.Errorf("settlement %d: got %v", i, res.Err)
		}
	}
	stand, _, err := s.ListReceipts(t.Context(), "s", "", 10)
	if err != nil || len(stand) != 2 || stand[0].EventID != "a" || stand[1].EventID != "c" {
		t.Errorf("%d receipts stand (%v), want a and c", len(stand), err)
	}
}

// The store holds payload: nobody else on the machine reads it.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), filepath.Join(dir, "state.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	page := handoff.Page{Stream: "s", Version: 1}
	if err := s.Commit(t.Context(), handoff.Tx{Stream: "s", PagePut: &page}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 3 { // file, log, lock at least
		t.Fatalf("%d files (%v)", len(entries), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v), want -rw-------", e.Name(), info.Mode(), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if log, err := filepath.Glob(filepath.Join(dir, "*-wal")); err != nil || len(log) != 0 {
		t.Errorf("a clean close leaves the log %q (%v)", log, err)
	}
}

// A child that is being started holds a copy of the lock's handle for a moment. The lock is free all the same once the store is closed.
func TestCloseFreesLockThatAChildStillHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(s.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(child) }() // its content does not matter
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// A panic in the middle of a transaction, caught further up, does not keep the one writer for ever.
func TestPanicGivesTheWriterBack(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	func() {
		defer func() { _ = recover() }() // as a server does
		_ = s.inTx(t.Context(), "test", func(*sql.Tx) error { panic("a bug") })
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	page := handoff.Page{Stream: "s", Version: 1}
	if err := s.Commit(ctx, handoff.Tx{Stream: "s", PagePut: &page}); err != nil {
		t.Error(err)
	}
}
