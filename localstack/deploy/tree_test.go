package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A copy is what a clone would have and what is new; neither what git ignores nor what was deleted.
func TestCopyTree(t *testing.T) {
	t.Parallel()
	root, to := t.TempDir(), filepath.Join(t.TempDir(), "tree")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("kept/a b.txt", "a", 0o644)
	write("run.sh", "x", 0o755)
	write("gone.txt", "g", 0o644)
	write(".gitignore", "/ignored/\n", 0o644)
	write("ignored/big", "b", 0o644)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir = root
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	if err := os.Remove(filepath.Join(root, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	write("new.txt", "n", 0o600)
	if err := CopyTree(t.Context(), root, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"kept/a b.txt": "a", "run.sh": "x", "new.txt": "n"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"gone.txt", "ignored", ".git"} {
		if _, err := os.Stat(filepath.Join(to, name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("run.sh cannot be run: %v, %v", info, err)
	}
	if err := CopyTree(t.Context(), t.TempDir(), to); err == nil {
		t.Error("a folder that is no repository was copied")
	}
}
