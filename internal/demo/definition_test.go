package demo

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/streamdef"
)

func TestTheDefinitionReadsAndNamesTheServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "with a 'quote' and spaces")
	path, err := Saved{Seed: 7, StartedAt: start, Address: "127.0.0.1:4000"}.Write(dir, "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	d, err := streamdef.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != Name || d.Source.URL != "http://127.0.0.1:4000/events" || d.Start == nil || !d.Start.Beginning {
		t.Errorf("stream %q of %s, start %+v", d.Name, d.Source.URL, d.Start)
	}
	token, err := os.ReadFile(d.Source.Auth.Bearer.File)
	if err != nil || string(token) != "open sesame" {
		t.Errorf("token file: %q, %v", token, err)
	}
	for _, name := range []string{"demo.json", "demo.yaml", "token"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 0600", name, st, err)
		}
	}
}

func TestADemoGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Load(dir, 7, start)
	if err != nil {
		t.Fatal(err)
	}
	first.Address = "127.0.0.1:4000"
	if _, err := first.Write(dir, "x"); err != nil {
		t.Fatal(err)
	}
	again, err := Load(dir, 8, start.Add(time.Hour))
	if err != nil || again != first {
		t.Errorf("after a restart %+v, %v; want %+v", again, err, first)
	}
	if err := os.WriteFile(filepath.Join(dir, "demo.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, 7, start); err == nil {
		t.Error("a broken demo.json was taken for a new demo: its events would begin again")
	}
}
