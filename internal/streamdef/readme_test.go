package streamdef

import (
	"os"
	"strings"
	"testing"
)

// The README's first stream is one that a newcomer can save and run.
func TestReadmeDefinition(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), "```yaml\n")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("the README shows no definition")
	}
	d, err := Parse("orders.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text, "\n"); n > 10 {
		t.Errorf("it takes %d lines, the README promises ten", n)
	}
	if d.Start == nil || !d.Start.Beginning || d.Effect.Projection == nil {
		t.Errorf("it is read as %+v", d)
	}
}
