package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// What a deployment promises becomes waits in the right order: a margin inside the function's life, and a drive lease that a message
// hidden by the queue cannot outlive.
func TestTiming(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times  config.Times
		margin time.Duration
	}{
		{config.Times{Function: 30 * time.Second, Visibility: 3 * time.Minute, Tick: time.Minute}, 3 * time.Second},
		{config.Times{Function: time.Second, Visibility: 6 * time.Second, Tick: time.Second}, 500 * time.Millisecond},
		{config.Times{Function: 15 * time.Minute, Visibility: 90 * time.Minute, Tick: time.Hour}, 5 * time.Second},
	} {
		got := Timing(c.times)
		if got.Margin != c.margin || got.FunctionLife != c.times.Function || got.Tick != c.times.Tick {
			t.Errorf("%+v gives %+v", c.times, got)
		}
		if got.DriveLease <= c.times.Visibility || got.MaxDriveLease < got.DriveLease {
			t.Errorf("visibility %s gives a drive lease of %s, at most %s", c.times.Visibility, got.DriveLease, got.MaxDriveLease)
		}
	}
	if got, want := Timing(config.Times{Function: 30 * time.Second, Visibility: 3 * time.Minute, Tick: time.Minute}).DriveLease, handoff.DefaultTiming().DriveLease; got != want {
		t.Errorf("the template's drive lease is %s, the protocol's default %s", got, want)
	}
}

// One call of the SDK, with all its tries and pauses, ends inside the default life of a function.
func TestRetriesEndInside(t *testing.T) {
	t.Parallel()
	if longest, life := maxTries*callTimeout+(maxTries-1)*maxBackoff, handoff.DefaultTiming().FunctionLife; longest >= life {
		t.Errorf("a call may take %s, a function lives %s", longest, life)
	}
}

// Steps are counted until they are taken; what needs a person is told at once. No id of the source's is in a line.
func TestSteps(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := Log(&out, slog.LevelInfo)
	s := NewSteps(log)
	for _, o := range []handoff.Observation{
		{Step: "settle", Stream: "orders"}, {Step: "settle", Stream: "orders"}, {Step: "open", Stream: "orders"},
		{Step: "hold", Stream: "orders", EventID: `"ann@example.com"`}, {Step: "promote", Stream: "orders", Err: errors.New("refused")},
	} {
		s.Observe(t.Context(), o)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 2 || bytes.Contains(out.Bytes(), []byte("ann@")) {
		t.Errorf("%d lines: %s", n, &out)
	}
	out.Reset()
	log.LogAttrs(t.Context(), slog.LevelInfo, "done", s.Take())
	var line struct{ Steps map[string]int }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if want := (map[string]int{"settle": 2, "open": 1, "hold": 1, "promote": 1}); len(line.Steps) != len(want) {
		t.Errorf("counted %v, want %v", line.Steps, want)
	} else {
		for step, n := range want {
			if line.Steps[step] != n {
				t.Errorf("%s counted %d times, want %d", step, line.Steps[step], n)
			}
		}
	}
	out.Reset()
	if log.LogAttrs(t.Context(), slog.LevelInfo, "again", s.Take()); bytes.Contains(out.Bytes(), []byte("settle")) {
		t.Errorf("what was taken is told again: %s", &out)
	}
}
