package handoff

import (
	"context"
	"fmt"
)

// decidedAs is the terminal outcome that a decision on an event gives it; none for the others.
func decidedAs(k DecisionKind) Outcome {
	switch k {
	case DecideIgnore:
		return Ignored
	case DecideQuarantine:
		return Quarantined
	case DecideApplied:
		return Applied
	default:
		return ""
	}
}

// decisions checks that every terminal word of an operator still stands: its receipt never expires.
func (a *audit) decisions(ctx context.Context) error {
	after := ""
	for {
		rs, next, err := a.State.Audits(ctx, a.stream, after, auditBatch)
		if err != nil {
			return fmt.Errorf("list decisions: %w", err)
		}
		var words []AuditRecord
		var keys []ReceiptKey
		for _, r := range rs {
			if decidedAs(r.Kind) != "" {
				words, keys = append(words, r), append(keys, r.Event)
			}
		}
		found, err := a.Engine.receipts(ctx, a.stream, keys, false)
		if err != nil {
			return err
		}
		for _, w := range words {
			if err := a.stillStands(ctx, w, found); err != nil {
				return err
			}
		}
		a.sum.Decisions += len(rs)
		a.progress("decisions")
		if after = next; after == "" {
			return nil
		}
	}
}

func (a *audit) stillStands(ctx context.Context, w AuditRecord, found map[ReceiptKey]Receipt) error {
	_, err := a.look(ctx, func(ctx context.Context, _ Checkpoint, s *sheet) error {
		if found == nil {
			var err error
			if found, err = a.Engine.receipts(ctx, a.stream, []ReceiptKey{w.Event}, false); err != nil {
				return err
			}
		}
		r, ok := found[w.Event]
		found = nil
		switch want := decidedAs(w.Kind); {
		case !ok:
			s.brokenAt(FoundOverturned, 0, w.Event, "%s decided %s at %s, and there is no receipt", w.Actor, want, w.At.UTC().Format("2006-01-02 15:04:05Z"))
		case r.Outcome != want || r.By != w.Actor:
			s.brokenAt(FoundOverturned, r.PageVersion, w.Event, "%s decided %s at %s, and it is %s by %s",
				w.Actor, want, w.At.UTC().Format("2006-01-02 15:04:05Z"), r.Outcome, r.By)
		}
		return nil
	})
	return err
}
