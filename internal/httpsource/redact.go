package httpsource

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

const redacted = "[redacted]"

// secretHeader names the headers that never reach the archive, whoever set them.
func secretHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Set-Cookie2":
		return true
	}
	return false
}

// archived is the request without its secrets: what a person may read, and what Read gets.
func (s *Source) archived(r request, secret string) handoff.SentRequest {
	h := maps.Clone(r.header)
	for name, values := range h {
		if secretHeader(name) || s.authHeader(name) || holds(values, secret) {
			h[name] = []string{redacted}
		}
	}
	return handoff.SentRequest{Method: r.method, URL: redactQuery(r.url, secret), Header: h, Body: hide(string(r.body), secret)}
}

func (s *Source) authHeader(name string) bool {
	a := s.def.Source.Auth
	return a != nil && a.Header != nil && strings.EqualFold(a.Header.Name, name)
}

func holds(values []string, secret string) bool {
	for _, v := range values {
		if secret != "" && strings.Contains(v, secret) {
			return true
		}
	}
	return false
}

// redactQuery replaces parameters whose value is the secret, and leaves every other byte of the URL alone.
func redactQuery(raw, secret string) string {
	before, query, found := strings.Cut(raw, "?")
	if !found || secret == "" {
		return raw
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, v, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(v); err == nil && plain == secret {
			parts[i] = name + "=" + url.QueryEscape(redacted)
		}
	}
	return before + "?" + strings.Join(parts, "&")
}

// hide replaces the secret in a body. A very short one is left: it would be found everywhere.
func hide(body, secret string) string {
	if len(secret) < 6 {
		return body
	}
	return strings.ReplaceAll(body, secret, redacted)
}

// redactResponse drops cookies, and what echoes the secret.
func redactResponse(h http.Header, secret string) map[string][]string {
	out := h.Clone()
	for name, values := range out {
		if secretHeader(name) || holds(values, secret) {
			out[name] = []string{redacted}
		}
	}
	return out
}
