package ddbstate

import (
	"context"
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// readAs reads one item and understands it.
func readAs[T any](ctx context.Context, s *Store, op, table string, k key, understand func(item) (T, error)) (v T, err error) {
	it, err := s.read(ctx, table, k)
	if err == nil {
		v, err = understand(it)
	}
	return v, translateRead(op, err)
}

// Checkpoint reads one.
func (s *Store) Checkpoint(ctx context.Context, name handoff.Stream) (handoff.Checkpoint, error) {
	return readAs(ctx, s, "checkpoint "+string(name), s.tables.Streams, checkpointKey(name), decode[handoff.Checkpoint])
}

// Streams lists every stream ever started, from one partition: nothing scans.
func (s *Store) Streams(ctx context.Context) ([]handoff.StreamEntry, error) {
	its, err := s.query(ctx, selection{table: s.tables.Streams, where: inPartition, values: values{":pk": text(pkStreams)}}, 0)
	var list []handoff.StreamEntry
	if err == nil {
		list, err = decodeAll(its, decode[handoff.StreamEntry])
	}
	// Keys are escaped, so their order is not quite that of names.
	slices.SortFunc(list, func(a, b handoff.StreamEntry) int { return strings.Compare(string(a.Stream), string(b.Stream)) })
	return list, translateRead("list streams", err)
}

// Decision reads one.
func (s *Store) Decision(ctx context.Context, name handoff.Stream, id string) (handoff.DecisionRecord, error) {
	return readAs(ctx, s, "decision "+string(name), s.tables.Streams, decisionKey(name, id), decode[handoff.DecisionRecord])
}
