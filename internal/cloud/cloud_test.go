package cloud

import (
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
