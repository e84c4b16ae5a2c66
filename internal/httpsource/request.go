package httpsource

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/expr"
)

// request is what will be sent, without credentials.
type request struct {
	method string
	url    string
	header http.Header
	body   []byte
}

// setting is one parameter of a request.
type setting struct {
	to place
	v  value
}

// build is the pure request for a cursor: by page token, else by bookmark, else the first one.
func (s *Source) build(c cursor) (request, error) {
	r := request{method: s.def.Source.Method, url: s.endpoint.String(), header: s.header()}
	if r.method == "" {
		r.method = http.MethodGet
	}
	var set []setting
	var err error
	switch {
	case c.token.kind == kindURL || !c.token.absent() && s.rules.send == (place{}) && s.linked():
		if r.url, err = resolve(s.endpoint, s.endpoint, c.token.text); err != nil {
			return r, fmt.Errorf("next URL: %w", err)
		}
		r.body, err = s.body(r.method, nil)
		return r, err
	case !c.token.absent() && s.rules.send == (place{}):
		return r, errors.New("there is a page token, and source.cursor.send does not say where it goes")
	case !c.token.absent():
		set = []setting{{s.rules.send, c.token}}
	case !c.bookmark.absent():
		set, err = s.resume(c.bookmark)
	}
	if err != nil {
		return r, err
	}
	return s.place(r, set)
}

// resume evaluates where the bookmark goes. An expression that gives the bookmark unchanged keeps its type.
func (s *Source) resume(b value) ([]setting, error) {
	if len(s.rules.resume) == 0 {
		return nil, errors.New("there is a bookmark, and source.cursor.resume does not say where it goes")
	}
	var out []setting
	for _, rule := range s.rules.resume {
		r, err := rule.expr.eval(map[string]any{"bookmark": b.text})
		if err != nil {
			return nil, err
		}
		v, err := scalar(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rule.expr.field, err)
		}
		if v.text == b.text {
			v.kind = b.kind
		}
		out = append(out, setting{rule.to, v})
	}
	return out, nil
}

// scalar reads a text or a number; null and "" are absent.
func scalar(r expr.Result) (value, error) {
	if r.IsNull() {
		return value{}, nil
	}
	text, err := r.Text()
	if err != nil {
		return value{}, err
	}
	if r.Kind() == expr.Number {
		return value{text, kindNumber}, nil
	}
	if text == "" {
		return value{}, nil
	}
	return value{text, kindText}, nil
}

// place puts every parameter where it goes; one that the definition sets as well gives way.
func (s *Source) place(r request, set []setting) (request, error) {
	query := maps.Clone(s.def.Source.Query)
	if query == nil {
		query = map[string]string{}
	}
	var inBody []setting
	for _, p := range set {
		switch p.to.in {
		case "query":
			query[p.to.name] = p.v.text
		case "body":
			inBody = append(inBody, p)
		case "header":
			if !headerValue(p.v.text) {
				return r, fmt.Errorf("header %s: %w", p.to.name, errHeader)
			}
			r.header.Set(p.to.name, p.v.text)
		}
	}
	u := *s.endpoint
	u.RawQuery = joinQuery(u.RawQuery, query)
	r.url = u.String()
	var err error
	r.body, err = s.body(r.method, inBody)
	return r, err
}

// joinQuery keeps the configured query byte for byte, but for parameters that are set anew, which follow in order of name.
func joinQuery(raw string, set map[string]string) string {
	var parts []string
	for part := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if _, again := set[name]; !again && part != "" {
			parts = append(parts, part)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(set[name]))
	}
	return strings.Join(parts, "&")
}

// body gives the JSON body of a POST, with parameters at their dotted paths; numbers digit for digit.
func (s *Source) body(method string, set []setting) ([]byte, error) {
	if method != http.MethodPost {
		if len(set) > 0 {
			return nil, errors.New("a body needs method POST")
		}
		return nil, nil
	}
	root := cloneMap(s.def.Source.Body)
	for _, p := range set {
		at := root
		path := strings.Split(p.to.name, ".")
		for _, step := range path[:len(path)-1] {
			below, ok := at[step].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[step] = below
			}
			at = below
		}
		at[path[len(path)-1]] = p.v.json()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(root); err != nil {
		return nil, errors.New("source.body cannot be written as JSON")
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func (v value) json() any {
	switch v.kind {
	case kindNone:
		return nil
	case kindNumber:
		return json.Number(v.text)
	}
	return v.text
}

// cloneMap copies the maps, which get parameters set into them; everything else is only read.
func cloneMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if below, ok := v.(map[string]any); ok {
			v = cloneMap(below)
		}
		out[k] = v
	}
	return out
}

// header gives the headers that every request has. A proxy's stale page would be taken for the source's end.
func (s *Source) header() http.Header {
	h := http.Header{
		"User-Agent":    {"turnleaf"},
		"Accept":        {"application/json, application/*+json;q=0.9, */*;q=0.1"},
		"Cache-Control": {"no-cache"},
	}
	if s.def.Source.Method == http.MethodPost {
		h.Set("Content-Type", "application/json")
	}
	for name, v := range s.def.Source.Headers {
		h.Set(name, v)
	}
	return h
}
