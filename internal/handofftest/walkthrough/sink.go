package walkthrough

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// sink is the effect under test. As a projection it leaves a trail in the entity's document: each event adds one to its own count and
// notes which place in the entity's order it took. As an outside sink it records calls.
type sink struct {
	kind    handoff.EffectKind
	window  time.Duration
	clock   *clock
	calls   []string
	answers map[string]handoff.CallResult
	onCall  func()
}

func (s *sink) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: s.kind, Timeout: 5 * time.Second, KeyWindow: s.window}
}

// Plan counts each event under its own name, and sets `last` to it. A second effect of one event shows as a count of 2, a missing one
// as none, a wrong order by the position kept on the document.
func (s *sink) Plan(e handoff.Event) ([]handoff.DocChange, error) {
	name := strings.Trim(e.ID, `"`)
	last, _ := json.Marshal(name)
	return []handoff.DocChange{
		{Entity: e.Entity, Set: map[string]json.RawMessage{"last": last}, Add: map[string]string{"n" + name: "1"}},
		{Entity: "all", Add: map[string]string{"total": "1"}},
	}, nil
}

func (s *sink) Call(_ context.Context, e handoff.Event, key string) handoff.CallResult {
	if want := handoff.DigestOf([]byte("")); key == want {
		return handoff.CallResult{Kind: handoff.CallRefused, Detail: "no key"}
	}
	name := strings.Trim(e.ID, `"`)
	s.calls = append(s.calls, name)
	if hook := s.onCall; hook != nil {
		s.onCall = nil
		hook()
	}
	if r, ok := s.answers[name]; ok {
		return r
	}
	return handoff.CallResult{Kind: handoff.CallDone}
}

// trail reads an entity's document: each event's count, then the last one, as "104 106 107 < 107".
func trail(d handoff.Doc) string {
	var names []string
	for k, v := range d.Fields {
		if name, ok := strings.CutPrefix(k, "n"); ok {
			if string(v) != "1" {
				name = fmt.Sprintf("%s×%s", name, v)
			}
			names = append(names, name)
		}
	}
	sort.Strings(names)
	if len(names) == 0 {
		return ""
	}
	var last string
	_ = json.Unmarshal(d.Fields["last"], &last)
	return strings.Join(names, " ") + " < " + last
}
