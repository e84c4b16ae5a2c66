package handoff

import (
	"context"
	"fmt"
	"strings"
)

// chain follows the cursor from version to version: through each page that was promoted, and through each reset by the record of it.
type chain struct {
	next    Version  // whose way in is to be judged next
	prior   *Page    // the page walked last
	odd     bool     // its cursors are in doubt already: nothing is judged by them
	applied Position // applied_position was at least this
	record  passings
}

func (c *chain) begin(ctx context.Context, a *audit) error {
	c.next = a.from
	if a.from == 1 {
		return nil
	}
	var err error
	c.prior, err = a.pageIf(ctx, a.from-1)
	return err
}

// pageIf reads a page that may not exist.
func (a *audit) pageIf(ctx context.Context, v Version) (*Page, error) {
	p, err := a.State.Page(ctx, a.stream, v)
	if absent(err) {
		return nil, nil
	}
	return &p, err
}

// page judges every version up to p, and remembers p for the next.
func (c *chain) page(ctx context.Context, a *audit, p Page, s *sheet) error {
	if p.Version > a.cp.Version {
		return nil // it is ahead, and was told so
	}
	c.applied = maxPosition(c.applied, s.reached)
	odd := false
	for _, f := range s.found {
		odd = odd || f.Kind == FoundCursorMismatch || f.Kind == FoundNoCursor || f.Kind == FoundNoDirectory
	}
	err := c.upTo(ctx, a, p.Version, &p, odd)
	c.prior, c.odd = &p, odd
	return err
}

// end judges the versions between the last page and the checkpoint.
func (c *chain) end(ctx context.Context, a *audit) error {
	if err := c.upTo(ctx, a, a.cp.Version, nil, false); err != nil {
		return err
	}
	_, err := a.look(ctx, func(_ context.Context, cp Checkpoint, s *sheet) error {
		if below(cp.AppliedPosition, c.applied) {
			s.broken(FoundAppliedFell, 0, "the applied position is %s, and was %s before", cp.AppliedPosition, c.applied)
		}
		return nil
	})
	return err
}

// upTo judges the way into each version up to v, whose page is p (nil: none).
func (c *chain) upTo(ctx context.Context, a *audit, v Version, p *Page, odd bool) error {
	for c.next <= v {
		w := way{chain: c, to: c.next, end: v}
		if c.prior != nil && c.prior.Version+1 == c.next {
			w.before, w.odd = c.prior, c.odd
		}
		if c.next == v {
			w.at, w.odd = p, w.odd || odd
		}
		skip, err := w.judge(ctx, a)
		if err != nil {
			return err
		}
		c.next = max(c.next, skip) + 1
	}
	return nil
}

// way is how the stream came to one version.
type way struct {
	*chain
	to, end    Version // the version judged, and the one it is judged on the way to
	before, at *Page   // of the version before, and its own; nil: none
	odd        bool
}

// judge gives the version up to which everything is told.
func (w way) judge(ctx context.Context, a *audit) (skip Version, err error) {
	again := false
	_, err = a.look(ctx, func(ctx context.Context, cp Checkpoint, s *sheet) error {
		if again {
			if w.before, err = a.pageIf(ctx, w.to-1); err != nil {
				return err
			}
			if w.at, err = a.pageIf(ctx, w.to); err != nil {
				return err
			}
		}
		passed, err := w.passed(ctx, a, cp, again)
		again = true
		if err != nil || w.to > cp.Version {
			return err
		}
		skip = w.told(a, cp, passed, s)
		return nil
	})
	return skip, err
}

// passed finds the reset that led here, unless a page did. The first look takes it from the record in step with the pages; the next ones
// search all of it, since clocks of several machines may have put it out of step.
func (w way) passed(ctx context.Context, a *audit, cp Checkpoint, again bool) (*passing, error) {
	switch {
	case w.to == 1 || w.before != nil && passedBarrier(cp, *w.before):
		return nil, nil
	case again:
		return w.search(ctx, a, DecideReset, w.to-1)
	}
	return w.record.find(ctx, a, w.to-1)
}

// told compares the cursor of this version with what led to it. Of several versions that nothing passed it tells at once.
func (w way) told(a *audit, cp Checkpoint, reset *passing, s *sheet) (skip Version) {
	hash := ""
	if w.at != nil {
		hash = w.at.RequestCursorHash
	}
	if w.to == cp.Version && cp.ResumeCursor != "" {
		now := cp.ResumeCursor.Hash()
		if hash != "" && hash != now && !w.odd {
			s.broken(FoundChainBroken, w.to, "the page is open, and was asked with another cursor than the checkpoint's")
			return 0
		}
		hash = now
	}
	switch promoted := w.before != nil && passedBarrier(cp, *w.before); {
	case w.to == 1:
	case promoted:
		if hash != "" && hash != w.before.NextCursorHash && !w.odd {
			s.broken(FoundChainBroken, w.to, "its cursor is not the next cursor of version %d, which was turned right before", w.to-1)
		}
	case reset != nil:
		if hash != "" && !strings.HasPrefix(hash, reset.cursor) && !w.odd {
			s.broken(FoundChainBroken, w.to, "its cursor is not the one that the reset of version %d set", w.to-1)
		}
	case a.forgets && w.before == nil:
		a.tally.unknown(w.to - 1)
	case a.forgets:
	case w.before != nil:
		s.broken(FoundResetUnknown, w.to-1, "the page is abandoned, and no reset is recorded that passed it")
	default:
		last := w.end
		if next := w.record.subject(); next >= w.to {
			last = min(last, next)
		}
		s.broken(FoundResetUnknown, w.to-1, "%s no page, and no reset is recorded", spanText(w.to-1, last-1))
		return last
	}
	return 0
}

func spanText(from, to Version) string {
	if from >= to {
		return fmt.Sprintf("version %d has", from)
	}
	return fmt.Sprintf("versions %d to %d have", from, to)
}
