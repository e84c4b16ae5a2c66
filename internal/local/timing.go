package local

import (
	"crypto/rand"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Timing is what one machine promises about time. There is no visibility time to outlive: a message is lost only with its process,
// and then the first tick drives without asking the lease. So the leases are short, and a person never waits long.
func Timing() handoff.Timing {
	return handoff.Timing{
		Tick:       minTick,
		DriveLease: 5 * time.Second, MaxDriveLease: time.Minute,
		FunctionLife: 10 * time.Second, Margin: 2 * time.Second, PoisonStarts: 3,
		RetryBase: time.Second, RetryMax: 5 * time.Minute, MaxDelay: 15 * time.Minute,
		StallTicks: 3, UnreadableTicks: 3,
	}
}

// clock is the time of this machine, or of a test.
type clock func() time.Time

func (c clock) Now() time.Time { return c().UTC() }

// randomIDs gives 128 random bits as text.
type randomIDs struct{}

func (randomIDs) New() string { return rand.Text() }
