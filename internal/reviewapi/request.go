package reviewapi

import (
	"crypto/rand"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Limits of a request.
const (
	maxBody      = 64 << 10
	defaultLimit = 50
	maxLimit     = 200
	maxActor     = 256 // bytes
	maxID        = 200 // bytes of an Idempotency-Key
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

// body reads one JSON object, and nothing that it does not know. Twice the same name, a name in other letters, or text that is no
// UTF-8 is refused: the standard library would change a cursor without a word.
func body(r *http.Request, into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return &statusError{http.StatusUnsupportedMediaType, "the body must be application/json"}
	}
	err = json.UnmarshalRead(http.MaxBytesReader(nil, r.Body, maxBody), into, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &statusError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", maxBody)}
	}
	return invalid("the body is not what the API describes: %.200s", err)
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

// plain reports one line of text: what a header carries unchanged, and what no line of a record can be forged with.
func plain(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) }

// actor is who is asking.
func (a *api) actor(r *http.Request) (string, error) {
	who := r.Header.Get(ActorHeader)
	if a.Actor != nil {
		var err error
		if who, err = a.Actor(r); err != nil {
			return "", fmt.Errorf("%w: %w", &statusError{http.StatusUnauthorized, "nobody vouches for who is asking"}, err)
		}
	}
	who = strings.TrimSpace(who)
	if who == "" || len(who) > maxActor || !plain(who) {
		return "", &statusError{http.StatusUnauthorized, "nobody says who is asking, in one line of text"}
	}
	return who, nil
}

// decisionID makes a request safe to repeat.
func (a *api) decisionID(r *http.Request) (string, error) {
	id := strings.TrimSpace(r.Header.Get("Idempotency-Key"))
	if len(id) > maxID || !plain(id) {
		return "", invalid("the Idempotency-Key has %d bytes: at most %d, of plain text", len(id), maxID)
	}
	if id == "" {
		id = a.NewID()
	}
	return id, nil
}
