package reviewapi

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Limits of a request.
const (
	maxBody      = 64 << 10
	defaultLimit = 50
	maxLimit     = 200
)

func randomID() string { return rand.Text() }

func invalid(format string, args ...any) error {
	return &handoff.InvalidError{Reason: fmt.Sprintf(format, args...)}
}

func stream(r *http.Request) handoff.Stream { return handoff.Stream(r.PathValue("stream")) }

// page reads where a listing goes on and how much of it is asked for.
func page(r *http.Request) (after string, limit int, err error) {
	q := r.URL.Query()
	limit = defaultLimit
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxLimit {
			return "", 0, invalid("limit is %.20q: a number from 1 to %d", text, maxLimit)
		}
	}
	return q.Get("after"), limit, nil
}

// body reads one JSON object, and nothing that it does not know.
func body(r *http.Request, into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return &statusError{http.StatusUnsupportedMediaType, "the body must be application/json"}
	}
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return &statusError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", maxBody)}
		}
		return invalid("the body is not what the API describes: %.200s", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return invalid("the body holds more than one JSON object")
	}
	return nil
}

// seen is the rev that a decision is based on: If-Match, or the body's.
func seen(r *http.Request, inBody uint64, required bool) (uint64, error) {
	tag := r.Header.Get("If-Match")
	if tag == "" {
		if inBody == 0 && required {
			return 0, &statusError{http.StatusPreconditionRequired, "say which rev was seen: If-Match, or rev in the body"}
		}
		return inBody, nil
	}
	rev, err := strconv.ParseUint(strings.Trim(tag, `"`), 10, 64)
	if err != nil || rev == 0 {
		return 0, invalid("If-Match is %.40q: a rev in double quotes", tag)
	}
	if inBody != 0 && inBody != rev {
		return 0, invalid("If-Match and the body name different revs")
	}
	return rev, nil
}

// actor is who is asking.
func (a *api) actor(r *http.Request) (string, error) {
	who := r.Header.Get(ActorHeader)
	if a.Actor != nil {
		var err error
		if who, err = a.Actor(r); err != nil {
			return "", fmt.Errorf("%w: %w", &statusError{http.StatusUnauthorized, "nobody vouches for who is asking"}, err)
		}
	}
	if who == "" || len(who) > 256 {
		return "", &statusError{http.StatusUnauthorized, "nobody says who is asking"}
	}
	return who, nil
}

// decisionID makes a request safe to repeat.
func (a *api) decisionID(r *http.Request) (string, error) {
	id := r.Header.Get("Idempotency-Key")
	if len(id) > 200 {
		return "", invalid("the Idempotency-Key has %d bytes: at most 200", len(id))
	}
	if id == "" {
		id = a.NewID()
	}
	return id, nil
}
