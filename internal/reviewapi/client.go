package reviewapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Client speaks to an API, near or far. Its errors are the protocol's: ErrNotFound, *InvalidError, *ConflictError, ErrUnknown.
type Client struct {
	Base  string // e.g. http://127.0.0.1:4321
	Token string // of Loopback; empty sends none
	HTTP  http.RoundTripper
	// Coded sends names and ids in a form that an HTTP API of AWS hands on as it came; functions/review takes both.
	Coded bool
}

// maxAnswer bounds what a client reads.
const maxAnswer = 256 << 20

// InProcess answers requests by calling the handler, without a socket.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ h http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := &recorder{header: http.Header{}}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	p.h.ServeHTTP(rec, r)
	rec.WriteHeader(http.StatusOK) // counts if nothing was written
	return &http.Response{StatusCode: rec.status, Header: rec.header, Body: io.NopCloser(&rec.body), Request: r}, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the first status, as a server does.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// path joins escaped segments.
func path(s handoff.Stream, parts ...string) string {
	p := "/v1/streams/" + segment(string(s))
	for _, part := range parts {
		p += "/" + segment(part)
	}
	return p
}

// segment escapes whatever would end it, and the dots that would be taken for a way up.
func segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// coded rewrites an escaped path for a gateway that decodes it before it routes: a segment of more than letters, digits, _ and - becomes
// ~ and the base64url of its text. A slash in a name would end it otherwise, and a question mark the path.
func coded(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		text, err := url.PathUnescape(s)
		if err != nil || !strings.ContainsFunc(text, needsCode) {
			continue // escaped by segment, so it unescapes; or plain
		}
		segments[i] = "~" + base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	return strings.Join(segments, "/")
}

func needsCode(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// call sends one request and reads its answer into out.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, header http.Header, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := jsonv2.Marshal(in) // the standard library would change text that is no UTF-8 without a word
		if err != nil {
			return &handoff.InvalidError{Reason: "encode request: " + err.Error()}
		}
		body = bytes.NewReader(b)
	}
	if c.Coded {
		path = coded(path)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, body)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := c.HTTP.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w: %w", method, path, handoff.ErrUnknown, err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end, or given up
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s %s: %w: %w", method, path, handoff.ErrUnknown, err)
	}
	if resp.StatusCode != http.StatusOK {
		return problemError(resp.StatusCode, b)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s %s: decode answer: %w: %w", method, path, handoff.ErrUnknown, err)
	}
	return nil
}

// problemError gives a problem back as the error it was made from.
func problemError(status int, b []byte) error {
	var p Problem
	if err := json.Unmarshal(b, &p); err != nil || p.Type == "" {
		return fmt.Errorf("answer %d of something that is not this API: %w", status, handoff.ErrUnknown)
	}
	switch p.Type {
	case "not_found":
		return fmt.Errorf("%s: %w", strings.TrimSuffix(p.Detail, ": "+handoff.ErrNotFound.Error()), handoff.ErrNotFound)
	case "conflict":
		c := &handoff.ConflictError{Reason: p.Detail, Receipt: p.Receipt}
		if s := p.Checkpoint; s != nil {
			c.Checkpoint = &handoff.Checkpoint{Version: s.Version, Rev: s.Rev, Closing: s.Closing, Halt: s.Halt, Paused: s.Status == handoff.Paused}
		}
		return c
	case "unknown":
		return fmt.Errorf("%s: %w", p.Detail, handoff.ErrUnknown)
	case "unauthorized", "forbidden":
		return errors.New(p.Detail)
	}
	return &handoff.InvalidError{Reason: p.Detail}
}

func listQuery(after string) url.Values {
	q := url.Values{"limit": {strconv.Itoa(maxLimit)}}
	if after != "" {
		q.Set("after", after)
	}
	return q
}

func list[T any](ctx context.Context, c *Client, path, after string) ([]T, string, error) {
	var out List[T]
	err := c.call(ctx, http.MethodGet, path, listQuery(after), nil, nil, &out)
	return out.Items, out.Next, err
}

// Streams lists every stream, blocked ones first.
func (c *Client) Streams(ctx context.Context) ([]StreamLine, error) {
	items, _, err := list[StreamLine](ctx, c, "/v1/streams", "")
	return items, err
}

// Status reads one stream.
func (c *Client) Status(ctx context.Context, s handoff.Stream) (st handoff.StreamStatus, err error) {
	err = c.call(ctx, http.MethodGet, path(s), nil, nil, nil, &st)
	return st, err
}

// Held lists one batch of what waits for a person.
func (c *Client) Held(ctx context.Context, s handoff.Stream, after string) ([]handoff.Receipt, string, error) {
	return list[handoff.Receipt](ctx, c, path(s, "holds"), after)
}

// Event reads one receipt and its payload.
func (c *Client) Event(ctx context.Context, s handoff.Stream, key handoff.ReceiptKey) (v EventView, err error) {
	q := url.Values{}
	if key.Conflict != "" {
		q.Set("conflict", key.Conflict)
	}
	err = c.call(ctx, http.MethodGet, path(s, "events", key.EventID), q, nil, nil, &v)
	return v, err
}

// Audits lists one batch of the record of decisions.
func (c *Client) Audits(ctx context.Context, s handoff.Stream, after string) ([]handoff.AuditRecord, string, error) {
	return list[handoff.AuditRecord](ctx, c, path(s, "audit"), after)
}

// Pages lists one batch of pages, ascending.
func (c *Client) Pages(ctx context.Context, s handoff.Stream, after string) ([]handoff.Page, string, error) {
	return list[handoff.Page](ctx, c, path(s, "pages"), after)
}

// Docs lists one batch of the projection's documents.
func (c *Client) Docs(ctx context.Context, s handoff.Stream, after string) ([]handoff.Doc, string, error) {
	return list[handoff.Doc](ctx, c, path(s, "docs"), after)
}

// Check walks the invariants.
func (c *Client) Check(ctx context.Context, s handoff.Stream) ([]handoff.Violation, error) {
	items, _, err := list[handoff.Violation](ctx, c, path(s, "check"), "")
	return items, err
}

// Decide takes a decision, on an event or about a stream, under its own id.
func (c *Client) Decide(ctx context.Context, d handoff.Decision) (got handoff.DecisionAnswer, err error) {
	if !plain(d.Actor) || !plain(d.ID) { // no header carries it
		return got, &handoff.InvalidError{Reason: "an actor and an id are one line of text each"}
	}
	header := http.Header{}
	header.Set(ActorHeader, d.Actor)
	header.Set("Idempotency-Key", d.ID)
	if d.Kind.OnEvent() {
		q := url.Values{}
		if d.Event.Conflict != "" {
			q.Set("conflict", d.Event.Conflict)
		}
		in := EventDecision{Kind: d.Kind, Reason: d.Reason, Rev: d.Rev}
		err = c.call(ctx, http.MethodPost, path(d.Stream, "events", d.Event.EventID, "decisions"), q, header, in, &got)
		return got, err
	}
	in := StreamDecision{
		Kind: d.Kind, Reason: d.Reason, Rev: d.Rev, Cursor: d.Cursor, Check: d.Check, Answer: d.Answer, Version: d.Version, Definition: d.Definition,
	}
	err = c.call(ctx, http.MethodPost, path(d.Stream, "decisions"), nil, header, in, &got)
	return got, err
}
