package reviewapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// StreamLine is a stream in the list: what blocks it, and since when.
type StreamLine struct {
	Stream     handoff.Stream  `json:"stream"`
	Definition string          `json:"definition"`
	Status     handoff.Status  `json:"status,omitempty"`
	Version    handoff.Version `json:"version,omitempty"`
	Rev        uint64          `json:"rev,omitempty"`
	// Error says why this one could not be read; then nothing is known of where it stands. The others are not held up by it.
	Error      string           `json:"error,omitempty"`
	Blocked    *handoff.Blocked `json:"blocked,omitempty"`
	Held       int              `json:"held"`
	HeldMore   bool             `json:"held_more,omitempty"`
	StartedAt  time.Time        `json:"started_at"`
	RetiredAt  time.Time        `json:"retired_at,omitzero"`
	OrphanedAt time.Time        `json:"orphaned_at,omitzero"`
}

// List is one batch of a listing; Next is the mark of the following one, empty at the end.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

func listOf[T any](items []T, next string) List[T] {
	if items == nil {
		items = []T{}
	}
	return List[T]{items, next}
}

// listStreams puts first what is blocked, and before it what could not be read and may be; what was retired comes last.
func (a *api) listStreams(w http.ResponseWriter, r *http.Request) error {
	entries, err := a.State.Streams(r.Context())
	if err != nil {
		return err
	}
	lines := make([]StreamLine, len(entries))
	var unread error
	for i, e := range entries {
		var err error
		if lines[i], err = a.line(r.Context(), e); err != nil && unread == nil {
			unread = err
		}
	}
	if unread != nil && !a.Explain && a.Report != nil { // the first stands for all: they mostly fail alike
		a.Report(r.Context(), unread)
	}
	slices.SortStableFunc(lines, func(x, y StreamLine) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), x.since(y), cmp.Compare(x.Stream, y.Stream))
	})
	return answer(w, listOf(lines, ""), 0)
}

// line reads one stream. An error is on its line, and given for the log.
func (a *api) line(ctx context.Context, e handoff.StreamEntry) (StreamLine, error) {
	l := StreamLine{Stream: e.Stream, Definition: e.Definition, StartedAt: e.StartedAt, RetiredAt: e.RetiredAt, OrphanedAt: e.OrphanedAt}
	st, err := a.Engine.Status(ctx, e.Stream)
	if err != nil {
		l.Error = "it could not be read: ask again"
		if errors.Is(err, handoff.ErrNotFound) {
			l.Error = "it is on the list and has no checkpoint"
		}
		if a.Explain {
			l.Error += " (" + err.Error() + ")"
		}
		return l, err
	}
	l.Status, l.Version, l.Rev, l.Blocked, l.Held, l.HeldMore = st.Status, st.Version, st.Rev, st.Blocked, st.Held, st.HeldMore
	return l, nil
}

// rank orders lines by how much they concern an operator.
func (l StreamLine) rank() int {
	switch {
	case !l.RetiredAt.IsZero():
		return 3
	case l.Error != "":
		return 0
	case l.Blocked != nil:
		return 1
	}
	return 2
}

// since puts the longest blocked first.
func (l StreamLine) since(o StreamLine) int {
	switch {
	case l.Blocked != nil && o.Blocked != nil:
		return l.Blocked.Since.Compare(o.Blocked.Since)
	case l.Blocked != nil:
		return -1
	case o.Blocked != nil:
		return 1
	}
	return 0
}

func (a *api) getStream(w http.ResponseWriter, r *http.Request) error {
	st, err := a.Engine.Status(r.Context(), stream(r))
	if err != nil {
		return err
	}
	return answer(w, st, st.Rev)
}

func (a *api) listHolds(w http.ResponseWriter, r *http.Request) error {
	after, limit, err := page(r)
	if err != nil {
		return err
	}
	rs, next, err := a.State.HeldReceipts(r.Context(), stream(r), after, limit)
	if err != nil {
		return err
	}
	return answer(w, listOf(rs, next), 0)
}

// EventView is a receipt and what the archive has of its event. The payload is text of somebody else: never markup, never a command.
type EventView struct {
	Receipt handoff.Receipt `json:"receipt"`
	// Raw is the record byte for byte, if it is UTF-8; else RawBase64 has it.
	Raw       *string `json:"raw,omitempty"`
	RawBase64 []byte  `json:"raw_base64,omitempty"`
	// Missing says why there is no payload.
	Missing string `json:"missing,omitempty"`
}

// Payload is the record's bytes, whichever field carries them.
func (v EventView) Payload() []byte {
	if v.Raw != nil {
		return []byte(*v.Raw)
	}
	return v.RawBase64
}

func eventKey(r *http.Request) handoff.ReceiptKey {
	return handoff.ReceiptKey{EventID: r.PathValue("event"), Conflict: r.URL.Query().Get("conflict")}
}

func (a *api) getEvent(w http.ResponseWriter, r *http.Request) error {
	key := eventKey(r)
	found, err := a.State.Receipts(r.Context(), stream(r), []handoff.ReceiptKey{key}, false)
	if err != nil {
		return err
	}
	receipt, ok := found[key]
	if !ok {
		return fmt.Errorf("event %s of %s: %w", key.EventID, stream(r), handoff.ErrNotFound)
	}
	view := EventView{Receipt: receipt}
	ev, err := a.Engine.EventOf(r.Context(), receipt)
	switch {
	case errors.Is(err, handoff.ErrNotFound) || errors.Is(err, handoff.ErrDigest):
		view.Missing = "the archive does not have this event any more, or not unharmed"
	case err != nil:
		return err
	case utf8.Valid(ev.Raw):
		text := string(ev.Raw)
		view.Raw = &text
	default:
		view.RawBase64 = ev.Raw
	}
	return answer(w, view, receipt.Rev)
}

func (a *api) listAudit(w http.ResponseWriter, r *http.Request) error {
	after, limit, err := page(r)
	if err != nil {
		return err
	}
	rs, next, err := a.State.Audits(r.Context(), stream(r), after, limit)
	if err != nil {
		return err
	}
	return answer(w, listOf(rs, next), 0)
}

func (a *api) listPages(w http.ResponseWriter, r *http.Request) error {
	after, limit, err := page(r)
	if err != nil {
		return err
	}
	var from uint64
	if after != "" {
		if from, err = strconv.ParseUint(after, 10, 64); err != nil {
			return invalid("after is %.40q: a page version", after)
		}
	}
	ps, err := a.State.ListPages(r.Context(), stream(r), handoff.Version(from), limit)
	if err != nil {
		return err
	}
	next := ""
	if len(ps) == limit {
		next = strconv.FormatUint(uint64(ps[len(ps)-1].Version), 10)
	}
	return answer(w, listOf(ps, next), 0)
}

func (a *api) listDocs(w http.ResponseWriter, r *http.Request) error {
	after, limit, err := page(r)
	if err != nil {
		return err
	}
	ds, next, err := a.State.ListDocs(r.Context(), stream(r), after, limit)
	if err != nil {
		return err
	}
	return answer(w, listOf(ds, next), 0)
}

// check walks a stream's whole record; it is for people and tests, not for a dashboard.
func (a *api) check(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Engine.CheckInvariants(r.Context(), stream(r))
	if err != nil {
		return err
	}
	return answer(w, listOf(found, ""), 0)
}
