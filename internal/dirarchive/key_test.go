package dirarchive_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// tree gives every path below dir, to see that nothing was made.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// refusesKey: no method takes the key, nothing is made of it, and the error is none that the protocol acts upon.
func refusesKey(t *testing.T, a handoff.Archive, key string) {
	t.Helper()
	_, getErr := a.Get(t.Context(), key)
	_, rangeErr := a.GetRange(t.Context(), key, 0, 1)
	for op, err := range map[string]error{
		"put": a.Put(t.Context(), key, []byte("x")), "get": getErr, "range": rangeErr, "refresh": a.Refresh(t.Context(), key),
	} {
		if err == nil || errors.Is(err, handoff.ErrRefused) || errors.Is(err, handoff.ErrNotFound) {
			t.Errorf("%s: got %v, want an error of its own", op, err)
		}
	}
}

func TestKeysThatAreNoPlainPath(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{
		"Empty": "", "Parent": "..", "ParentFirst": "../outside", "ParentInside": "a/../../outside", "ParentLast": "a/..", "Here": "./a", "HereInside": "a/./b",
		"Absolute": "/etc/passwd", "EmptyPart": "a//b", "EndsWithSlash": "a/", "NUL": "a\x00b", "Backslash": `..\outside`,
		"LongPart": "a/" + strings.Repeat("x", 300), "OurTemporaries": ".tmp-1", "OurTemporariesBelow": "a/.tmp-1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outer := t.TempDir()
			a := open(t, filepath.Join(outer, "archive"))
			before := tree(t, outer)
			refusesKey(t, a, key)
			if after := tree(t, outer); after != before {
				t.Errorf("left behind:\n%s", after)
			}
		})
	}
}

func TestLongestPartFits(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir())
	if err := a.Put(t.Context(), "a/"+strings.Repeat("x", 255), []byte("x")); err != nil {
		t.Error(err)
	}
}

// A link inside the folder leads nowhere outside of it, whoever made it.
func TestLinksThatLeadOut(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	dir := filepath.Join(outer, "archive")
	a := open(t, dir)
	secret := filepath.Join(outer, "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	must(t, os.Symlink(outer, filepath.Join(dir, "folder")))
	must(t, os.Symlink(secret, filepath.Join(dir, "file")))
	before := tree(t, outer)
	for _, key := range []string{"folder/secret", "folder/new", "folder/new/deeper", "file"} {
		refusesKey(t, a, key)
	}
	keys, err := a.List(t.Context(), "", 10)
	if err != nil || len(keys) != 0 {
		t.Errorf("listed %q (%v), want nothing", keys, err)
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("outside now holds %q (%v)", got, err)
	}
	if after := tree(t, outer); after != before {
		t.Errorf("left behind:\n%s", after)
	}
}

// What looks like a way out in a prefix lists nothing.
func TestListStaysInside(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outer, "secret"), nil, 0o600))
	a := open(t, filepath.Join(outer, "archive"))
	must(t, a.Put(t.Context(), "a/b", []byte("x")))
	for _, prefix := range []string{"..", "../", "../s", "a/../", "/", outer + "/", "./", "a//", "\x00", `..\`} {
		keys, err := a.List(t.Context(), prefix, 10)
		if err != nil || len(keys) != 0 {
			t.Errorf("prefix %q: %q (%v), want nothing", prefix, keys, err)
		}
	}
}

func TestOpenRemovesOldTemporaries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, young, object := filepath.Join(dir, ".tmp-old"), filepath.Join(dir, ".tmp-young"), filepath.Join(dir, "object")
	for _, path := range []string{old, young, object} {
		must(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	past := time.Now().Add(-48 * time.Hour)
	must(t, os.Chtimes(old, past, past))
	must(t, os.Chtimes(object, past, past))
	a := open(t, dir)
	if want, got := "\n/.tmp-young\n/object", tree(t, dir); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	keys, err := a.List(t.Context(), "", 10)
	if err != nil || len(keys) != 1 || keys[0] != "object" {
		t.Errorf("listed %q (%v): a file on its way is no object", keys, err)
	}
}

// Put leaves nothing but the object.
func TestPutLeavesNoTemporaries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir)
	must(t, a.Put(t.Context(), "a/b", []byte("x")))
	must(t, a.Put(t.Context(), "a/b", []byte("x")))
	if err := a.Put(t.Context(), "a/b", []byte("y")); !errors.Is(err, handoff.ErrRefused) {
		t.Errorf("got %v, want refused", err)
	}
	if want, got := "\n/a\n/a/b", tree(t, dir); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
