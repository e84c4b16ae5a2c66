package httpsource

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/expr"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// program is a compiled expression and the field it stands in; nil where the definition has none.
type program struct {
	field string
	p     *expr.Program
}

// eval names the field in the error; expr sees to it that nothing of the document is in it.
func (p *program) eval(vars map[string]any) (expr.Result, error) {
	r, err := p.p.Eval(vars)
	if err != nil {
		return r, fmt.Errorf("%s: %w", p.field, err)
	}
	return r, nil
}

func (p *program) bool(vars map[string]any) (bool, error) {
	r, err := p.eval(vars)
	if err != nil {
		return false, err
	}
	b, err := r.Bool()
	if err != nil {
		return false, fmt.Errorf("%s: %w", p.field, err)
	}
	return b, nil
}

// place is where a token or bookmark goes in a request.
type place struct {
	in   string // query, body, header
	name string
}

func parsePlace(s string) (place, error) {
	in, name, ok := strings.Cut(s, ":")
	if !ok || name == "" || (in != "query" && in != "body" && in != "header") {
		return place{}, errors.New("a place is query:NAME, body:NAME or header:NAME")
	}
	if in == "header" && !token(name) {
		return place{}, errors.New("not the name of a header")
	}
	return place{in, name}, nil
}

// token reports a name as RFC 9110 has it.
func token(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

type resumeRule struct {
	to   place
	expr *program
}

// rules is the definition, compiled.
type rules struct {
	success, refused, refusedToken, unavailable *program
	events, end                                 *program
	token, nextURL, bookmark                    *program
	send                                        place
	resume                                      []resumeRule // in order of their places
	id, position, entity, time, digest          *program
}

func compileRules(def *streamdef.Definition) (*rules, error) {
	src, ev, r := def.Source, def.Event, &rules{}
	answer := []string{"status", "headers", "body"}
	for _, c := range []struct {
		to         **program
		field, src string
		vars       []string
	}{
		{&r.success, "source.success", src.Success, answer},
		{&r.refused, "source.refused", src.Refused, answer},
		{&r.refusedToken, "source.refused_token", src.RefusedToken, answer},
		{&r.unavailable, "source.unavailable", src.Unavailable, answer},
		{&r.events, "source.events", src.Events, answer},
		{&r.end, "source.end", src.End, answer},
		{&r.token, "source.cursor.token", src.Cursor.Token, answer},
		{&r.nextURL, "source.cursor.next_url", src.Cursor.NextURL, answer},
		{&r.bookmark, "source.cursor.bookmark", src.Cursor.Bookmark, []string{"last"}},
		{&r.id, "event.id", ev.ID, []string{"event"}},
		{&r.position, "event.position", ev.Position, []string{"event"}},
		{&r.entity, "event.entity", entityExpr(ev), []string{"event"}},
		{&r.time, "event.time", ev.Time, []string{"event"}},
		{&r.digest, "event.digest", ev.Digest, []string{"event"}},
	} {
		var err error
		if *c.to, err = compile(c.field, c.src, c.vars...); err != nil {
			return nil, err
		}
	}
	if r.events == nil || r.id == nil {
		return nil, errors.New("source.events and event.id are needed")
	}
	return r, r.places(src.Cursor)
}

// entityExpr leaves out "none": each event is then its own lane, and has no entity.
func entityExpr(ev streamdef.EventRules) string {
	if ev.Entity == "none" {
		return ""
	}
	return ev.Entity
}

func (r *rules) places(c streamdef.Cursor) (err error) {
	if c.Send != "" {
		if r.send, err = parsePlace(c.Send); err != nil {
			return fmt.Errorf("source.cursor.send: %w", err)
		}
	} else if c.Token != "" {
		return errors.New("source.cursor.send is needed beside token")
	}
	for _, key := range slices.Sorted(maps.Keys(c.Resume)) {
		one := resumeRule{}
		if one.to, err = parsePlace(key); err != nil {
			return fmt.Errorf("source.cursor.resume: %w", err)
		}
		if one.expr, err = compile("source.cursor.resume", c.Resume[key], "bookmark"); err != nil {
			return err
		}
		r.resume = append(r.resume, one)
	}
	return nil
}

// linked reports that the page token is a URL.
func (s *Source) linked() bool { return s.rules.nextURL != nil || s.def.Source.Cursor.Link != "" }

// tokened reports that the definition says where a page token is found.
func (s *Source) tokened() bool { return s.rules.token != nil || s.linked() }

func compile(field, src string, vars ...string) (*program, error) {
	if src == "" {
		return nil, nil
	}
	p, err := expr.Compile(src, vars...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return &program{field, p}, nil
}

// answerVars are the variables of the source's expressions. Header names are lower case, and the first value counts.
func answerVars(status int, header map[string][]string, body expr.Value) map[string]any {
	first := make(map[string]string, len(header))
	for name, values := range header {
		if len(values) > 0 {
			first[strings.ToLower(name)] = values[0]
		}
	}
	return map[string]any{"status": status, "headers": first, "body": body}
}

// firstValue finds a header whatever its case, as an archived answer may have been written by anything.
func firstValue(header map[string][]string, name string) string {
	if v := http.Header(header).Get(name); v != "" {
		return v
	}
	for have, values := range header {
		if strings.EqualFold(have, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}
