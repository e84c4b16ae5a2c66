package httpsource

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// fetchedAt lies after every event of the fixtures (1 March 2031) and before the resets of their throttles where told.
var fetchedAt = time.Date(2031, 3, 2, 0, 0, 0, 0, time.UTC)

type fixture struct {
	Exchanges []exchange `json:"exchanges"`
}

type exchange struct {
	Step    string `json:"step"`
	Request struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"request"`
	Response struct {
		Status   int             `json:"status"`
		Headers  map[string]any  `json:"headers"`
		Body     json.RawMessage `json:"body"`
		BodyText *string         `json:"body_text"`
	} `json:"response"`
	Expect string `json:"expect"`
}

func loadFixture(t testing.TB, name string) []exchange {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f.Exchanges
}

// answer is the exchange as Ask would have brought it.
func (x exchange) answer(c handoff.Cursor) handoff.Answer {
	a := handoff.Answer{Cursor: c, Status: x.Response.Status, FetchedAt: fetchedAt, Header: map[string][]string{}}
	a.Request = handoff.SentRequest{Method: x.Request.Method, URL: x.Request.URL}
	for name, v := range x.Response.Headers {
		switch v := v.(type) {
		case string:
			a.Header[name] = []string{v}
		case []any:
			for _, one := range v {
				a.Header[name] = append(a.Header[name], one.(string))
			}
		}
	}
	a.Body = x.Response.Body
	if x.Response.BodyText != nil {
		a.Body = []byte(*x.Response.BodyText)
	}
	return a
}

// secretTable is Secrets by name of variable.
type secretTable map[string]string

func (s secretTable) source() HostSecrets {
	return HostSecrets{
		LookupEnv: func(name string) (string, bool) { v, ok := s[name]; return v, ok },
		ReadFile:  func(string) ([]byte, error) { return nil, os.ErrNotExist },
	}
}

func mustSource(t testing.TB, def streamdef.Definition, opts Options) *Source {
	t.Helper()
	s, err := New(&def, secretTable{"KEY": "s3cret-value"}.source(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func bearer() *streamdef.Auth { return &streamdef.Auth{Bearer: &streamdef.Secret{Env: "KEY"}} }

func definitions() map[string]streamdef.Definition {
	return map[string]streamdef.Definition{
		"couchdb-changes": {
			Source: streamdef.Source{
				URL: "https://db.example.com/orders/_changes", Query: map[string]string{"limit": "2"},
				Auth:   &streamdef.Auth{Basic: &streamdef.Basic{User: "reader", Password: streamdef.Secret{Env: "KEY"}}},
				Events: "body.results", End: "body.pending == 0",
				Cursor: streamdef.Cursor{Token: "body.last_seq", Send: "query:since"},
			},
			Event:    streamdef.EventRules{ID: "[event.id, event.changes[0].rev]", Entity: "event.id"},
			Contract: streamdef.Contract{Positions: "arrival"},
		},
		"github-audit-log": {
			Source: streamdef.Source{
				URL:   "https://api.github.example/enterprises/acme-invented/audit-log",
				Query: map[string]string{"phrase": "created:>=2031-03-01", "include": "all", "order": "asc", "per_page": "2"},
				Auth:  bearer(), Events: "body", Cursor: streamdef.Cursor{Link: "next", KeepAtEnd: true},
			},
			Event: streamdef.EventRules{
				ID: "event._document_id", Position: `event["@timestamp"]`, PositionType: "time", TimeUnit: "ms",
				Entity: "event.actor", Time: `event["@timestamp"]`,
			},
			Contract: streamdef.Contract{Positions: "shared"},
		},
		"http-feeds": {
			Source: streamdef.Source{
				URL: "https://feeds.example.com/inventory", Events: "body",
				Cursor: streamdef.Cursor{Bookmark: "last.id", Resume: map[string]string{"query:lastEventId": "bookmark"}},
			},
			Event: streamdef.EventRules{ID: "event.id", Entity: "event.subject", Time: "event.time"},
		},
		"stripe-events": {
			Source: streamdef.Source{
				URL: "https://api.stripe.example/v1/events", Query: map[string]string{"limit": "2"},
				Auth:    &streamdef.Auth{Basic: &streamdef.Basic{User: "", Password: streamdef.Secret{Env: "KEY"}}},
				Refused: `status == 400 && body.error.code == "resource_missing"`,
				Events:  "body.data", End: "!body.has_more", NewestFirst: true,
				Cursor: streamdef.Cursor{Bookmark: "last.id", Resume: map[string]string{"query:ending_before": "bookmark"}},
			},
			Event: streamdef.EventRules{ID: "event.id", Position: "event.created", Entity: "event.data.object.id", Time: "event.created", TimeUnit: "s"},
		},
		"onepassword-events": {
			Source: streamdef.Source{
				URL: "https://events.1password.example/api/v2/auditevents", Method: "POST", Auth: bearer(),
				Events: "body.items", End: "!body.has_more", Body: map[string]any{"limit": 2},
				Cursor: streamdef.Cursor{Token: "body.cursor", Send: "body:cursor", Bookmark: "last.timestamp",
					Resume: map[string]string{"body:start_time": "bookmark"}},
			},
			Event: streamdef.EventRules{ID: "event.uuid", Position: "event.timestamp", PositionType: "time", Entity: "event.object_uuid", Time: "event.timestamp"},
		},
		"okta-system-log": {
			Source: streamdef.Source{
				URL:    "https://acme.okta.example/api/v1/logs",
				Query:  map[string]string{"since": "2031-03-01T00:00:00Z", "sortOrder": "ASCENDING", "limit": "2"},
				Auth:   &streamdef.Auth{Header: &streamdef.HeaderAuth{Name: "Authorization", Prefix: "SSWS ", Value: streamdef.Secret{Env: "KEY"}}},
				Events: "body", Cursor: streamdef.Cursor{Link: "next", TokenLife: time.Hour},
			},
			Event: streamdef.EventRules{ID: "event.uuid", Entity: "event.actor.id", Time: "event.published"},
		},
		"box-enterprise-events": {
			Source: streamdef.Source{
				URL:  "https://api.box.example/2.0/events",
				Auth: bearer(), Query: map[string]string{"stream_type": "admin_logs_streaming", "limit": "2"},
				Events: "body.entries", End: "body.chunk_size == 0",
				Cursor: streamdef.Cursor{Token: "body.next_stream_position", Send: "query:stream_position"},
			},
			Event: streamdef.EventRules{ID: "event.event_id", Entity: "event.source.item_id", Time: "event.created_at"},
		},
	}
}

// want is what an exchange must read as. An empty next means that the cursor is kept.
type want struct {
	kind      handoff.ReadKind
	class     string
	ids       string // space-separated
	positions string // joined by " | "
	next      string
	end       bool
	continues bool
	after     time.Duration
}

func check(t *testing.T, r handoff.Reading, w want) {
	t.Helper()
	if r.Kind != w.kind || r.Class != w.class || r.RetryAfter != w.after {
		t.Fatalf("kind %q class %q after %v (%s), want %q %q %v", r.Kind, r.Class, r.RetryAfter, r.Detail, w.kind, w.class, w.after)
	}
	var ids, positions []string
	for _, ev := range r.Events {
		if ev.Invalid != "" {
			t.Errorf("event %s is invalid: %s", ev.ID, ev.Invalid)
		}
		ids = append(ids, ev.ID)
		if !ev.Position.IsZero() {
			positions = append(positions, ev.Position.String())
		}
	}
	if got := strings.Join(ids, " "); got != w.ids {
		t.Errorf("ids %s, want %s", got, w.ids)
	}
	if got := strings.Join(positions, " | "); got != w.positions {
		t.Errorf("positions %s, want %s", got, w.positions)
	}
	if string(r.Next) != w.next || r.End != w.end || r.Continues != w.continues {
		t.Errorf("next %s end %v continues %v, want %s %v %v", r.Next, r.End, r.Continues, w.next, w.end, w.continues)
	}
}

// sent compares what would be asked with the fixture's request: the same parameters, decoded, and the same body.
func sent(t *testing.T, s *Source, c handoff.Cursor, x exchange) {
	t.Helper()
	cur, err := parseCursor(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.build(cur)
	if err != nil {
		t.Fatal(err)
	}
	got, want := mustURL(t, r.url), mustURL(t, x.Request.URL)
	if cur.token.kind == kindURL && r.url != x.Request.URL {
		t.Errorf("asks %s, want byte for byte %s", r.url, x.Request.URL)
	}
	if r.method != x.Request.Method || got.Path != want.Path || !reflect.DeepEqual(got.Query(), want.Query()) {
		t.Errorf("asks %s %s, want %s %s", r.method, r.url, x.Request.Method, x.Request.URL)
	}
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
}
