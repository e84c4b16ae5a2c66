package handoff

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"time"
)

// reading goes through the events of one page, a chunk at a time, and through their receipts, a batch at a time.
type reading struct {
	*audit
	cp   Checkpoint
	page Page
	dir  Directory
	s    *sheet
	raw  *Answer // of a page that is read again; nil: it is not

	whole  hash.Hash      // over the chunks read: the digest of the object that they cover
	all    []judged       // of a page that is read again
	edge   *judged        // an event at the applied position that is not terminal
	atEdge bool           // another one there is
	kept   *time.Duration // see retention
}

// judged is an event and the receipts that speak of it.
type judged struct {
	Event
	chunk  int
	own    *Receipt // nil: none
	second *Receipt // of this content as a second one under its id
}

// decisive is the receipt that an apply of this event comes to: its own, or where that was settled with another content, the conflict's.
func (j judged) decisive() *Receipt {
	if j.Conflict || j.second != nil && j.own != nil && j.own.Outcome.Terminal() && j.own.Digest != j.Digest {
		return j.second
	}
	return j.own
}

func (j judged) terminal() bool { r := j.decisive(); return r != nil && r.Outcome.Terminal() }

func (j judged) key() ReceiptKey {
	if r := j.decisive(); r != nil {
		return r.ReceiptKey
	}
	if j.Conflict {
		return j.conflictKey()
	}
	return j.Key()
}

// text says what became of it.
func (j judged) text() string {
	r := j.decisive()
	switch {
	case r == nil:
		return "without a receipt"
	case r.Outcome == Held:
		return "held (" + string(r.Reason) + ")"
	}
	return string(r.Outcome)
}

func (r *reading) read(ctx context.Context) error {
	r.whole = sha256.New()
	for k := range r.dir.Chunks {
		events, ok, err := r.chunk(ctx, k)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		r.inLanes(k, events)
		w := &writers{last: map[string]writer{}, at: map[string][]Position{}}
		for part := range slices.Chunk(events, auditBatch) {
			js, err := r.withReceipts(ctx, k, part)
			if err != nil {
				return err
			}
			if err := r.judge(ctx, js); err != nil {
				return err
			}
			r.wrote(w, js)
		}
		if err := r.projected(ctx, w); err != nil {
			return err
		}
	}
	if len(r.dir.Chunks) > 0 && hex.EncodeToString(r.whole.Sum(nil)) != r.dir.Object.Digest {
		r.s.broken(FoundEventsGone, r.page.Version, "its events object: the chunks are whole, and together they are not the object that was recorded")
	}
	if r.edge != nil && !r.atEdge {
		r.s.brokenAt(FoundPassed, r.page.Version, r.edge.key(), "the applied position is %s, its own, and it is %s", r.cp.AppliedPosition, r.edge.text())
	}
	return r.again(ctx)
}

// chunk reads one; ok is false where no more is to be read of this page.
func (r *reading) chunk(ctx context.Context, k int) (events []Event, ok bool, err error) {
	ref := r.dir.Chunks[k]
	b, err := r.Archive.GetRange(ctx, r.dir.Object.Key, ref.Offset, ref.Length)
	if err == nil && DigestOf(b) != ref.Digest {
		err = ErrDigest
	}
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case damaged(err) && r.objectsDue(r.cp, r.page):
		r.s.gone, r.s.partial = true, true
		return nil, false, nil
	case damaged(err):
		r.s.partial = true
		r.s.broken(FoundEventsGone, r.page.Version, "chunk %d of its events object: %s", k, damageText(err))
		return nil, false, nil
	case err != nil:
		r.s.unread(r.page.Version, fmt.Sprintf("chunk %d of its events object", k), err)
		return nil, false, nil
	}
	_, _ = r.whole.Write(b) // hash.Hash never fails
	events, err = unpackEvents(b)
	if err != nil {
		r.s.partial = true
		r.s.broken(FoundEventsGone, r.page.Version, "chunk %d of its events object: %v", k, err)
		return nil, false, nil
	}
	if len(events) != ref.Events {
		r.s.broken(FoundCounts, r.page.Version, "chunk %d has %d events in the archive, and %d in the directory", k, len(events), ref.Events)
	}
	r.s.events += len(events)
	return events, true, nil
}

// inLanes checks that each lane of a chunk is in source order, as an apply will go down it.
func (r *reading) inLanes(k int, events []Event) {
	last := map[string]int{}
	for _, ev := range events {
		if before, ok := last[ev.Lane]; ok && before >= ev.Index {
			r.s.brokenAt(FoundOutOfOrder, r.page.Version, ev.Key(), "event %d follows event %d in its lane of chunk %d", ev.Index, before, k)
		}
		last[ev.Lane] = ev.Index
	}
}

// withReceipts reads the receipts of up to a batch of events: first the one each comes to, then those of second contents.
func (r *reading) withReceipts(ctx context.Context, k int, events []Event) ([]judged, error) {
	keys := make([]ReceiptKey, len(events))
	for i, ev := range events {
		keys[i] = ev.Key()
		if ev.Conflict {
			keys[i] = ev.conflictKey()
		}
	}
	found, err := r.receipts(ctx, r.page.Stream, keys, false)
	if err != nil {
		return nil, err
	}
	var second []ReceiptKey
	for i, ev := range events {
		if own, ok := found[keys[i]]; ok && !ev.Conflict && own.Digest != ev.Digest {
			second = append(second, ev.conflictKey())
		}
	}
	others, err := r.receipts(ctx, r.page.Stream, second, false)
	if err != nil {
		return nil, err
	}
	js := make([]judged, len(events))
	for i, ev := range events {
		js[i] = judged{Event: ev, chunk: k}
		if own, ok := found[keys[i]]; ok && ev.Conflict {
			js[i].second = &own
		} else if ok {
			js[i].own = &own
		}
		if other, ok := others[ev.conflictKey()]; ok {
			js[i].second = &other
		}
	}
	return js, nil
}

func (r *reading) judge(ctx context.Context, js []judged) error {
	for _, j := range js {
		for _, rec := range []*Receipt{j.own, j.second} {
			if rec == nil {
				continue
			}
			if r.names(*rec, j) {
				r.s.named++
				r.s.revs += rec.Rev
			}
			if r.limited() { // else the walk over all receipts does it
				sane(r.cp, *rec, r.s)
			}
		}
		if err := r.settled(ctx, j); err != nil {
			return err
		}
		r.prefix(j)
	}
	if r.raw != nil {
		r.all = append(r.all, js...)
	}
	return nil
}

// names reports that the page names the receipt exactly where its stamp says.
func (r *reading) names(rec Receipt, j judged) bool {
	return rec.PageVersion == r.page.Version && rec.Chunk == j.chunk && rec.Index == j.Index && rec.Digest == j.Digest
}

// settled checks I1 on a promoted page, and on every page that nothing counts as done which is not.
func (r *reading) settled(ctx context.Context, j judged) error {
	if j.terminal() {
		return nil
	}
	if j.decisive() == nil {
		if gone, err := r.mayBeGone(ctx, j.Event); gone || err != nil {
			return err
		}
	}
	p := r.page
	switch {
	case passedBarrier(r.cp, p):
		if later, err := r.openedAgain(ctx, j); later || err != nil {
			return err
		}
		r.s.brokenAt(FoundUnsettled, p.Version, j.key(), "the page was turned, and this event is %s", j.text())
	case p.ChunksDone.Has(j.chunk):
		r.s.brokenAt(FoundDoneUnsettled, p.Version, j.key(), "chunk %d counts as done, and this event on it is %s", j.chunk, j.text())
	case p.Abandoned && p.Version < r.cp.Version && !r.inSight(j):
		r.s.brokenAt(FoundUnsuperseded, p.Version, j.key(), "a reset passed its page, and it is %s", j.text())
	}
	return nil
}

// inSight: after a reset has passed its page, what is not terminal belongs to a later page, or is listed for a person. A hold survives
// where a call is or was under way, and on a second content; another content in the slot is what a person decides first.
func (r *reading) inSight(j judged) bool {
	rec := j.decisive()
	switch {
	case rec == nil:
		return false
	case rec.PageVersion > r.page.Version:
		return true
	case rec.Outcome == Superseded:
		return rec.PageVersion == r.page.Version
	case rec.Digest != j.Digest:
		return true
	}
	return rec.Outcome == Held && (rec.Attempt != nil || rec.Reason == HoldEffectRefused || rec.Conflict != "")
}

// retention is how long terminal receipts of this page are kept: as its directory says, or the definition that was deployed while it was
// open, which the next page knows. 0 is for ever.
func (r *reading) retention(ctx context.Context) (time.Duration, error) {
	if r.kept != nil {
		return *r.kept, nil
	}
	d := r.dir.ReceiptRetention
	next, err := r.State.Directory(ctx, r.page.Stream, r.page.Version+1)
	if err != nil && !absent(err) {
		return 0, err
	}
	if later := next.ReceiptRetention; later > 0 && (d == 0 || later < d) {
		d = later
	}
	r.kept = &d
	return d, nil
}

// mayBeGone reports that an absent receipt may have expired: that of a replay at any time, that of an event which was new on this page
// not before its retention is over.
func (r *reading) mayBeGone(ctx context.Context, ev Event) (bool, error) {
	d, err := r.retention(ctx)
	if err != nil || d == 0 {
		return false, err
	}
	fresh := ev.Invalid == "" && !ev.Position.IsZero() && !r.dir.AppliedPosition.Arrival() && below(r.dir.AppliedBefore, ev.Position)
	return !fresh || r.now().Sub(r.page.OpenedAt) >= d, nil
}

// openedAgain reports that the receipt of a promoted page's event expired, and that a later page began another one.
func (r *reading) openedAgain(ctx context.Context, j judged) (bool, error) {
	rec := j.decisive()
	if rec == nil || rec.PageVersion <= r.page.Version {
		return false, nil
	}
	return r.mayBeGone(ctx, j.Event)
}

// prefix checks I2 on the open page: what lies above the applied position at its opening, and at or below that of now, is terminal.
// Of events that share a position one is enough. Promoted pages are wholly terminal (I1); what a page passed before is theirs.
func (r *reading) prefix(j judged) {
	if r.page.Version != r.cp.Version || j.Late || j.Unproven || j.Conflict {
		return
	}
	applied, at := r.cp.AppliedPosition, j.Position
	if applied.Arrival() {
		at = ArrivalPosition(r.page.Version, j.Index)
	} else if j.Invalid != "" {
		return
	}
	if at.IsZero() || !below(r.dir.AppliedBefore, at) {
		return
	}
	switch settled := j.own != nil && j.own.Outcome.Terminal(); {
	case settled:
		r.atEdge = r.atEdge || at.Equal(applied)
	case below(at, applied):
		r.s.brokenAt(FoundPassed, r.page.Version, j.Key(), "it lies at %s, below the applied position %s, and is %s", at, applied, j.text())
	case at.Equal(applied) && r.edge == nil:
		r.edge = &j
	}
}
