package streamdef

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// receiptMargin is how much longer than the source's retention finite receipts are kept: an event may be read on the last day
// of retention, and then wait in the queue (14 days), in the dead-letter queue (14 days), and for one function life.
const receiptMargin = 30 * day

// entityNone makes each event its own lane.
const entityNone = "none"

// check looks at what the keys mean together. It runs also after faults of single keys, so it trusts no value to be there.
func (r *reader) check(d *Definition) {
	r.checkName(d)
	for _, key := range []string{"source", "event", "effect"} {
		r.need(key)
	}
	if r.has("source") {
		r.checkRequest(&d.Source)
		r.checkCursor(&d.Source)
	}
	r.checkStart(d)
	if r.has("event") {
		r.need("event.id")
	}
	if d.Event.TimeUnit != "" && !r.has("event.time") {
		r.wrong("event.time_unit", "event.time beside it", "none")
	}
	if d.Event.PositionType != "" && !r.has("event.position") {
		r.wrong("event.position_type", "event.position beside it", "none")
	}
	r.checkContract(d)
	r.checkPolicy(d.Policy)
	r.checkEffect(d)
}

// need reports a key that is missing where it must be, unless what is above it is no map, which has been reported.
func (r *reader) need(path string) bool {
	if r.has(path) {
		return true
	}
	if above := r.at[parent(path)]; above != nil && above.Kind != yaml.MappingNode {
		return false
	}
	r.wrong(path, "it to be given", "nothing")
	return false
}

// one wants exactly one of the keys below path, and tells whether that is so.
func (r *reader) one(path string, keys ...string) {
	var have []string
	for _, k := range keys {
		if r.has(under(path, k)) {
			have = append(have, k)
		}
	}
	switch len(have) {
	case 0:
		r.wrong(path, "exactly one of "+oneOf(keys), "none")
	case 1:
	default:
		r.wrong(under(path, have[1]), "only one of "+oneOf(keys), strings.Join(have, " and "))
	}
}

func (r *reader) checkName(d *Definition) {
	name := fileName(d.Path)
	if !streamName.MatchString(name) {
		r.report(1, 1, "", "a file name of a-z, 0-9, _ and -, at most 63 long, before .yaml", fmt.Sprintf("%.80q", name))
	}
	if d.Name != "" && d.Name != name {
		r.wrong("name", fmt.Sprintf("the file's name, %q, or no name", name), fmt.Sprintf("%.80q", d.Name))
	}
	d.Name = name
}

func (r *reader) checkStart(d *Definition) {
	if d.Start == nil {
		return
	}
	if n := r.at["start"]; n != nil && n.Kind == yaml.MappingNode {
		r.one("start", "token", "bookmark", "time", "beginning")
	}
	if r.has("start.beginning") && !d.Start.Beginning {
		r.wrong("start.beginning", "true, or no start at all", "false")
	}
	if d.Start.Time != "" {
		if _, err := literalTime(d.Start.Time, time.Time{}); err != nil {
			r.wrong("start.time", "an RFC 3339 time, now, or now-24h", fmt.Sprintf("%.60q", d.Start.Time))
		}
	}
	c := d.Source.Cursor
	if d.Start.Token != "" && c.Token == "" && c.Link == "" && c.NextURL == "" && r.has("source.cursor") {
		r.wrong("start", "a start that source.cursor can take: bookmark, time or beginning", "a token, but source.cursor has none")
	}
	if (d.Start.Bookmark != "" || d.Start.Time != "") && c.Bookmark == "" && r.has("source.cursor") {
		r.wrong("start", "a start that source.cursor can take: token or beginning", "a bookmark, but source.cursor has none")
	}
}

// literalSecret are names of headers and parameters that carry credentials.
var literalSecret = regexp.MustCompile(`(?i)^(authorization|proxy-authorization|cookie|(x-)?(api|auth|access)[-_]?(key|token)|(client[-_]?)?secret|password)$`)

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func (r *reader) checkRequest(s *Source) {
	if r.need("source.url") && s.URL != "" {
		if wrong := checkURL(s.URL, s.AllowPrivate); wrong != "" {
			expected := "an absolute https URL"
			if s.AllowPrivate {
				expected = "an absolute http or https URL"
			}
			r.wrong("source.url", expected, wrong)
		}
	}
	if r.has("source.body") && s.Method != "POST" {
		r.wrong("source.body", "method: POST beside it", "GET")
	}
	r.need("source.events")
	for _, part := range []struct {
		path   string
		values map[string]string
	}{{"source.headers", s.Headers}, {"source.query", s.Query}} {
		for _, name := range sorted(part.values) {
			if literalSecret.MatchString(name) {
				r.wrong(under(part.path, name), "secrets under source.auth, by reference", "what looks like a credential")
			}
		}
	}
	for _, name := range sorted(s.Headers) {
		if !headerName.MatchString(name) || strings.ContainsAny(s.Headers[name], "\r\n\x00") {
			r.wrong(under("source.headers", name), "an HTTP header", "characters that none may have")
		}
	}
	r.checkAuth(s.Auth)
}

// checkURL says what is wrong with an address; a URL with a password in it is not repeated.
func checkURL(raw string, private bool) string {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return "one that cannot be read"
	case u.User != nil:
		return "one with a user in it (use source.auth)"
	case u.Host == "" || u.Hostname() == "":
		return "one without a host"
	case u.Scheme == "http" && !private:
		return "http (only with allow_private: true)"
	case u.Scheme != "http" && u.Scheme != "https":
		return "one that begins with another scheme"
	case u.Fragment != "":
		return "one with a fragment"
	}
	return ""
}

func (r *reader) checkAuth(a *Auth) {
	if a == nil {
		return
	}
	r.one("source.auth", "bearer", "basic", "header")
	if a.Bearer != nil {
		r.checkSecret("source.auth.bearer", *a.Bearer)
	}
	if a.Basic != nil {
		r.need("source.auth.basic.user")
		r.checkSecret("source.auth.basic.password", a.Basic.Password)
	}
	if a.Header != nil {
		if r.need("source.auth.header.name") && a.Header.Name != "" && !headerName.MatchString(a.Header.Name) {
			r.wrong("source.auth.header.name", "the name of an HTTP header", "characters that none may have")
		}
		r.checkSecret("source.auth.header.value", a.Header.Value)
	}
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkSecret wants a reference. What is not the name of a variable may be the secret itself, so it is not shown.
func (r *reader) checkSecret(path string, s Secret) {
	if n := r.at[path]; n != nil && n.Kind != yaml.MappingNode {
		return // reported
	}
	r.one(path, "env", "file", "ssm", "secrets_manager")
	if s.Env != "" && !envName.MatchString(s.Env) {
		r.wrong(path+".env", "the name of an environment variable", "characters that none may have")
	}
}

var target = regexp.MustCompile(`^(query|body|header):[^\s:]+$`)

// target wants query:NAME, body:NAME or header:NAME.
func (r *reader) target(path, value string, s *Source) {
	kind, name, _ := strings.Cut(value, ":")
	switch {
	case value == "":
	case !target.MatchString(value):
		r.wrong(path, "query:NAME, body:NAME or header:NAME", fmt.Sprintf("%.60q", value))
	case kind == "body" && s.Method != "POST":
		r.wrong(path, "method: POST for a value in the body", "GET")
	case kind == "header" && !headerName.MatchString(name):
		r.wrong(path, "the name of an HTTP header", "characters that none may have")
	}
}

func (r *reader) checkCursor(s *Source) {
	const at = "source.cursor"
	if !r.need(at) {
		return
	}
	tokens := []string{"token", "link", "next_url"}
	have := slices.DeleteFunc(slices.Clone(tokens), func(k string) bool { return !r.has(under(at, k)) })
	switch {
	case len(have) == 0 && !r.has(at+".bookmark"):
		r.wrong(at, "token, link, next_url or bookmark", "none of them")
	case len(have) > 1:
		r.wrong(under(at, have[1]), "only one of token, link or next_url", strings.Join(have, " and "))
	}
	r.together(at+".token", at+".send")
	r.together(at+".bookmark", at+".resume")
	if r.has(at+".token_life") && len(have) == 0 {
		r.wrong(at+".token_life", "token, link or next_url beside it", "none of them")
	}
	if r.has("source.refused_token") && (!r.has(at+".bookmark") || len(have) == 0) {
		r.wrong("source.refused_token", "a cursor with a token and a bookmark to go back to", "not both")
	}
	r.target(at+".send", s.Cursor.Send, s)
	if r.has(at+".resume") && len(r.at[at+".resume"].Content) == 0 {
		r.wrong(at+".resume", "at least one parameter", "none")
	}
	for _, name := range sorted(s.Cursor.Resume) {
		r.target(under(at+".resume", name), name, s)
	}
}

// together wants both keys or neither.
func (r *reader) together(a, b string) {
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		if r.has(pair[0]) && !r.has(pair[1]) {
			r.wrong(pair[0], pair[1]+" beside it", "none")
		}
	}
}
