package ddbstate

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// document is a document as it was read, and as the changes so far leave it.
type document struct {
	key key
	// What was read: whether there was one, and what guards it.
	stored bool
	rev    uint64
	by     string
	// What it becomes.
	doc  handoff.Doc
	live bool
}

// documents are those that a transaction changes, in the order in which they are first named.
type documents struct {
	order  []string
	byName map[string]document
}

// readDocuments reads, strongly consistent, what the items will change.
func (s *Store) readDocuments(ctx context.Context, name handoff.Stream, items []handoff.Settlement) (documents, error) {
	ds := documents{byName: map[string]document{}}
	var keys []key
	for _, it := range items {
		for _, c := range it.Docs {
			if _, ok := ds.byName[c.Entity]; !ok {
				k := docKey(name, c.Entity)
				ds.order, keys = append(ds.order, c.Entity), append(keys, k)
				ds.byName[c.Entity] = document{key: k, doc: handoff.Doc{Stream: name, Entity: c.Entity}}
			}
		}
	}
	its, err := s.batchRead(ctx, s.tables.Projections, keys, true)
	if err != nil {
		return ds, err
	}
	for _, it := range its {
		doc, err := decode[handoff.Doc](it)
		if err != nil {
			return ds, err
		}
		rev, err := numberOf(it, "rev")
		if err != nil {
			return ds, err
		}
		ds.byName[doc.Entity] = document{key: keyOf(it), stored: true, rev: rev, by: textOf(it, "written_by"), doc: doc, live: true}
	}
	return ds, nil
}

// apply makes an event's changes, all or none: an *EffectError leaves the documents as they were.
func (ds documents) apply(changes []handoff.DocChange) error {
	after := map[string]document{}
	for _, c := range changes {
		d, ok := after[c.Entity]
		if !ok {
			if d = ds.byName[c.Entity]; !d.live { // an event before this one deleted it: its position is gone too
				d.doc = handoff.Doc{Stream: d.doc.Stream, Entity: c.Entity}
			}
		}
		var err error
		if d.doc, d.live, err = d.doc.Apply(c); err != nil {
			return err
		}
		after[c.Entity] = d
	}
	for name, d := range after {
		ds.byName[name] = d
	}
	return nil
}

// writes puts or deletes each document whole, if it still is what was read.
func (s *Store) docWrites(ds documents, by string) ([]write, error) {
	var ws []write
	for _, name := range ds.order {
		d := ds.byName[name]
		w := write{table: s.tables.Projections, key: d.key, when: condition{text: absent}, remove: !d.live}
		if d.stored {
			w.when = condition{atDoc, values{":rev": number(d.rev), ":by": text(d.by)}}
		}
		if d.live {
			it, err := docItem(d.key, d.doc, d.rev+1, by)
			if err != nil {
				return nil, err
			}
			w.item = it
		}
		ws = append(ws, w)
	}
	return ws, nil
}

// Doc reads one document.
func (s *Store) Doc(ctx context.Context, name handoff.Stream, entity string) (handoff.Doc, error) {
	return readAs(ctx, s, "document "+string(name), s.tables.Projections, docKey(name, entity), decode[handoff.Doc])
}

// keysOf is what a batch asks for.
func keysOf(keys []key) []map[string]types.AttributeValue {
	out := make([]map[string]types.AttributeValue, len(keys))
	for i, k := range keys {
		out[i] = k.attributes()
	}
	return out
}
