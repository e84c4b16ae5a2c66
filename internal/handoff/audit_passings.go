package handoff

import (
	"context"
	"fmt"
	"strings"
)

// passing is a decision that took a stream over a page: a reset, or a page that was given up.
type passing struct {
	kind    DecisionKind
	version Version // the page
	cursor  string  // the beginning of the hash of the cursor after a reset
}

// standingOf reads back what standing wrote into the record.
func standingOf(text string) (v, closing Version, cursor string) {
	_, at, _ := strings.Cut(text, " at version ")
	if _, err := fmt.Sscanf(at, "%d, cursor %s", &v, &cursor); err != nil {
		return 0, 0, ""
	}
	if _, rest, ok := strings.Cut(text, ", closing "); ok {
		if _, err := fmt.Sscanf(rest, "%d", &closing); err != nil {
			closing = 0
		}
	}
	return v, closing, strings.TrimSuffix(cursor, ",")
}

// passingOf reads a passing from the record; ok is false for every other decision.
func passingOf(r AuditRecord) (p passing, ok bool) {
	before, closing, _ := standingOf(r.Before)
	after, _, cursor := standingOf(r.After)
	switch {
	case r.Kind == DecideReset && after == before+1:
		return passing{r.Kind, before, cursor}, true
	case r.Kind == DecideLost && after == before+1:
		return passing{r.Kind, before, ""}, true
	case r.Kind == DecideLost && closing != 0:
		return passing{r.Kind, closing, ""}, true
	}
	return passing{}, false
}

// passings reads the record of decisions in step with the pages, a batch at a time.
type passings struct {
	batch []AuditRecord
	after string
	ended bool
	head  *passing
}

// find gives the reset of version v, if it is recorded; versions are asked for in ascending order.
func (ps *passings) find(ctx context.Context, a *audit, v Version) (*passing, error) {
	for {
		if ps.head != nil && ps.head.kind == DecideReset && ps.head.version >= v {
			if ps.head.version == v {
				return ps.head, nil
			}
			return nil, nil
		}
		ps.head = nil
		if len(ps.batch) == 0 {
			if ps.ended {
				return nil, nil
			}
			if err := ps.more(ctx, a); err != nil {
				return nil, err
			}
			continue
		}
		if p, ok := passingOf(ps.batch[0]); ok {
			ps.head = &p
		}
		ps.batch = ps.batch[1:]
	}
}

func (ps *passings) more(ctx context.Context, a *audit) error {
	rs, next, err := a.State.Audits(ctx, a.stream, ps.after, auditBatch)
	if err != nil {
		return fmt.Errorf("list decisions: %w", err)
	}
	for _, r := range rs {
		a.forgets = a.forgets || !r.ExpiresAt.IsZero()
	}
	ps.batch, ps.after, ps.ended = rs, next, next == ""
	return nil
}

// subject is the version that the next recorded reset passed; 0 if none is left.
func (ps *passings) subject() Version {
	if ps.head == nil {
		return 0
	}
	return ps.head.version
}

// search looks through the whole record for one passing.
func (*chain) search(ctx context.Context, a *audit, kind DecisionKind, v Version) (*passing, error) {
	var ps passings
	for !ps.ended {
		if err := ps.more(ctx, a); err != nil {
			return nil, err
		}
		for _, r := range ps.batch {
			if p, ok := passingOf(r); ok && p.kind == kind && p.version == v {
				return &p, nil
			}
		}
	}
	return nil, nil
}
