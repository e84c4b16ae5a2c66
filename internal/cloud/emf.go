package cloud

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// This file writes CloudWatch's embedded metric format: a JSON line that CloudWatch Logs turns into metrics, without a call and without
// a permission (docs/decisions/0008-emf.md).

// maxDimension is the longest value of a dimension that we send; CloudWatch takes 1,024 characters.
const maxDimension = 250

// tally is numbers by metric name.
type tally map[string]float64

// emfDefinition names a metric of a line.
type emfDefinition struct {
	Name string
	Unit Unit
}

// emfDirective says which members of the line are metrics, and under which dimensions.
type emfDirective struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []emfDefinition
}

// emfLine is one line to be.
type emfLine struct {
	meter     Meter
	at        time.Time
	requestID string
	service   tally          // metrics without a stream
	stream    handoff.Stream // of the metrics that have one; may be empty if there are none
	streams   tally
}

// write puts the line out, with one Write, so that lines never mix. Nothing is written for no numbers.
func (l emfLine) write(w io.Writer) error {
	root := map[string]any{"Service": dimension(l.meter.Service)}
	var directives []emfDirective
	add := func(t tally, byStream bool, sets ...[]string) {
		d := emfDirective{Namespace: l.meter.Namespace, Dimensions: sets}
		for _, m := range Metrics() { // in the order of the list: the same numbers give the same bytes
			if v, ok := t[m.Name]; ok && m.ByStream == byStream {
				d.Metrics = append(d.Metrics, emfDefinition{m.Name, m.Unit})
				root[m.Name] = v
			}
		}
		if len(d.Metrics) > 0 {
			directives = append(directives, d)
		}
	}
	add(l.service, false, []string{"Service"})
	switch {
	case l.stream == "": // of messages that name no stream that we know
		add(l.streams, true, []string{"Service"})
	case l.meter.ByStream:
		root["Stream"] = dimension(string(l.stream))
		add(l.streams, true, []string{"Service", "Stream"}, []string{"Service"})
	default:
		add(l.streams, true, []string{"Service"})
	}
	if len(directives) == 0 {
		return nil
	}
	if l.requestID != "" {
		root["request_id"] = l.requestID
	}
	root["_aws"] = map[string]any{"Timestamp": l.at.UnixMilli(), "CloudWatchMetrics": directives}
	line, err := json.Marshal(root)
	if err != nil {
		return fmt.Errorf("encode metrics: %w", err)
	}
	if _, err = w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}

// dimension makes text fit for a dimension's value: printable ASCII, not empty, no colon first, bounded. Two names never become one:
// what had to be changed carries a digest.
func dimension(s string) string {
	fits := s != "" && len(s) <= maxDimension && s[0] != ':' && strings.TrimSpace(s) == s
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c < 0x7f {
			b.WriteByte(c)
			continue
		}
		fits = false
		b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{s[i]})))
	}
	if fits {
		return s
	}
	const digest = 16
	clean := strings.TrimLeft(b.String(), ": ")
	return clean[:min(len(clean), maxDimension-digest-1)] + "#" + handoff.DigestOf([]byte(s))[:digest]
}

// add counts; a zero makes no entry.
func (t tally) add(name string, n int) {
	if n != 0 {
		t[name] += float64(n)
	}
}

// set keeps a gauge, a zero included.
func (t tally) set(name string, v float64) { t[name] = v }

// seconds keeps an age or a time that is left.
func (t tally) seconds(name string, d time.Duration) { t[name] = d.Round(time.Millisecond).Seconds() }

// names gives what was counted, for the log line.
func (t tally) names() []string { return slices.Sorted(maps.Keys(t)) }
