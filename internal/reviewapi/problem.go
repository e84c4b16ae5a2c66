package reviewapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Problem is the answer to what could not be done, as application/problem+json (RFC 9457).
type Problem struct {
	Type   string `json:"type"` // a stable word: invalid, not_found, conflict, unknown, unauthorized, …
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Decision is the id to repeat the request with, where its outcome is unknown.
	Decision string `json:"decision,omitempty"`
	// On a conflict: what stands now, so that one can see who decided what, and when.
	Receipt    *handoff.Receipt `json:"receipt,omitempty"`
	Checkpoint *Standing        `json:"checkpoint,omitempty"`
}

// Standing is where a stream stands, without its token.
type Standing struct {
	Status  handoff.Status  `json:"status"`
	Version handoff.Version `json:"version"`
	Rev     uint64          `json:"rev"`
	Closing handoff.Version `json:"closing,omitempty"`
	Halt    *handoff.Halt   `json:"halt,omitempty"`
}

// statusError is a refusal by HTTP's own rules.
type statusError struct {
	status int
	detail string
}

func (e *statusError) Error() string { return e.detail }

// problemOf translates an error, once.
func problemOf(err error) Problem {
	var status *statusError
	var bad *handoff.InvalidError
	var conflict *handoff.ConflictError
	switch {
	case errors.As(err, &status):
		return Problem{Type: kindOf(status.status), Title: http.StatusText(status.status), Status: status.status, Detail: status.detail}
	case errors.As(err, &bad):
		return Problem{Type: "invalid", Title: "The request cannot be carried out as it stands", Status: http.StatusBadRequest, Detail: bad.Reason}
	case errors.As(err, &conflict):
		p := Problem{Type: "conflict", Title: "Something changed", Status: http.StatusConflict, Detail: conflict.Reason, Receipt: conflict.Receipt}
		if cp := conflict.Checkpoint; cp != nil {
			p.Checkpoint = &Standing{Status: cp.Status(), Version: cp.Version, Rev: cp.Rev, Closing: cp.Closing, Halt: cp.Halt}
		}
		return p
	case errors.Is(err, handoff.ErrNotFound):
		return Problem{
			Type: "not_found", Title: "There is no such thing", Status: http.StatusNotFound,
			Detail: "no such stream, or no such event or page in it",
		}
	}
	return Problem{
		Type: "unknown", Title: "The outcome is unknown", Status: http.StatusServiceUnavailable,
		Detail: "it may or may not have been done: repeat the same request with the same Idempotency-Key",
	}
}

func kindOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusPreconditionRequired:
		return "precondition_required"
	}
	return "invalid"
}

// idError carries the decision's id along with what happened to it.
type idError struct {
	id string
	error
}

func (e *idError) Unwrap() error { return e.error }

// problem translates an error for the caller. What a store says in its own words (why an outcome is unknown, under which key it found
// nothing) is told only to who may see inside. Else the cause of an unknown outcome goes to the log: to one of the two, never to both.
func (a *api) problem(ctx context.Context, err error) Problem {
	p := problemOf(err)
	var named *idError
	switch {
	case errors.As(err, &named) && p.Type == "unknown":
		p.Decision = named.id
	case p.Type == "unknown": // nothing was decided
		p.Title, p.Detail = "It could not be read", "the store did not answer: ask again"
	}
	switch {
	case a.Explain && p.Type == "unknown":
		p.Detail += " (" + err.Error() + ")"
	case a.Explain && p.Type == "not_found":
		p.Detail = err.Error()
	case a.Report != nil && p.Type == "unknown":
		a.Report(ctx, err)
	}
	return p
}

func writeProblem(w http.ResponseWriter, p Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	writeJSON(w, p.Status, p)
}

// answer writes a good answer; a rev becomes the ETag.
func answer(w http.ResponseWriter, v any, rev uint64) error {
	w.Header().Set("Content-Type", "application/json")
	if rev != 0 {
		w.Header().Set("ETag", strconv.Quote(strconv.FormatUint(rev, 10)))
	}
	writeJSON(w, http.StatusOK, v)
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(true)
	_ = enc.Encode(v) // the reader went away; nobody is left to tell
}
