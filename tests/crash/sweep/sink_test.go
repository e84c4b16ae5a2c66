package sweep

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// effect is one thing that happened, once and for ever.
type effect struct{ Entity, ID string }

// sink is the effect under test. As a projection it writes documents; as an outside sink it keeps a record of its own, which is what
// counts, and answers some calls badly: the first call about an event in later is told to come again, and the first that takes
// effect about one in mute gets an answer that says nothing.
type sink struct {
	kind   handoff.EffectKind
	window time.Duration
	clock  *clock
	later  []string
	mute   []string
	record []effect
	keys   map[string]time.Time
	// onEffect is told of each.
	onEffect func(effect)
}

func (s *sink) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: s.kind, Timeout: 5 * time.Second, KeyWindow: s.window}
}

// Plan counts each event under its own name, and all of them in one document that every lane writes.
func (s *sink) Plan(e handoff.Event) ([]handoff.DocChange, error) {
	last, err := json.Marshal(bare(e.ID))
	if err != nil {
		return nil, err
	}
	return []handoff.DocChange{
		{Entity: e.Entity, Set: map[string]json.RawMessage{"last": last}, Add: map[string]string{"n" + bare(e.ID): "1"}},
		{Entity: "all", Add: map[string]string{"total": "1"}},
	}, nil
}

// Call takes effect once per key while the sink remembers it, or with each call if it knows no keys.
func (s *sink) Call(ctx context.Context, e handoff.Event, key string) handoff.CallResult {
	if ctx.Err() != nil {
		return handoff.CallResult{Kind: handoff.CallRetry, Detail: "the call was never sent"}
	}
	id := bare(e.ID)
	if i := slices.Index(s.later, id); i >= 0 {
		s.later = slices.Delete(slices.Clone(s.later), i, i+1)
		return handoff.CallResult{Kind: handoff.CallRetry, Detail: "come again"}
	}
	at, known := s.keys[key]
	if s.kind == handoff.Idempotent && known && s.clock.Now().Sub(at) < s.window {
		return handoff.CallResult{Kind: handoff.CallDone}
	}
	s.keys[key] = s.clock.Now()
	s.record = append(s.record, effect{e.Entity, id})
	s.onEffect(effect{e.Entity, id})
	if i := slices.Index(s.mute, id); i >= 0 {
		s.mute = slices.Delete(slices.Clone(s.mute), i, i+1)
		return handoff.CallResult{Kind: handoff.CallUnknown, Detail: "the line went dead"}
	}
	return handoff.CallResult{Kind: handoff.CallDone}
}

// did reports whether an event took effect.
func (s *sink) did(id string) bool {
	return slices.ContainsFunc(s.record, func(e effect) bool { return e.ID == id })
}
