package handoff

import (
	"context"
	"fmt"
	"slices"
)

// stands checks the checkpoint by itself and the list of streams.
func (a *audit) stands(ctx context.Context) error {
	_, err := a.look(ctx, func(ctx context.Context, cp Checkpoint, s *sheet) error {
		switch {
		case cp.Closing != 0 && cp.Closing+1 != cp.Version:
			s.broken(FoundClosingWrong, 0, "the checkpoint at version %d is closing version %d: a reset closes the version right before", cp.Version, cp.Closing)
		case cp.ResumeCursor == "":
			s.broken(FoundNoCursor, 0, "the checkpoint at version %d has no cursor", cp.Version)
		}
		entries, err := a.State.Streams(ctx)
		if err != nil {
			return fmt.Errorf("list streams: %w", err)
		}
		if !slices.ContainsFunc(entries, func(e StreamEntry) bool { return e.Stream == a.stream }) {
			s.broken(FoundUnlisted, 0, "the stream has a checkpoint, and is not on the list of streams")
		}
		return nil
	})
	return err
}

// pages walks the pages, each with what led to it.
func (a *audit) pages(ctx context.Context) error {
	if err := a.chain.begin(ctx, a); err != nil {
		return err
	}
	after := a.from - 1
	for {
		pages, err := a.State.ListPages(ctx, a.stream, after, auditBatch)
		if err != nil {
			return fmt.Errorf("list pages: %w", err)
		}
		if a.cp, err = a.State.Checkpoint(ctx, a.stream); err != nil { // pages may have opened since
			return err
		}
		for _, p := range pages {
			if err := a.onePage(ctx, p); err != nil {
				return fmt.Errorf("version %d: %w", p.Version, err)
			}
			after = p.Version
			a.progress("pages")
		}
		if len(pages) < auditBatch {
			return a.chain.end(ctx, a)
		}
	}
}

func (a *audit) onePage(ctx context.Context, p Page) error {
	a.forgets = a.forgets || !p.ExpiresAt.IsZero()
	listed := true // the first look judges the page as listed
	s, err := a.look(ctx, func(ctx context.Context, cp Checkpoint, s *sheet) error {
		page := p
		if !listed {
			var err error
			if page, err = a.State.Page(ctx, a.stream, p.Version); absent(err) {
				return nil // forgotten meanwhile
			} else if err != nil {
				return err
			}
		}
		listed = false
		return a.page(ctx, cp, page, s)
	})
	if err != nil {
		return err
	}
	a.sum.Pages++
	a.sum.Events += s.events
	a.named += s.named
	a.tally.page(p.Version, s)
	if s.gone {
		a.sum.Forgotten++
	}
	if s.reread {
		a.sum.Reread++
	}
	return a.chain.page(ctx, a, p, s)
}

// page checks one page by itself: where it stands, what it says against its directory, its archive, its events.
func (a *audit) page(ctx context.Context, cp Checkpoint, p Page, s *sheet) error {
	if !a.placed(cp, p, s) {
		return nil
	}
	if err := a.leftBehind(ctx, cp, p, s); err != nil {
		return err
	}
	dir, err := a.State.Directory(ctx, p.Stream, p.Version)
	if absent(err) {
		if s.gone = a.due(p.ExpiresAt); !s.gone { // a store forgets the two one after the other
			s.broken(FoundNoDirectory, p.Version, "the page has no directory, so nobody knows its cursors and where its events lie")
		}
		s.partial = true
		return nil
	}
	if err != nil {
		return err
	}
	a.recorded(p, dir, s)
	s.expiring = dir.ReceiptRetention > 0
	if below(dir.AppliedBefore, a.chain.applied) {
		s.broken(FoundAppliedFell, p.Version, "the applied position was %s when it opened, and %s before", dir.AppliedBefore, a.chain.applied)
	}
	s.reached = dir.AppliedBefore
	if passedBarrier(cp, p) && !p.Lost {
		s.reached = maxPosition(dir.AppliedBefore, dir.AppliedPosition)
	}
	if p.Lost {
		s.partial = true
		return a.lost(ctx, p, s)
	}
	return a.archivedPage(ctx, cp, p, dir, s)
}

// passedBarrier: the page was promoted. A reset marks the page it passed abandoned, and names it in closing until then.
func passedBarrier(cp Checkpoint, p Page) bool {
	return p.Version < cp.Version && p.Version != cp.Closing && !p.Abandoned
}

// placed checks that a page is where the checkpoint lets it be. Nothing more is to be said of one that is ahead.
func (a *audit) placed(cp Checkpoint, p Page, s *sheet) bool {
	switch {
	case p.Version > cp.Version:
		s.partial = true
		s.broken(FoundAhead, p.Version, "the page is ahead of the checkpoint at version %d", cp.Version)
		return false
	case p.Version < cp.Version:
		return true
	case p.Abandoned || p.Lost:
		s.broken(FoundMarkedOpen, p.Version, "the page is marked %s, and the checkpoint still stands at it", markOf(p))
	case cp.Closing != 0 && cp.Closing+1 == cp.Version:
		s.broken(FoundOpenClosing, p.Version, "the page is open, and version %d is still being closed after a reset", cp.Closing)
	case cp.Halt != nil:
		s.broken(FoundOpenHalted, p.Version, "the page is open, and the stream is halted (%s) over this version", cp.Halt.Reason)
	}
	return true
}

func markOf(p Page) string {
	if p.Lost {
		return "lost"
	}
	return "abandoned"
}

// leftBehind finds cached answers that nobody will use: whoever used them died before dropping them.
func (a *audit) leftBehind(ctx context.Context, cp Checkpoint, p Page, s *sheet) error {
	if p.Version >= cp.Version {
		return nil
	}
	old, err := a.State.Spool(ctx, p.Stream, p.Version)
	if err != nil {
		return fmt.Errorf("read spool: %w", err)
	}
	if len(old) > 0 {
		s.put(Leftover, FoundOldSpool, p.Version, ReceiptKey{}, fmt.Sprintf("%d cached answers of this version are still in the spool, and it is past", len(old)))
	}
	return nil
}

// recorded holds the page against its directory.
func (a *audit) recorded(p Page, dir Directory, s *sheet) {
	if dir.NextCursor == "" || dir.RequestCursor == "" {
		s.broken(FoundNoCursor, p.Version, "its directory lacks a cursor")
	} else if p.RequestCursorHash != dir.RequestCursor.Hash() || p.NextCursorHash != dir.NextCursor.Hash() {
		s.broken(FoundCursorMismatch, p.Version, "page and directory name different cursors")
	}
	events, end, whole := 0, int64(0), true
	for _, c := range dir.Chunks {
		events += c.Events
		whole = whole && c.Offset == end
		end = c.Offset + c.Length
	}
	switch {
	case p.Events != events || p.Chunks != len(dir.Chunks):
		s.broken(FoundCounts, p.Version, "the page counts %d events in %d chunks, its directory %d in %d", p.Events, p.Chunks, events, len(dir.Chunks))
	case !whole || (len(dir.Chunks) > 0) != (dir.Object.Key != ""):
		s.broken(FoundCounts, p.Version, "the chunks in its directory do not cover its events object")
	}
	for _, k := range p.ChunksDone.List() {
		if k >= p.Chunks {
			s.broken(FoundChunkUnknown, p.Version, "chunk %d counts as done, and the page has %d", k, p.Chunks)
		}
	}
}

// archivedPage checks the raw answer, then every chunk.
func (a *audit) archivedPage(ctx context.Context, cp Checkpoint, p Page, dir Directory, s *sheet) error {
	raw, err := a.readRaw(ctx, dir.Raw)
	switch {
	case err == nil && raw.Cursor.Hash() != p.RequestCursorHash && raw.Cursor != dir.RequestCursor:
		s.broken(FoundRawForeign, p.Version, "its raw answer was given to another cursor than the one it was asked with")
	case err == nil:
	case damaged(err) && a.objectsDue(cp, p):
		s.gone = true
	case damaged(err):
		s.broken(FoundRawGone, p.Version, "its raw answer: %s", damageText(err))
	default:
		s.unread(p.Version, "its raw answer", err)
	}
	if passedBarrier(cp, p) && !allDone(p) {
		s.broken(FoundChunksOpen, p.Version, "the page was turned with %d of %d chunks done", p.ChunksDone.Len(), p.Chunks)
	}
	r := &reading{audit: a, cp: cp, page: p, dir: dir, s: s}
	if a.rereads(dir) && err == nil {
		r.raw = &raw
	}
	return r.read(ctx)
}

// allDone is the barrier read strictly: each chunk by its number.
func allDone(p Page) bool { return len(allChunks(p)) == 0 }

// objectsDue reports that the archive's own rule may have taken the objects of a page that nothing waits for. An answer may be older than
// its page, and nobody knows by how much: half a life is surely not over before.
func (a *audit) objectsDue(cp Checkpoint, p Page) bool {
	return a.Timing.ArchiveLife > 0 && p.Version < cp.Version && p.Version != cp.Closing && a.now().Sub(p.OpenedAt) >= a.Timing.ArchiveLife/2
}

// lost checks that a page was given up by a decision.
func (a *audit) lost(ctx context.Context, p Page, s *sheet) error {
	found, err := a.chain.search(ctx, a, DecideLost, p.Version)
	if err == nil && found == nil && !a.forgets {
		s.broken(FoundLostUndecided, p.Version, "the page is marked lost, and no decision says so")
	}
	return err
}
