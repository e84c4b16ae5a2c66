package reviewapi_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// fake is a protocol that says what it is told to and remembers what it was asked.
type fake struct {
	reviewapi.Reader // nil: what a test does not script is not asked
	mu               sync.Mutex
	decided          []handoff.Decision
	driven           []handoff.Stream
	answer           handoff.DecisionAnswer
	err              error // of every answer
	statusErrs       map[handoff.Stream]error
	entries          []handoff.StreamEntry
	statuses         map[handoff.Stream]handoff.StreamStatus
	receipts         map[handoff.ReceiptKey]handoff.Receipt
	event            handoff.Event
	eventErr         error
	violations       []handoff.Violation
	asked            string // stream, mark and limit of the last listing
	pages            []handoff.Page
	docs             []handoff.Doc
}

func (f *fake) Decide(_ context.Context, d handoff.Decision) (handoff.DecisionAnswer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decided = append(f.decided, d)
	answer := f.answer
	answer.Decision = d.ID
	return answer, f.err
}

func (f *fake) DriveNow(_ context.Context, s handoff.Stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.driven = append(f.driven, s)
}

func (f *fake) Status(_ context.Context, s handoff.Stream) (handoff.StreamStatus, error) {
	if err := f.statusErrs[s]; err != nil {
		return handoff.StreamStatus{}, err
	}
	return f.statuses[s], f.err
}

func (f *fake) EventOf(context.Context, handoff.Receipt) (handoff.Event, error) {
	return f.event, f.eventErr
}

func (f *fake) CheckInvariants(context.Context, handoff.Stream) ([]handoff.Violation, error) {
	return f.violations, f.err
}

func (f *fake) Streams(context.Context) ([]handoff.StreamEntry, error) { return f.entries, f.err }

func (f *fake) Receipts(context.Context, handoff.Stream, []handoff.ReceiptKey, bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	return f.receipts, f.err
}

func (f *fake) ListPages(_ context.Context, _ handoff.Stream, after handoff.Version, limit int) (out []handoff.Page, err error) {
	for _, p := range f.pages {
		if p.Version > after && len(out) < limit {
			out = append(out, p)
		}
	}
	return out, f.err
}

func (f *fake) ListDocs(_ context.Context, s handoff.Stream, after string, _ int) ([]handoff.Doc, string, error) {
	f.asked = string(s) + " " + after
	return f.docs, "on", f.err
}

// serve gives the API over the fake; its answers must fit the document.
func (f *fake) serve(t *testing.T, edit ...func(*reviewapi.Config)) http.Handler {
	t.Helper()
	c := reviewapi.Config{Engine: f, State: f, NewID: func() string { return "made-up" }}
	for _, e := range edit {
		e(&c)
	}
	return fitting(t, reviewapi.New(c))
}
