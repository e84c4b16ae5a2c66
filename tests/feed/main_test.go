package feed

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"testing"
)

// TestMain refuses to run without what the test needs: a skipped test would look like a passed one.
func TestMain(m *testing.M) {
	for _, name := range []string{"TURNLEAF_POUCHDB", "TURNLEAF_BIN"} {
		if os.Getenv(name) == "" {
			fmt.Fprintf(os.Stderr, "tests/feed: %s is not set. Run `make test-feed`: it installs pouchdb-server and builds turnleaf.\n", name)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

type settings struct {
	pouchdb, turnleaf string // paths
	seed              uint64
	docs, kills       int
}

func readSettings(t *testing.T) settings {
	t.Helper()
	s := settings{
		pouchdb: os.Getenv("TURNLEAF_POUCHDB"), turnleaf: os.Getenv("TURNLEAF_BIN"),
		docs: number(t, "TURNLEAF_DOCS", 10_000), kills: number(t, "TURNLEAF_KILLS", 25),
	}
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		t.Fatal(err)
	}
	s.seed = uint64(number(t, "TURNLEAF_SEED", int(binary.BigEndian.Uint32(random[:]))))
	return s
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s: want a whole number, have %q", name, text)
	}
	return n
}
