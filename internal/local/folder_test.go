package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAPIFileIsTheOwnersAndOnlyOurs(t *testing.T) {
	t.Parallel()
	f := Folder(filepath.Join(t.TempDir(), "data"))
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAPI(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	// A death between the two steps may leave a file that others can read.
	if err := os.WriteFile(f.api()+".new", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want := API{Address: "127.0.0.1:4000", Token: "mine", PID: 7, Started: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	if err := f.WriteAPI(want); err != nil {
		t.Fatal(err)
	}
	if got, err := f.ReadAPI(); err != nil || got != want {
		t.Errorf("read back %+v, %v", got, err)
	}
	for path, mode := range map[string]fs.FileMode{f.api(): 0o600, string(f): 0o700} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("mode of %s: %v, %v; want %v", path, st.Mode().Perm(), err, mode)
		}
	}
	if err := f.RemoveAPI("another's"); err != nil {
		t.Error(err)
	}
	if _, err := f.ReadAPI(); err != nil {
		t.Errorf("another start's file was removed: %v", err)
	}
	if err := f.RemoveAPI("mine"); err != nil {
		t.Error(err)
	}
	if _, err := f.ReadAPI(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a clean exit: %v", err)
	}
}
