package httpsource

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/expr"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// failure is why an answer is not a page.
type failure struct {
	kind          handoff.ReadKind
	class, detail string
}

func (f *failure) Error() string { return f.detail }

func unreadable(class, detail string) *failure {
	return &failure{handoff.ReadUnreadable, class, detail}
}

// answer is what one Read works on.
type answer struct {
	*Source
	handoff.Answer
	cur   cursor
	vars  map[string]any
	empty bool // no body at all
	bad   error
}

// Read judges in this order: is it a throttle, a refusal of the cursor, a wish to be asked later, too large, a success, a page. An
// expression that cannot be evaluated over an answer says nothing there, so that the default speaks; only those that must give a
// page's content make it unreadable.
func (s *Source) Read(a handoff.Answer) handoff.Reading {
	r, err := s.read(a)
	if err == nil {
		return r
	}
	var f *failure
	if !errors.As(err, &f) {
		f = unreadable("schema", err.Error())
	}
	return handoff.Reading{Kind: f.kind, Class: f.class, Detail: f.detail}
}

func (s *Source) read(raw handoff.Answer) (handoff.Reading, error) {
	cur, err := parseCursor(raw.Cursor)
	if err != nil {
		return handoff.Reading{}, &failure{handoff.ReadMisconfigured, "cursor", err.Error()}
	}
	a := &answer{Source: s, Answer: raw, cur: cur}
	a.decode()
	if r, judged := a.refusal(); judged {
		return r, nil
	}
	if a.Truncated {
		return handoff.Reading{}, &failure{handoff.ReadTooLarge, "truncated", fmt.Sprintf("a body of more than %d bytes", s.maxBody)}
	}
	if err := a.succeeded(); err != nil {
		return handoff.Reading{}, err
	}
	return a.page()
}

// decode reads the body, if it is whole and JSON; why not is told later, if it matters.
func (a *answer) decode() {
	body := expr.Value{}
	switch a.empty = len(bytes.TrimSpace(a.Body)) == 0; {
	case a.empty || a.Truncated:
	case isHTML(a.Answer):
		a.bad = unreadable("html", "an HTML page in the place of JSON")
	case encoded(a.Answer):
		a.bad = unreadable("encoding", "a content encoding that was not asked for")
	default:
		v, err := expr.Decode(a.Body, expr.Limits{})
		if err != nil {
			a.bad = unreadable("json", err.Error())
		}
		body = v
	}
	a.vars = answerVars(a.Status, a.Header, body)
}

func isHTML(a handoff.Answer) bool {
	return strings.Contains(strings.ToLower(firstValue(a.Header, "Content-Type")), "html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

func encoded(a handoff.Answer) bool {
	enc := firstValue(a.Header, "Content-Encoding")
	return enc != "" && !strings.EqualFold(enc, "identity")
}

// refusal is every answer that is no page for reasons the source itself gives.
func (a *answer) refusal() (handoff.Reading, bool) {
	if throttled(a.Status, a.Header) {
		return a.unavailable("throttled"), true
	}
	// The narrower predicate first: where the bookmark can still help, a refused token is not a refused cursor.
	if !a.cur.token.absent() && !a.cur.bookmark.absent() && a.holds(a.rules.refusedToken, false) {
		return handoff.Reading{
			Kind: handoff.ReadTokenRefused, Class: a.httpClass(), Detail: fmt.Sprintf("status %d: the page token is refused", a.Status),
			Bookmark: cursor{bookmark: a.cur.bookmark}.encode(),
		}, true
	}
	if a.holds(a.rules.refused, a.Status == http.StatusGone) || a.holds(a.rules.refusedToken, false) {
		return handoff.Reading{
			Kind: handoff.ReadCursorRefused, Class: a.httpClass(), Detail: fmt.Sprintf("status %d: the cursor is refused", a.Status),
		}, true
	}
	if a.holds(a.rules.unavailable, laterStatus(a.Status)) {
		return a.unavailable(a.httpClass()), true
	}
	return handoff.Reading{}, false
}

func (a *answer) unavailable(class string) handoff.Reading {
	return handoff.Reading{
		Kind: handoff.ReadUnavailable, Class: class, Detail: fmt.Sprintf("status %d", a.Status),
		RetryAfter: retryAfter(a.Header, a.FetchedAt),
	}
}

func laterStatus(status int) bool {
	return status >= 500 || slices.Contains([]int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
	}, status)
}

// holds evaluates a predicate; without one, or where it has no value, otherwise is the answer.
func (a *answer) holds(p *program, otherwise bool) bool {
	if p == nil {
		return otherwise
	}
	b, err := p.bool(a.vars)
	if err != nil {
		return otherwise
	}
	return b
}

func (a *answer) httpClass() string { return fmt.Sprintf("http_%d", a.Status) }

// succeeded is nil for an answer that is a page. An empty one needs no body for its success predicate.
func (a *answer) succeeded() error {
	ok, err := a.successRule()
	switch {
	case ok && err == nil:
		return a.bad
	case a.Status >= 300 && a.Status < 400 && a.Status != http.StatusNotModified:
		return unreadable("redirect", fmt.Sprintf("status %d: redirected off the origin or too often; not followed", a.Status))
	case a.Status != http.StatusOK:
		return unreadable(a.httpClass(), fmt.Sprintf("status %d is no success", a.Status))
	case a.bad != nil:
		return a.bad
	case err != nil:
		return unreadable("schema", err.Error())
	}
	return unreadable("success", "source.success says that this is no success")
}

func (a *answer) successRule() (bool, error) {
	usual := a.Status == http.StatusOK || a.noContent()
	if a.rules.success == nil {
		return usual, nil
	}
	ok, err := a.rules.success.bool(a.vars)
	if err != nil && a.empty && usual {
		return true, nil
	}
	return ok, err
}

func (a *answer) noContent() bool {
	return a.Status == http.StatusNoContent || a.Status == http.StatusNotModified
}
