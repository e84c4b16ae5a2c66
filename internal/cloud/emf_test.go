package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// units are CloudWatch's, those of rates left out.
var units = []string{"Seconds", "Microseconds", "Milliseconds", "Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes", "Bits", "Percent", "Count", "None"}

// emf is a line read back by the rules of the embedded metric format's specification, without the encoder's types: values by dimension set
// and metric.
func emf(t *testing.T, line string) map[string]float64 {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(line), &root); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	meta, _ := root["_aws"].(map[string]any)
	stamp, ok := meta["Timestamp"].(float64)
	directives, _ := meta["CloudWatchMetrics"].([]any)
	if len(meta) != 2 || !ok || stamp != math.Trunc(stamp) || stamp < 1e12 || len(directives) == 0 || len(line) > 1<<20 {
		t.Fatalf("metadata %v", meta)
	}
	got := map[string]float64{}
	for _, one := range directives {
		d, _ := one.(map[string]any)
		ns, _ := d["Namespace"].(string)
		if len(d) != 3 || ns == "" || len(ns) > 255 || strings.HasPrefix(ns, "AWS/") {
			t.Errorf("directive %v", d)
		}
		sets, _ := d["Dimensions"].([]any)
		definitions, _ := d["Metrics"].([]any)
		if len(sets) == 0 || len(definitions) == 0 || len(definitions) > 100 {
			t.Errorf("%d dimension sets, %d metrics", len(sets), len(definitions))
		}
		for _, set := range sets {
			under := underDimensions(t, root, set)
			for _, one := range definitions {
				name, v := definition(t, root, one)
				got[under+" "+name] = v
			}
		}
	}
	return got
}

func underDimensions(t *testing.T, root map[string]any, set any) string {
	t.Helper()
	names, _ := set.([]any)
	if len(names) > 30 {
		t.Errorf("%d dimensions", len(names))
	}
	var under []string
	for _, n := range names {
		name, _ := n.(string)
		v, ok := root[name].(string)
		ascii := !strings.ContainsFunc(v, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsControl(r) })
		if !ok || len(v) == 0 || len(v) > 1024 || !ascii || v[0] == ':' || strings.TrimSpace(v) == "" || name != "Service" && name != "Stream" {
			t.Errorf("dimension %s is %q", name, v)
		}
		under = append(under, name+"="+v)
	}
	return strings.Join(under, ",")
}

func definition(t *testing.T, root map[string]any, one any) (string, float64) {
	t.Helper()
	d, _ := one.(map[string]any)
	name, _ := d["Name"].(string)
	unit, _ := d["Unit"].(string)
	v, ok := root[name].(float64)
	if len(d) != 2 || !regexp.MustCompile(`^[A-Za-z]{1,255}$`).MatchString(name) || !slices.Contains(units, unit) || !ok {
		t.Errorf("metric %v is %v", d, root[name])
	}
	return name, v
}

func written(t *testing.T, l emfLine) string {
	t.Helper()
	var b bytes.Buffer
	if err := l.write(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); b.Len() > 0 && (n != 1 || !strings.HasSuffix(b.String(), "\n")) {
		t.Errorf("%d line ends: %q", n, b.String())
	}
	return b.String()
}

func sameNumbers(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) { // maps are printed in order of their keys
		t.Errorf("%s: %v\nwant %v", what, got, want)
	}
}

var noon = time.Date(2031, 3, 1, 12, 0, 0, 0, time.UTC)

func TestALine(t *testing.T) {
	t.Parallel()
	l := emfLine{
		meter: Meter{Namespace: "Turnleaf", Service: "prod", ByStream: true}, at: noon, requestID: "r-1", service: tally{mTicks: 1},
		stream: "orders/eu", streams: tally{mPolls: 1, mHeadroom: -2.5, mHalted: 0},
	}
	text := written(t, l)
	sameNumbers(t, "by stream", emf(t, text), map[string]float64{
		"Service=prod Ticks": 1, "Service=prod Polls": 1, "Service=prod RetentionHeadroom": -2.5, "Service=prod Halted": 0,
		"Service=prod,Stream=orders/eu Polls": 1, "Service=prod,Stream=orders/eu RetentionHeadroom": -2.5, "Service=prod,Stream=orders/eu Halted": 0,
	})
	if !strings.Contains(text, `"request_id":"r-1"`) || !strings.Contains(text, fmt.Sprint(noon.UnixMilli())) {
		t.Error(text)
	}
	l.meter.ByStream = false
	if text = written(t, l); strings.Contains(text, "Stream") {
		t.Error(text)
	}
	sameNumbers(t, "by service", emf(t, text), map[string]float64{
		"Service=prod Ticks": 1, "Service=prod Polls": 1, "Service=prod RetentionHeadroom": -2.5, "Service=prod Halted": 0,
	})
	l.meter.ByStream, l.stream = true, ""
	if text = written(t, l); strings.Contains(text, "Stream") {
		t.Error(text)
	}
	l.service, l.streams = nil, tally{}
	if text = written(t, l); text != "" {
		t.Errorf("a line of no numbers: %s", text)
	}
	l.streams = tally{mPolls: 1}
	if err := l.write(full{}); !errors.Is(err, errFull) {
		t.Errorf("a pipe that is full: %v", err)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// Every metric there is makes one good line: none is too many, and no name meets a dimension's or the metadata's.
func TestEveryMetricOnOneLine(t *testing.T) {
	t.Parallel()
	l := emfLine{meter: Meter{Namespace: "N", Service: "s", ByStream: true}, at: noon, stream: "x", requestID: "r", service: tally{}, streams: tally{}}
	list := Metrics()
	n := 0
	for i, m := range list {
		if slices.ContainsFunc(list[:i], func(o Metric) bool { return o.Name == m.Name }) {
			t.Errorf("%s is listed twice", m.Name)
		}
		if m.ByStream {
			l.streams[m.Name], n = float64(i), n+2
		} else {
			l.service[m.Name], n = float64(i), n+1
		}
	}
	if got := emf(t, written(t, l)); len(got) != n {
		t.Errorf("%d numbers, want %d", len(got), n)
	}
}

// What CloudWatch would refuse as a dimension is changed, and two names stay two.
func TestDimensions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", maxDimension)
	names := []string{"orders", "orders/eu", "grüße", "gr%C3%BC%C3%9Fe", "", ":x", "x", " x", "x ", "a\nb", "a\x00b", long, long + "1", long + "2", "  ", "::"}
	seen := map[string]string{}
	for _, s := range names {
		d := dimension(s)
		if d == "" || len(d) > maxDimension || d[0] == ':' || strings.TrimSpace(d) == "" || strings.ContainsFunc(d, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q becomes %q", s, d)
		}
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q become %q", s, other, d)
		}
		seen[d] = s
	}
	for _, s := range []string{"orders", "orders/eu", "x", long, "gr%C3%BC%C3%9Fe"} {
		if d := dimension(s); d != s {
			t.Errorf("%q becomes %q", s, d)
		}
	}
}

func TestCountsAreNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		mEventsApplied: "events_applied", mConflicts: "cas_conflicts", "FailuresSourceThrottled": "failures_source_throttled", "Ticks": "ticks",
	} {
		if got := snake(name); got != want {
			t.Errorf("%s is %s in a log line, want %s", name, got, want)
		}
	}
	names := map[string]bool{}
	for _, m := range Metrics() {
		names[m.Name] = true
	}
	for _, step := range []string{"open", "promote", "turn", "drive", "halt", "conflict", "unknown", "decide", "sink_retry", "sink_refused", "sink_unknown"} {
		if name, n := countOf(handoff.Observation{Step: step}); !names[name] || n != 1 {
			t.Errorf("%s counts %d for %q", step, n, name)
		}
	}
	if name, n := countOf(handoff.Observation{Step: "chunk", Count: 9}); name != "" || n != 0 {
		t.Errorf("a step of the log alone counts %d for %q", n, name)
	}
}
