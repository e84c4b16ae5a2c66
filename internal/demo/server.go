package demo

import (
	"encoding/json"
	"net/http"
	"time"
)

// The shape of pages.
const (
	// PageSize is how many events a full page has.
	PageSize = 20
	// Overlap is how many events of the page before each page gives again.
	Overlap = 2
	// EmptyAfter: the first page asked for after this many events is empty, and has a fresh token.
	EmptyAfter = 90
)

// page is an answer. HasMore false is the end for now; Next is always there.
type page struct {
	Events  []json.RawMessage `json:"events"`
	Next    string            `json:"next"`
	HasMore bool              `json:"has_more"`
}

// Handler serves GET /events?cursor=TOKEN (no cursor: from the beginning). An unknown cursor is 400. Each answer takes delay, as
// with a real API. The caller guards it: it knows no users.
func Handler(f Feed, now func() time.Time, delay time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
			return
		}
		var p place
		if token := r.URL.Query().Get("cursor"); token != "" {
			var err error
			if p, err = f.place(token); err != nil {
				answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
				return
			}
		}
		answer(w, http.StatusOK, f.page(p, f.Count(now())))
	})
	return mux
}

// page gives what follows p, of count events.
func (f Feed) page(p place, count int) page {
	if p.after >= EmptyAfter && !p.empty {
		return page{Events: []json.RawMessage{}, Next: f.token(place{p.after, true}), HasMore: true}
	}
	from := max(1, p.after+1-Overlap)
	to := max(p.after, min(from+PageSize-1, count))
	out := page{Events: []json.RawMessage{}, Next: f.token(place{to, p.empty}), HasMore: to < count}
	for k := from; k <= to; k++ {
		out.Events = append(out.Events, f.Record(k))
	}
	return out
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away has nobody to tell
}
