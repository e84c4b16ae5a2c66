package handoff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// writers are the documents that one chunk's applied events may have written, in order of first appearance.
type writers struct {
	order []string
	last  map[string]writer
	at    map[string][]Position
}

// writer is the last event of a chunk that wrote a document.
type writer struct {
	key  ReceiptKey
	at   Position
	sure bool // by the definition it wrote this document, and in the order of its lane
}

// wrote notes what a batch of events wrote.
func (r *reading) wrote(w *writers, js []judged) {
	for _, j := range js {
		if j.own == nil || j.own.Outcome != Applied || j.own.PageVersion != r.page.Version || j.own.Digest != j.Digest {
			continue
		}
		entity, sure := r.documentOf(j)
		if entity == "" {
			r.s.nameless = true
			continue
		}
		before, seen := w.last[entity]
		if !seen {
			w.order = append(w.order, entity)
		}
		w.at[entity] = append(w.at[entity], j.own.Position)
		if sure || !before.sure {
			w.last[entity] = writer{j.own.ReceiptKey, j.own.Position, sure}
		}
	}
}

// projected compares documents with the applied events that wrote them last. An applied event and its document are one transaction, and a
// page opens only when the one before is turned: so the last writer of a document is the one with the greatest page version and, inside
// its lane, the greatest index, whatever its position.
func (r *reading) projected(ctx context.Context, w *writers) error {
	for _, entity := range w.order {
		doc, err := r.State.Doc(ctx, r.page.Stream, entity)
		if absent(err) {
			continue // none was written, or a later event deleted it
		}
		if err != nil {
			return fmt.Errorf("read document: %w", err)
		}
		if doc.Position.IsZero() {
			continue
		}
		if slices.ContainsFunc(w.at[entity], doc.Position.Equal) {
			r.s.documents++
		}
		if last := w.last[entity]; last.sure && below(doc.Position, last.at) {
			if err := r.wentBack(ctx, last, doc); err != nil {
				return err
			}
		}
	}
	return nil
}

// documentOf names the document that keeps an event's position; sure says that the definition is the one it was applied under, and writes
// it. Without a definition it is the entity's, if it writes one at all.
func (r *reading) documentOf(j judged) (entity string, sure bool) {
	b := r.opt.Binding
	if b == nil || b.Effect == nil || b.Effect.Traits().Kind != Transactional || j.own.Effect != b.Settings.Effect {
		return j.Entity, false
	}
	docs, err := b.Effect.Plan(j.Event)
	if err != nil {
		return j.Entity, false
	}
	for _, c := range docs {
		if c = withPosition(c, j.Event, j.own.Position); !c.Position.IsZero() {
			return c.Entity, !strings.HasPrefix(j.Lane, "#") && !strings.HasPrefix(j.Lane, "!")
		}
	}
	return j.Entity, false
}

// wentBack: the document stands at a lower position than its last writer of this page. So it must have been written later, by a late event
// or one of a backfill, or by a record that had a lane of its own; nobody else may go back.
func (r *reading) wentBack(ctx context.Context, last writer, doc Doc) error {
	err := r.eachReceipt(ctx, func(rs []Receipt) error {
		for _, rec := range rs {
			if rec.Outcome != Applied || !rec.Position.Equal(doc.Position) || rec.Entity != "" && rec.Entity != doc.Entity {
				continue
			}
			if rec.PageVersion > r.page.Version {
				return errEnough
			}
			if ev, err := r.EventOf(ctx, rec); err == nil && rec.PageVersion == r.page.Version && ev.Invalid != "" {
				return errEnough
			}
		}
		return nil
	})
	switch {
	case err == nil:
		r.s.brokenAt(FoundOutOfOrder, r.page.Version, last.key, "it was applied at %s, and the document of its entity stands at %s, where an earlier event put it",
			last.at, doc.Position)
	case errors.Is(err, errEnough):
		return nil
	}
	return err
}

// errEnough ends a walk that has found what it looked for.
var errEnough = errors.New("enough")

// documents counts the documents, and if more have a position than pages explained, finds those whose position is no applied event's.
func (a *audit) documents(ctx context.Context) error {
	if a.limited() {
		a.sum.Documents = a.tally.documents
		return nil
	}
	placed := 0
	err := a.eachDoc(ctx, func(ds []Doc) error {
		a.sum.Documents += len(ds)
		for _, d := range ds {
			if !d.Position.IsZero() {
				placed++
			}
		}
		a.progress("documents")
		return nil
	})
	if err != nil || a.forgets || a.tally.expiring || a.tally.nameless || placed <= a.tally.documents {
		return err
	}
	if a.sum.Moving = a.tally.moved(a.cp); a.sum.Moving {
		return nil
	}
	return a.eachDoc(ctx, func(ds []Doc) error {
		ds = slices.DeleteFunc(ds, func(d Doc) bool { return d.Position.IsZero() })
		if len(ds) == 0 {
			return nil
		}
		first := true
		_, err := a.look(ctx, func(ctx context.Context, _ Checkpoint, s *sheet) error {
			now := ds
			if !first {
				var err error
				if now, err = a.docsAgain(ctx, ds); err != nil {
					return err
				}
			}
			first = false
			return a.unexplained(ctx, now, s)
		})
		return err
	})
}

func (a *audit) eachDoc(ctx context.Context, f func([]Doc) error) error {
	after := ""
	for {
		ds, next, err := a.State.ListDocs(ctx, a.stream, after, auditBatch)
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		if err := f(ds); err != nil {
			return err
		}
		if after = next; after == "" {
			return nil
		}
	}
}

func (a *audit) docsAgain(ctx context.Context, ds []Doc) ([]Doc, error) {
	var now []Doc
	for _, d := range ds {
		d, err := a.State.Doc(ctx, a.stream, d.Entity)
		if absent(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read document: %w", err)
		}
		if !d.Position.IsZero() {
			now = append(now, d)
		}
	}
	return now, nil
}

// unexplained goes through all receipts for the last writer of each of a batch of documents. Its receipt was written with it.
func (a *audit) unexplained(ctx context.Context, ds []Doc, s *sheet) error {
	left := slices.Clone(ds)
	err := a.eachReceipt(ctx, func(rs []Receipt) error {
		for _, r := range rs {
			if r.Outcome == Applied {
				left = slices.DeleteFunc(left, func(d Doc) bool {
					return r.Position.Equal(d.Position) && (r.Entity == d.Entity || r.Entity == "")
				})
			}
		}
		if len(left) == 0 {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for _, d := range left {
		s.broken(FoundDocument, 0, "the document of entity %.60q stands at position %s, and no event of it is applied there", d.Entity, d.Position)
	}
	return nil
}
