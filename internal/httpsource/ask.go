package httpsource

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// keepTruncated is how much is kept of a body over the limit: enough for a person to see what it was.
const keepTruncated = 1 << 20

const maxRedirects = 3

// Ask sends one request, and a second one only if the source answered 401 and the secret has changed since it was fetched. It
// follows up to three redirects inside the origin; a fourth, or one that leads elsewhere, is the answer itself and reaches nobody.
func (s *Source) Ask(ctx context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	cur, err := parseCursor(c)
	if err != nil {
		return handoff.Answer{}, fmt.Errorf("ask source: %w: %w", handoff.ErrConfig, err)
	}
	req, err := s.build(cur)
	if err != nil {
		return handoff.Answer{}, fmt.Errorf("ask source: %w: %w", handoff.ErrConfig, err)
	}
	secret, err := s.creds.get(ctx, now)
	if err != nil {
		return handoff.Answer{}, fmt.Errorf("ask source: %w", err)
	}
	a, err := s.send(ctx, req, secret)
	if err == nil && a.Status == http.StatusUnauthorized {
		if fresh, changed := s.creds.renew(ctx, now, secret); changed {
			secret = fresh
			a, err = s.send(ctx, req, secret)
		}
	}
	if err != nil {
		return handoff.Answer{}, fmt.Errorf("ask source at %s: %w", hostPort(s.endpoint), s.told(err))
	}
	a.Cursor, a.FetchHash, a.FetchedAt = c, s.def.FetchHash, now.UTC()
	a.Request = s.archived(req, secret)
	return a, nil
}

// send asks, follows redirects inside the origin, and reads the body within its bound.
func (s *Source) send(ctx context.Context, r request, secret string) (handoff.Answer, error) {
	target, err := url.Parse(r.url)
	if err != nil {
		return handoff.Answer{}, errors.New("not a URL")
	}
	for hop := 0; ; hop++ {
		resp, err := s.roundTrip(ctx, r, target, secret)
		if err != nil {
			return handoff.Answer{}, err
		}
		next, follow := s.redirect(resp, target)
		if follow && hop < maxRedirects {
			_ = resp.Body.Close() // nothing of it is of use, and the next answer decides
			target = next
			continue
		}
		return s.receive(resp, secret)
	}
}

// roundTrip is one exchange on the wire. It goes below http.Client, which would follow redirects and quote URLs in its errors.
func (s *Source) roundTrip(ctx context.Context, r request, target *url.URL, secret string) (*http.Response, error) {
	u := *target
	u.RawQuery, u.Fragment, u.RawFragment = escapeQuery(u.RawQuery), "", ""
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return nil, errors.New("the request cannot be built")
	}
	req.Header = r.header.Clone()
	req.Header.Set("Accept-Encoding", "gzip")
	s.creds.sign(req.Header, secret)
	return s.transport.RoundTrip(req)
}

// redirect gives the target of a redirect that keeps method and body, if it stays on the origin.
func (s *Source) redirect(resp *http.Response, from *url.URL) (*url.URL, bool) {
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if s.def.Source.Method == http.MethodPost {
			return nil, false
		}
	default:
		return nil, false
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return nil, false
	}
	to, err := resolve(s.endpoint, from, location)
	if err != nil {
		return nil, false
	}
	u, err := url.Parse(to)
	return u, err == nil
}

func (s *Source) receive(resp *http.Response, secret string) (handoff.Answer, error) {
	defer resp.Body.Close()
	body, err := s.readBody(resp)
	if err != nil {
		return handoff.Answer{}, err
	}
	h := resp.Header.Clone()
	if gzipped(resp) { // the archive holds what Read sees
		h.Del("Content-Encoding")
		h.Del("Content-Length")
	}
	a := handoff.Answer{Status: resp.StatusCode, Header: redactResponse(h, secret), Body: body}
	if int64(len(body)) > s.maxBody {
		a.Truncated = true
		a.Body = bytes.Clone(body[:min(s.maxBody, keepTruncated)])
	}
	return a, nil
}

// readBody reads at most one byte beyond the limit, counted after inflating, so that a small bomb stays small.
func (s *Source) readBody(resp *http.Response) ([]byte, error) {
	from := io.Reader(resp.Body)
	if gzipped(resp) {
		z, err := gzip.NewReader(resp.Body)
		if errors.Is(err, io.EOF) { // a 204 may say gzip and send nothing
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		from = z
	}
	return io.ReadAll(io.LimitReader(from, s.maxBody+1))
}

func gzipped(resp *http.Response) bool {
	enc := resp.Header.Get("Content-Encoding")
	return strings.EqualFold(enc, "gzip") || strings.EqualFold(enc, "x-gzip")
}

// askError has words that are safe to show: those of the network and TLS, or our own. What the other side sent, which the
// standard library quotes, stays in the chain.
type askError struct {
	says  string
	cause error
}

func (e *askError) Error() string { return e.says }
func (e *askError) Unwrap() error { return e.cause }

func (s *Source) told(err error) error {
	var op *net.OpError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &askError{fmt.Sprintf("no answer within %v", s.timeout), err}
	case errors.Is(err, context.Canceled):
		return &askError{"given up by the caller", err}
	case errors.Is(err, handoff.ErrConfig), errors.As(err, &op), errors.As(err, &dns), errors.As(err, &cert), errors.As(err, &unknown):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &askError{"the answer was cut off", err}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return &askError{"the answer says gzip and is not", err}
	}
	return &askError{"no HTTP answer", err}
}
