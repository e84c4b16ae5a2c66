package handoff

import (
	"context"
	"fmt"
)

// lookupBatch is how many receipts one read asks for: DynamoDB's limit of a BatchGet.
const lookupBatch = 100

// hear judges a readable answer against the checkpoint: order, gaps and conflicts over all its events, then which of them are
// new, then what the page does.
func (e *Engine) hear(ctx context.Context, b Binding, cp Checkpoint, c candidate, r Reading) (judgement, error) {
	h := hearing{cp: cp, set: b.Settings, read: r, cand: c, now: e.now(), tick: e.Timing.Tick}
	folded := fold(r.Events)
	h.kept, h.again = holdBack(folded, b.Contract, c.answer.FetchedAt)
	if j, ok := checkOrder(h.kept, cp.Border, b.Contract, h.passes); !ok {
		return j, nil
	}
	floor, _ := floorFor(cp, h.kept)
	known, err := e.lookUp(ctx, b, cp, h.kept, floor)
	if err != nil {
		return judgement{}, err
	}
	for i, ev := range h.kept {
		switch known[i] {
		case knownSettled:
		case knownOpen:
			h.fresh = append(h.fresh, ev)
		default:
			h.fresh = append(h.fresh, markLate(ev, cp.AppliedPosition, floor, b.Contract))
		}
	}
	j := h.conclude()
	j.floor = floor
	return j, nil
}

// knowledge is what receipts say about an event.
type knowledge int

const (
	knownNothing knowledge = iota
	knownOpen              // a receipt that is not terminal, or another content's
	knownSettled           // a proven replay
)

// lookUp finds proven replays. The read may be eventually consistent: a terminal receipt never changes, so a hit is proof, and a
// miss costs one refused write later.
func (e *Engine) lookUp(ctx context.Context, b Binding, cp Checkpoint, events []Event, floor Position) ([]knowledge, error) {
	known := make([]knowledge, len(events))
	ask := map[ReceiptKey][]int{}
	var keys []ReceiptKey
	want := func(i int, key ReceiptKey) {
		if len(ask[key]) == 0 {
			keys = append(keys, key)
		}
		ask[key] = append(ask[key], i)
	}
	for i, ev := range events {
		if b.Contract.Watermark && ev.Invalid == "" && below(ev.Position, cp.AppliedPosition) && !below(ev.Position, floor) {
			known[i] = knownSettled
		} else if replayPossible(ev, cp.AppliedPosition, b.Contract) {
			want(i, ev.Key())
		}
	}
	found, err := e.receipts(ctx, b.Stream, keys, true)
	if err != nil {
		return nil, err
	}
	keys = keys[:0]
	second := map[ReceiptKey]int{}
	for key, at := range ask {
		r, ok := found[key]
		for _, i := range at {
			switch {
			case !ok:
			case !r.Outcome.Terminal():
				known[i] = knownOpen
			case sameContent(r, events[i], b.Identity):
				known[i] = knownSettled
			default: // another content: settled only if its own conflict is
				known[i] = knownOpen
				second[events[i].conflictKey()] = i
				keys = append(keys, events[i].conflictKey())
			}
		}
	}
	if found, err = e.receipts(ctx, b.Stream, keys, true); err != nil {
		return nil, err
	}
	for key, r := range found {
		if r.Outcome.Terminal() {
			known[second[key]] = knownSettled
		}
	}
	return known, nil
}

// sameContent: the same digest, or a digest made under another identity revision, which cannot be compared.
func sameContent(r Receipt, ev Event, identity string) bool {
	return r.Digest == ev.Digest || r.Identity != identity
}

// receipts reads any number of receipts in batches.
func (e *Engine) receipts(ctx context.Context, s Stream, keys []ReceiptKey, proof bool) (map[ReceiptKey]Receipt, error) {
	all := make(map[ReceiptKey]Receipt, len(keys))
	for start := 0; start < len(keys); start += lookupBatch {
		part := keys[start:min(start+lookupBatch, len(keys))]
		found, err := e.State.Receipts(ctx, s, part, proof)
		if err != nil {
			return nil, fmt.Errorf("look up receipts of %s: %w", s, err)
		}
		for k, r := range found {
			all[k] = r
		}
	}
	return all, nil
}
