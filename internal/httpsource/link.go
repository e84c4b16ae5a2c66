package httpsource

import (
	"slices"
	"strings"
)

// link is one link of a Link header (RFC 8288).
type link struct {
	target string
	params map[string]string // lower-case name to the first value given, unquoted
}

// has reports that rel is among the link's relations, whatever the case. A link about another page (anchor) is none of ours.
func (l link) has(rel string) bool {
	if _, elsewhere := l.params["anchor"]; elsewhere {
		return false
	}
	for r := range strings.FieldsSeq(l.params["rel"]) {
		if strings.EqualFold(r, rel) {
			return true
		}
	}
	return false
}

// parseLinks reads one Link header line. Commas and semicolons inside <…> and inside quotes belong to the value. What cannot be
// read ends the parse, and what was read before it stands: a header is never a reason to fail.
func parseLinks(line string) []link {
	var out []link
	for rest := line; ; {
		rest = strings.TrimLeft(rest, " \t,")
		if !strings.HasPrefix(rest, "<") {
			return out
		}
		target, after, closed := strings.Cut(rest[1:], ">")
		if !closed {
			return out
		}
		l := link{strings.TrimSpace(target), map[string]string{}}
		rest = l.readParams(after)
		out = append(out, l)
	}
}

// readParams reads `; name=value` pairs and gives what follows them.
func (l link) readParams(rest string) string {
	for {
		rest = strings.TrimLeft(rest, " \t")
		if !strings.HasPrefix(rest, ";") {
			return rest
		}
		rest = strings.TrimLeft(rest[1:], " \t")
		n := strings.IndexAny(rest, "=;,")
		if n < 0 {
			n = len(rest)
		}
		name := strings.ToLower(strings.TrimSpace(rest[:n]))
		rest = rest[n:]
		v := ""
		if strings.HasPrefix(rest, "=") {
			v, rest = paramValue(strings.TrimLeft(rest[1:], " \t"))
		}
		if _, again := l.params[name]; !again && name != "" { // the first rel counts (RFC 8288 §3.3)
			l.params[name] = v
		}
	}
}

// paramValue reads a quoted string with its escapes, or a bare token.
func paramValue(s string) (v, rest string) {
	if !strings.HasPrefix(s, `"`) {
		n := strings.IndexAny(s, ";,")
		if n < 0 {
			n = len(s)
		}
		return strings.TrimSpace(s[:n]), s[n:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// linkTargets gives the distinct targets of a relation over all Link lines, in order.
func linkTargets(header map[string][]string, rel string) []string {
	var out []string
	for name, lines := range header {
		if !strings.EqualFold(name, "Link") {
			continue
		}
		for _, line := range lines {
			for _, l := range parseLinks(line) {
				if l.has(rel) && !slices.Contains(out, l.target) {
					out = append(out, l.target)
				}
			}
		}
	}
	return out
}
