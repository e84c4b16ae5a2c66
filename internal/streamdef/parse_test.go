package streamdef_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

var update = flag.Bool("update", false, "write the golden files anew")

func parse(t *testing.T, name, data string) *streamdef.Definition {
	t.Helper()
	d, err := streamdef.Parse(name, []byte(data))
	if err != nil {
		t.Fatalf("parse %s: %v", name, err)
	}
	return d
}

func TestBrokenDefinitions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = streamdef.Parse(filepath.Base(file), data)
			if err == nil {
				t.Fatal("accepted")
			}
			got := err.Error() + "\n"
			golden := strings.TrimSuffix(file, ".yaml") + ".want"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err2 := os.ReadFile(golden)
			if err2 != nil {
				t.Fatal(err2)
			}
			if got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			if strings.Contains(got, "hunter2") {
				t.Error("the message shows a secret")
			}
			checkProblems(t, err, string(data), got)
		})
	}
}

// checkProblems requires every line of the message to be a problem with a place inside the file.
func checkProblems(t *testing.T, err error, data, message string) {
	t.Helper()
	ps := streamdef.Problems(err)
	if len(ps) != strings.Count(message, "\n") {
		t.Errorf("%d problems, %d lines", len(ps), strings.Count(message, "\n"))
	}
	lines := strings.Split(data, "\n")
	for _, p := range ps {
		if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > len(lines[p.Line-1])+1 || p.Expected == "" || p.Found == "" {
			t.Errorf("problem %+v lies outside the file, or says nothing", p)
		}
	}
}

func TestWholeDefinition(t *testing.T) {
	t.Parallel()
	d, err := streamdef.LoadFile("testdata/good/orders.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*string{&d.Revision, &d.FetchHash, &d.IdentityHash, &d.PolicyHash, &d.EffectHash} {
		if len(*h) != 64 {
			t.Errorf("hash %q", *h)
		}
		*h = ""
	}
	n := func(s string) json.Number { return json.Number(s) }
	want := &streamdef.Definition{
		Name: "orders", Path: "testdata/good/orders.yaml", Start: &streamdef.Start{Token: "0"}, Every: 90 * time.Second, Pages: 5,
		Source: streamdef.Source{
			URL: "https://api.example.com/v1/events", Method: "POST", Headers: map[string]string{"Accept": "application/json"},
			Query: map[string]string{"limit": "100"},
			Body: map[string]any{"filter": map[string]any{"type": []any{
				"order", n("1"), n("90071992547409931234567890"), n("1.50"), true, nil}}},
			Auth:    &streamdef.Auth{Bearer: &streamdef.Secret{Env: "ORDERS_TOKEN"}},
			Timeout: 5 * time.Second, MaxBody: 20_000_000, MaxEvents: 1000,
			Success: "status == 200 && has(body.items)", Refused: "status == 410", RefusedToken: "status == 400",
			Unavailable: "status >= 500", Events: "body.items", End: "!body.has_more", NewestFirst: true,
			Cursor: streamdef.Cursor{Token: "body.next", Send: "body:cursor", Bookmark: "last.id",
				Resume: map[string]string{"query:since": "bookmark"}, KeepAtEnd: true, TokenLife: time.Hour},
		},
		Event: streamdef.EventRules{ID: "event.id", Position: "event.seq", PositionType: "number", Entity: "event.order",
			Time: "event.at", TimeUnit: "ms", Digest: "[event.id, event.total]"},
		Contract: streamdef.Contract{Order: "ordered", Positions: "unique", Gapless: true, Late: "hold", Token: "durable",
			HoldBack: 2 * time.Minute, Overlap: true, ReplayProof: "watermark", Retention: 720 * time.Hour, ReceiptRetention: 2160 * time.Hour},
		Policy: []streamdef.Rule{{Name: "tests", When: "event.test", Then: "ignored"},
			{Name: "big", When: "compare(event.total, \"1000000\") > 0 &&\n  entity != \"o-1\"\n", Then: "held"}},
		Effect: streamdef.Effect{Projection: &streamdef.Projection{
			Set: map[string]string{"total": "event.total", "last": "position"}, Add: map[string]string{"count": "1"},
			Delete: `event.type == "order.deleted"`, When: `event.type != "noise"`,
			Also: []streamdef.OtherDoc{{Entity: `"day:" + event.day`, Add: map[string]string{"orders": "1", "sum": "event.total"}, When: "true"}},
		}},
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	d, err := streamdef.LoadFile("testdata/good/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := streamdef.Contract{Order: "ordered", Positions: "arrival", Late: "hold", Token: "durable", ReplayProof: "receipts"}
	if d.Name != "minimal" || d.Start != nil || d.Every != time.Minute || d.Pages != 20 || d.Contract != want {
		t.Errorf("got %+v", d)
	}
	if s := d.Source; s.Method != "GET" || s.Timeout != 20*time.Second || s.MaxBody != 10<<20 || s.MaxEvents != 5000 {
		t.Errorf("source %+v", s)
	}
}

const base = `
source:
  url: https://api.example.com/events
  events: body.data
  cursor: {token: body.next, send: query:c, bookmark: last.id, resume: {query:after: bookmark}}
event: {id: event.id, position: event.seq}
effect: {projection: {set: {seen: true}}}
`

func TestFriendlyStarts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]streamdef.Start{
		`"0"`:                                 {Token: "0"},
		`"*"`:                                 {Token: "*"},
		`abc`:                                 {Token: "abc"},
		`beginning`:                           {Beginning: true},
		`{beginning: true}`:                   {Beginning: true},
		`{token: "bookmark:x"}`:               {Token: "bookmark:x"},
		`token:time:1`:                        {Token: "time:1"},
		`bookmark:evt_7`:                      {Bookmark: "evt_7"},
		`{bookmark: "7"}`:                     {Bookmark: "7"},
		`time:now-24h`:                        {Time: "now-24h"},
		`{time: now-30d}`:                     {Time: "now-30d"},
		`{time: now}`:                         {Time: "now"},
		`time:2031-01-02T03:04:05Z`:           {Time: "2031-01-02T03:04:05Z"},
		`{time: "2031-01-02T03:04:05+01:00"}`: {Time: "2031-01-02T03:04:05+01:00"},
	} {
		if d := parse(t, "a.yaml", "start: "+in+base); *d.Start != want {
			t.Errorf("%s: %+v", in, *d.Start)
		}
	}
	for _, in := range []string{`0`, `""`, `true`, `{}`, `{token: 0}`, `{token: "0", time: now}`, `{beginning: false}`, `[]`,
		`"bookmark:"`, `{time: 2031-01-02T03:04:05Z}`, `null`} {
		_, err := streamdef.Parse("a.yaml", []byte("start: "+in+base))
		if ps := streamdef.Problems(err); len(ps) == 0 || !strings.HasPrefix(ps[0].Path, "start") || ps[0].Line != 1 {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestStartCursor(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 5, 6, 7, 8, 9, 123, time.FixedZone("", 7200))
	for want, in := range map[string]streamdef.Start{
		`{"at":"token","v":"0"}`:                         {Token: "0"},
		`{"at":"bookmark","v":"evt_7"}`:                  {Bookmark: "evt_7"},
		`{"at":"beginning"}`:                             {Beginning: true},
		`{"at":"bookmark","v":"2031-05-06T05:08:09Z"}`:   {Time: "now"},
		`{"at":"bookmark","v":"2031-05-05T05:08:09Z"}`:   {Time: "now-24h"},
		`{"at":"bookmark","v":"2031-04-06T05:08:09Z"}`:   {Time: "now-30d"},
		`{"at":"bookmark","v":"2031-01-02T03:04:05.5Z"}`: {Time: "2031-01-02T03:04:05.5Z"},
	} {
		if got, err := streamdef.StartCursor(in, now); got != handoff.Cursor(want) || err != nil {
			t.Errorf("%+v: %s, %v", in, got, err)
		}
	}
	for _, in := range []streamdef.Start{{}, {Time: "now-"}, {Time: "now+1h"}, {Time: "tomorrow"}} {
		if got, err := streamdef.StartCursor(in, now); err == nil {
			t.Errorf("%+v: %s", in, got)
		}
	}
	for _, in := range []string{"", "time:", "time:x", "token:", "bookmark:"} {
		if s, err := streamdef.ParseStart(in); err == nil {
			t.Errorf("%q: %+v", in, s)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	d, err := streamdef.LoadFile("testdata/good/orders.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := handoff.Settings{
		Stream: "orders/eu", Definition: "orders", Interval: 90 * time.Second, Pages: 5, Lanes: handoff.LaneEntity,
		Contract: handoff.Contract{Ordered: true, Unique: true, Gapless: true, Overlap: true, Watermark: true,
			HoldBack: 2 * time.Minute, Retention: 720 * time.Hour, ReceiptRetention: 2160 * time.Hour},
		Revision: d.Revision, FetchHash: d.FetchHash, Identity: d.IdentityHash, Policy: d.PolicyHash, Effect: d.EffectHash,
	}
	if got := d.Settings("orders/eu"); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for in, want := range map[string]handoff.Contract{
		"":                                    {Ordered: true, Unique: true},
		"contract: {positions: shared}":       {Ordered: true},
		"contract: {late: apply}":             {Ordered: true, Unique: true, ApplyLate: true},
		"contract: {token: once}":             {Ordered: true, Unique: true, OnceToken: true},
		"contract: {replay_proof: watermark}": {Ordered: true, Unique: true, Watermark: true},
	} {
		if got := parse(t, "a.yaml", in+base).Settings("a"); got.Contract != want || got.Lanes != handoff.LanePage {
			t.Errorf("%s: %+v", in, got.Contract)
		}
	}
	arrival := strings.Replace(base, ", position: event.seq", ", entity: none", 1)
	for _, in := range []string{"", "contract: {order: none}", "contract: {positions: arrival}"} {
		got := parse(t, "a.yaml", in+arrival).Settings("a")
		if got.Contract != (handoff.Contract{Arrival: true}) || got.Lanes != handoff.LaneEvent {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

func TestHashes(t *testing.T) {
	t.Parallel()
	one := parse(t, "a.yaml", base)
	same := parse(t, "a.yaml", `
# The same, written in another way.
effect:
  projection: {set: {seen: true}}
event:
  position: "event.seq"   # quoted
  id: event.id
source:
  events: 'body.data'
  url: https://api.example.com/events
  cursor:
    resume: {"query:after": bookmark}
    bookmark: last.id
    send: query:c
    token: body.next
`)
	if one.Revision != same.Revision || one.FetchHash != same.FetchHash {
		t.Error("layout changes the hash")
	}
	hashes := func(d *streamdef.Definition) [5]string {
		return [5]string{d.Revision, d.FetchHash, d.IdentityHash, d.PolicyHash, d.EffectHash}
	}
	for edit, want := range map[[2]string][5]bool{
		{"body.data", "body.items"}:         {true, true},
		{"event.seq", "event.n"}:            {true, false, true},
		{"{seen: true}", "{seen: 1}"}:       {true, false, false, false, true},
		{"\nsource", "\nevery: 2m\nsource"}: {true},
		{"\nsource", "\npolicy: [{name: a, when: 'true', then: ignored}]\nsource"}: {true, false, false, true},
	} {
		a, b := hashes(one), hashes(parse(t, "a.yaml", strings.Replace(base, edit[0], edit[1], 1)))
		for i := range a {
			if (a[i] != b[i]) != want[i] {
				t.Errorf("%v: hash %d changed: %v", edit, i, a[i] != b[i])
			}
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	ds, err := streamdef.Load("testdata/good")
	if err != nil || len(ds) != 2 || ds[0].Name != "minimal" || ds[1].Name != "orders" {
		t.Errorf("%d definitions, %v", len(ds), err)
	}
	_, err = streamdef.Load("testdata/broken")
	files := map[string]bool{}
	for _, p := range streamdef.Problems(err) {
		files[filepath.Base(p.File)] = true
	}
	broken, _ := filepath.Glob("testdata/broken/*.yaml")
	if len(files) != len(broken) {
		t.Errorf("problems of %d files, want %d", len(files), len(broken))
	}
	if _, err := streamdef.Load("testdata/nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "a.yml", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(base), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := streamdef.Load(dir); len(streamdef.Problems(err)) != 1 {
		t.Errorf("two files of one name: %v", err)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"long":   base + "# " + strings.Repeat("x", 300<<10),
		"bytes":  base + "# \xff",
		"utf-16": utf16(base), // which YAML would take, at places that are not the file's
		"bomb":   "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]" + base,
		"deep":   "x: " + strings.Repeat("[", 20_000) + base,
		"nested": strings.Replace(base, "\n  events", "\n  method: POST\n  body: {a: "+strings.Repeat("[", 200)+strings.Repeat("]", 200)+"}\n  events", 1),
	} {
		if _, err := streamdef.Parse("a.yaml", []byte(data)); len(streamdef.Problems(err)) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func utf16(s string) string {
	return "\xff\xfe" + strings.Join(strings.Split(s, ""), "\x00") + "\x00"
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "24h": 24 * time.Hour, "30d": 720 * time.Hour, "1h30m": 90 * time.Minute,
		"": 0, "0s": 0, "-1s": 0, "0d": 0, "1.5d": 0, "10": 0, "5 m": 0, "99999999d": 0,
	} {
		if got, err := streamdef.ParseDuration(in); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for in, want := range map[string]int64{
		"4096": 4096, "20MB": 20_000_000, "20 MB": 20_000_000, "1kB": 1000, "20MiB": 20 << 20, "1GiB": 1 << 30, "7B": 7,
		"": -1, "MB": -1, "-1": -1, "1.5MB": -1, "1TB": -1, "999999999999999GiB": -1,
	} {
		if got, err := streamdef.ParseSize(in); (err == nil) != (want >= 0) || (err == nil && got != want) {
			t.Errorf("%q: %d, %v", in, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, dir := range []string{"good", "broken"} {
		files, _ := filepath.Glob("testdata/" + dir + "/*.yaml")
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := streamdef.Parse("a.yaml", data)
		if (d == nil) != (err != nil) || (err != nil && len(streamdef.Problems(err)) == 0) {
			t.Fatalf("%v, %v", d, err)
		}
	})
}
