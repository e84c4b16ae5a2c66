package httpsource

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// errOrigin: a URL leads off the configured scheme, host and port. Nothing was asked of it.
var errOrigin = errors.New("it leads off the configured origin")

// parseEndpoint reads the configured URL. Plain http is for networks that were declared private.
func parseEndpoint(raw string, allowPrivate bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("source url: %w: not a URL", handoff.ErrConfig)
	case u.Scheme != "https" && (u.Scheme != "http" || !allowPrivate):
		return nil, fmt.Errorf("source url: %w: https is needed (plain http only with allow_private)", handoff.ErrConfig)
	case u.Hostname() == "" || u.Opaque != "":
		return nil, fmt.Errorf("source url: %w: no host", handoff.ErrConfig)
	case u.User != nil:
		return nil, fmt.Errorf("source url: %w: user and password belong under auth", handoff.ErrConfig)
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// resolve turns a reference the source gave into a whole URL, byte for byte where it was whole already, and refuses whatever is
// not on the endpoint's origin. The path may differ: sources rewrite slugs into ids.
func resolve(endpoint, base *url.URL, ref string) (string, error) {
	r, err := url.Parse(ref)
	if err != nil {
		return "", errors.New("it is not a URL")
	}
	u := base.ResolveReference(r)
	if !sameOrigin(endpoint, u) {
		return "", errOrigin
	}
	if r.IsAbs() {
		return ref, nil
	}
	return u.String(), nil
}

// sameOrigin compares scheme, host and port, and refuses userinfo, which would send credentials of the source's choosing.
func sameOrigin(a, b *url.URL) bool {
	return b.User == nil && a.Scheme == strings.ToLower(b.Scheme) &&
		strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	// A colon without digits is the default port as well; anything else after it fails to parse.
	if u.Scheme == "http" {
		return "80"
	}
	return "443"
}

// hostPort is for messages: where we ask, without path and query.
func hostPort(u *url.URL) string { return net.JoinHostPort(u.Hostname(), port(u)) }

// escapeQuery gives a query as it may stand in a request line: bytes that would end or break the line are escaped, all others
// stay as the source wrote them.
func escapeQuery(raw string) string {
	var b strings.Builder
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
