package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnleaf/turnleaf/internal/fault"
)

// tally counts runs and, by site, the faults that struck.
type tally struct {
	mu     sync.Mutex
	runs   int
	faults map[string]int
}

func newTally() *tally { return &tally{faults: map[string]int{}} }

func (c *tally) add(struck []fault.Strike) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	for _, s := range struck {
		c.faults[s.Site]++
	}
}

func (c *tally) log(t *testing.T, what string) {
	t.Helper()
	total := 0
	var b strings.Builder
	for _, site := range slices.Sorted(maps.Keys(c.faults)) {
		total += c.faults[site]
		fmt.Fprintf(&b, "\n\t%-18s %6d", site, c.faults[site])
	}
	t.Logf("%s: %d runs, %d faults%s", what, c.runs, total, b.String())
}

// unmet are the sites that no story can meet, and why.
var unmet = map[string]string{
	"spool":          "nobody fetches ahead yet",
	"unspool":        "nobody fetches ahead yet",
	"read/pages":     "audits alone walk pages",
	"read/ledger":    "audits alone walk receipts",
	"read/document":  "people alone read documents",
	"read/documents": "people alone read documents",
	"read/audits":    "people alone read the record of decisions",
}

// complete fails if a site was never struck that should have been, or if one was that has an excuse.
func (c *tally) complete(t *testing.T) {
	t.Helper()
	ports := map[string]bool{}
	for site := range c.faults {
		port, _, _ := strings.Cut(site, " ") // on AWS the operation follows
		ports[port] = true
	}
	for _, s := range fault.Sites() {
		excuse, struck := unmet[s.Name], ports[s.Name]
		switch {
		case excuse == "" && !struck:
			t.Errorf("the site %s was never struck", s.Name)
		case excuse != "" && struck:
			t.Errorf("the site %s was struck, though %s", s.Name, excuse)
		}
	}
}
