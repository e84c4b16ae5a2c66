package reviewapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// A bulk acts on what it names, each by itself; repeated, it repeats none of it.
func TestBulk(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	body := `{"kind":"quarantine","reason":"spam","events":[{"event_id":"17","rev":1},{"event_id":"99","rev":1},{"event_id":"\"é\\u0000\\\"\"","rev":7}]}`
	var first string
	for i := range 2 {
		status, _, got := request(t, h, "POST", base()+"/bulk", body, "Idempotency-Key", "bulk")
		var out reviewapi.List[reviewapi.BulkResult]
		if err := json.Unmarshal([]byte(got), &out); err != nil || status != http.StatusOK || len(out.Items) != 3 {
			t.Fatalf("%d %s", status, got)
		}
		if a := out.Items[0].Answer; a == nil || a.Outcome != handoff.Quarantined {
			t.Errorf("the first: %s", got)
		}
		if p := out.Items[1].Problem; p == nil || p.Status != http.StatusNotFound {
			t.Errorf("the second: %s", got)
		}
		if p := out.Items[2].Problem; p == nil || p.Status != http.StatusConflict {
			t.Errorf("the third: %s", got)
		}
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("repeated: %s", got)
		}
	}
	if len(w.sent) != 2 {
		t.Errorf("two bulks sent %d hints to drive, want one each", len(w.sent))
	}
	audits, _, _ := w.state.Audits(t.Context(), stream, "", 10)
	if len(audits) != 1 {
		t.Errorf("%d decisions were taken, want one", len(audits))
	}
	for _, bad := range []string{`{"kind":"pause","reason":"r","events":[{"event_id":"17","rev":1}]}`, `{"kind":"ignore","reason":"r","events":[]}`} {
		if status, _, _ := request(t, h, "POST", base()+"/bulk", bad); status != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, status)
		}
	}
}

// A bulk takes what it can carry, names each decision by its event, and says of each what is unknown.
func TestBulkNamesEachDecision(t *testing.T) {
	t.Parallel()
	var logged []error
	f := &fake{answer: handoff.DecisionAnswer{Rev: 2}}
	h := f.serve(t, func(c *reviewapi.Config) {
		c.Report = func(_ context.Context, err error) { logged = append(logged, err) }
	})
	events := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"event_id":"%d","rev":%d}`, i/2, i+1) // each id twice: its own receipt and a conflict
			if i%2 == 1 {
				s := b.String()
				b.Reset()
				b.WriteString(strings.TrimSuffix(s, "}") + `,"conflict":"c"}`)
			}
		}
		return `{"kind":"ignore","reason":"r","events":[` + strings.TrimPrefix(b.String(), ",") + `]}`
	}
	if status, _, body := request(t, h, "POST", "/v1/streams/s/bulk", events(100), "Idempotency-Key", "b"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	ids := map[string]bool{}
	for i, d := range f.decided {
		ids[d.ID] = true
		if d.Actor != "ada" || d.Reason != "r" || d.Kind != handoff.DecideIgnore || d.Stream != "s" || !d.Quiet || d.Rev != uint64(i+1) ||
			d.Event.EventID != strconv.Itoa(i/2) || (d.Event.Conflict == "c") != (i%2 == 1) || !strings.HasPrefix(d.ID, "b.") {
			t.Fatalf("decision %d: %+v", i, d)
		}
	}
	if len(ids) != 100 || len(f.driven) != 1 || f.driven[0] != "s" {
		t.Errorf("%d ids, driven %v", len(ids), f.driven)
	}
	if status, _, _ := request(t, h, "POST", "/v1/streams/s/bulk", events(101)); status != http.StatusBadRequest || len(f.decided) != 100 {
		t.Errorf("101 events: %d", status)
	}
	if status, _, _ := request(t, h, "POST", "/v1/streams/s/bulk", events(1), reviewapi.ActorHeader, ""); status != http.StatusUnauthorized || len(f.decided) != 100 {
		t.Errorf("nobody: %d", status)
	}
	if status, _, _ := request(t, h, "POST", "/v1/streams/s/bulk", events(1), "Idempotency-Key", strings.Repeat("k", 201)); status != http.StatusBadRequest {
		t.Errorf("a long id: %d", status)
	}
	f.err = fmt.Errorf("table-7: %w", handoff.ErrUnknown)
	_, _, body := request(t, h, "POST", "/v1/streams/s/bulk", events(1), "Idempotency-Key", "b")
	var out reviewapi.List[reviewapi.BulkResult]
	if err := json.Unmarshal([]byte(body), &out); err != nil || len(out.Items) != 1 || out.Items[0].Problem == nil {
		t.Fatalf("%s: %v", body, err)
	}
	if p := out.Items[0].Problem; p.Type != "unknown" || p.Status != http.StatusServiceUnavailable || p.Decision != f.decided[100].ID || strings.Contains(body, "table-7") {
		t.Errorf("unknown: %s", body)
	}
	if len(logged) != 1 || !strings.Contains(logged[0].Error(), "table-7") {
		t.Errorf("the log was told %v", logged)
	}
}
