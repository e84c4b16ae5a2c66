package aws

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

const racers = 50

// rounds is TURNLEAF_RACE_ROUNDS, or 200.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TURNLEAF_RACE_ROUNDS")
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("TURNLEAF_RACE_ROUNDS is %q: give a number of rounds", text)
	}
	return n
}

// Fifty racers promote every version, each from the checkpoint that it read: one is done, and it is the one whose token stands; all
// others are refused. A refusal although one's own token stands is the echo of a try whose answer was lost: done, too.
func TestOneRacerPromotesEachVersion(t *testing.T) {
	t.Parallel()
	store := ddbstate.New(cloud.DynamoDB(), cloud.Tables(t), ddbstate.Options{})
	if err := store.Commit(t.Context(), opening("start")); err != nil {
		t.Fatal(err)
	}
	for round := range rounds(t) {
		before, err := store.Checkpoint(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		errs := race(func(i int) error {
			next := before
			next.Version, next.Rev, next.ResumeCursor = before.Version+1, before.Rev+1, handoff.Cursor(fmt.Sprint("c", round+1))
			next.Token = fmt.Sprintf("%d.%d", round, i)
			return store.Commit(t.Context(), handoff.Tx{Token: next.Token, Stream: stream, Checkpoint: &handoff.CheckpointWrite{If: handoff.Guard{Rev: before.Rev}, Put: &next}})
		})
		after, err := store.Checkpoint(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		winners := 0
		for i, err := range errs {
			mine := after.Token == fmt.Sprintf("%d.%d", round, i)
			switch {
			case mine && (err == nil || errors.Is(err, handoff.ErrRefused)):
				winners++
			case err == nil || mine || !errors.Is(err, handoff.ErrRefused):
				t.Fatalf("round %d, racer %d: got %v, and %s stands", round, i, err, after.Token)
			}
		}
		if winners != 1 || after.Version != before.Version+1 || after.Rev != before.Rev+1 {
			t.Fatalf("round %d: %d winners, version %d after %d", round, winners, after.Version, before.Version)
		}
	}
}

// race lets all go at once and waits for all.
func race(do func(i int) error) []error {
	errs := make([]error, racers)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() {
			<-start
			errs[i] = do(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}
