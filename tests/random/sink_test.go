package random_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The moods of an outside sink, one a call.
const (
	sinkDone = iota
	sinkLost // done, and its answer lost
	sinkAway // not done, and nobody knows
	sinkBusy // surely not done
	sinkNo   // refused for good
	sinkMoods
)

const (
	callTimeout = 5 * time.Second
	keyWindow   = 10 * time.Minute
)

// effected is one effect that really happened at an outside sink.
type effected struct{ at time.Time }

// sink is the destination: as a projection it counts each event under its own name; as an outside sink it keeps its own record.
type sink struct {
	w     *world
	st    *stream
	moods []int
	made  map[string][]effected // by event id
}

// Traits declares the kind that the run drew.
func (s *sink) Traits() handoff.EffectTraits {
	t := handoff.EffectTraits{Timeout: callTimeout}
	switch s.w.set.Effect {
	case effectProjection:
		t.Kind = handoff.Transactional
	case effectKeyed, effectWindow:
		t.Kind = handoff.Idempotent
		if s.w.set.Effect == effectWindow {
			t.KeyWindow = keyWindow
		}
	default:
		t.Kind = handoff.Unsafe
	}
	return t
}

const (
	effectProjection = iota
	effectKeyed
	effectWindow
	effectUnsafe
)

// Plan counts the event on its entity's document and in the total. Some it refuses until the run is over.
func (s *sink) Plan(e handoff.Event) ([]handoff.DocChange, error) {
	if s.refuses(e.ID) {
		return nil, errors.New("cannot be projected")
	}
	last, _ := json.Marshal(e.ID) // text always encodes
	return []handoff.DocChange{
		{Entity: e.Entity, Set: map[string]json.RawMessage{"last": last}, Add: map[string]string{"n" + e.ID: "1"}},
		{Entity: "all", Add: map[string]string{"total": "1"}},
	}, nil
}

func (s *sink) refuses(id string) bool {
	return !s.w.healthy && (numberOf(id)+s.w.set.Effects)%13 == 12
}

// Call has an effect, or not, as the mood is. A call that was stuck for longer than its own timeout was given up by its client; at a sink
// that forgets keys it does nothing any more, at an unsafe one it may still arrive.
func (s *sink) Call(ctx context.Context, e handoff.Event, key string) handoff.CallResult {
	if ctx.Err() != nil {
		return handoff.CallResult{Kind: handoff.CallUnknown, Detail: "given up"}
	}
	sum := sha256.Sum256([]byte(string(s.st.name) + "\x00" + e.ID))
	if key != hex.EncodeToString(sum[:]) {
		s.w.fail("I4", "event %s was sent under the key %.8s", e.ID, key)
	}
	mood := sinkDone
	if len(s.moods) > 0 {
		mood, s.moods = s.moods[0], s.moods[1:]
	}
	stuck := s.w.clock.now.UnixNano()-s.w.current.since > int64(callTimeout)
	switch {
	case mood == sinkAway, stuck && s.w.set.Effect == effectWindow:
		return handoff.CallResult{Kind: handoff.CallUnknown, Detail: "no answer"}
	case mood == sinkBusy:
		return handoff.CallResult{Kind: handoff.CallRetry, Detail: "busy"}
	case mood == sinkNo: // also if it has had that key's effect already: a gateway before it knows no keys
		return handoff.CallResult{Kind: handoff.CallRefused, Detail: "no"}
	}
	if !s.remembers(e.ID) {
		s.made[e.ID] = append(s.made[e.ID], effected{s.w.clock.now})
		s.w.note("SINK %s has %s", s.st.name, e.ID)
	}
	s.st.model.called(s.w.current, e, stuck)
	if mood == sinkLost || stuck {
		return handoff.CallResult{Kind: handoff.CallUnknown, Detail: "its answer was lost"}
	}
	return handoff.CallResult{Kind: handoff.CallDone}
}

// madeSince reports whether the event had its effect at or after a time.
func (s *sink) madeSince(id string, at time.Time) bool {
	return slices.ContainsFunc(s.made[id], func(e effected) bool { return !e.at.Before(at) })
}

// remembers reports whether the sink knows the key of an earlier call.
func (s *sink) remembers(id string) bool {
	made := s.made[id]
	switch s.w.set.Effect {
	case effectKeyed:
		return len(made) > 0
	case effectWindow:
		return len(made) > 0 && s.w.clock.now.Sub(made[len(made)-1].at) < keyWindow
	}
	return false
}

// policy rules by an event's number.
type policy struct{ set setup }

// Judge is pure.
func (p policy) Judge(e handoff.Event) (handoff.Ruling, error) {
	switch p.verdict(e.ID) {
	case handoff.VerdictHold:
		return handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}, nil
	case handoff.VerdictQuarantine:
		return handoff.Ruling{Verdict: handoff.VerdictQuarantine, Rule: "spam"}, nil
	case handoff.VerdictIgnore:
		return handoff.Ruling{Verdict: handoff.VerdictIgnore, Rule: "dull"}, nil
	}
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

func (p policy) verdict(id string) handoff.Verdict {
	switch (numberOf(id)*5 + p.set.Rules) % 16 {
	case 1, 9:
		return handoff.VerdictHold
	case 6:
		return handoff.VerdictQuarantine
	case 11:
		return handoff.VerdictIgnore
	}
	return handoff.VerdictApply
}

// numberOf reads the number in an id of ours; 0 for a record without one.
func numberOf(id string) int {
	n, _ := strconv.Atoi(strings.Trim(id, `"e`))
	return n
}
