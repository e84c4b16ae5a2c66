package handoff

import (
	"context"
	"fmt"
)

// Violation is one broken promise, and where.
type Violation struct {
	Invariant string  `json:"invariant"`
	Version   Version `json:"version,omitempty"`
	EventID   string  `json:"event_id,omitempty"`
	Detail    string  `json:"detail"`
}

// Promise is the broken invariant in words.
func (v Violation) Promise() string { return promiseOf(v.Invariant) }

// CheckInvariants is Audit over the whole record, without a definition: every promise that is seen broken, none if it is an empty list.
// What changed at every look is left out: only what stands is a violation. An object that could not be read is an error, beside what
// was found.
func (e *Engine) CheckInvariants(ctx context.Context, s Stream) ([]Violation, error) {
	var found []Violation
	var unread error
	_, err := e.Audit(ctx, s, AuditOptions{}, func(f Finding) error {
		switch f.Level {
		case Broken:
			found = append(found, f.Violation)
		case Unread:
			unread = fmt.Errorf("check %s at version %d: %s", s, f.Version, f.Detail)
		case Changed, Leftover:
		}
		return nil
	})
	if err != nil {
		return found, err
	}
	return found, unread
}
