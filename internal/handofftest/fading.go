package handofftest

import (
	"context"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Fading is a State whose terminal receipts are gone once they expired, as a store's own expiry may take them at any time after.
type Fading struct {
	handoff.State
	Clock handoff.Clock
}

func (f Fading) gone(r handoff.Receipt) bool {
	return !r.ExpiresAt.IsZero() && f.Clock.Now().After(r.ExpiresAt)
}

// Receipts gives those that are not gone.
func (f Fading) Receipts(ctx context.Context, s handoff.Stream, keys []handoff.ReceiptKey, proof bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	found, err := f.State.Receipts(ctx, s, keys, proof)
	for k, r := range found {
		if f.gone(r) {
			delete(found, k)
		}
	}
	return found, err
}

// Settle lets what is put for the first time replace what is gone.
func (f Fading) Settle(ctx context.Context, s handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	out := make([]handoff.SettleResult, len(items))
	for i, it := range items {
		found, err := f.State.Receipts(ctx, s, []handoff.ReceiptKey{it.Put.ReceiptKey}, false)
		if r, ok := found[it.Put.ReceiptKey]; err == nil && ok && it.If.Absent && f.gone(r) {
			it.If, it.Put.Rev = handoff.Guard{Rev: r.Rev}, r.Rev+1
		}
		out[i] = f.State.Settle(ctx, s, []handoff.Settlement{it})[0]
	}
	return out
}
