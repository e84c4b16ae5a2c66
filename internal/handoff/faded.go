package handoff

import "time"

// fadedDetail is what an operator reads of an event that has no receipt where receipts may have expired.
const fadedDetail = "its page is older than receipts are kept, so nobody can tell whether it was applied"

// faded reports whether a page is so old that terminal receipts written on it may have expired. It looks ahead by the longest life of a
// function: who reads "no receipt" now writes before that.
func (e *Engine) faded(p Page, dir Directory, c Contract) bool {
	for _, kept := range []time.Duration{dir.ReceiptRetention, c.ReceiptRetention} {
		if kept > 0 && !e.now().Before(p.OpenedAt.Add(kept-e.Timing.FunctionLife-e.Timing.Margin)) {
			return true
		}
	}
	return false
}
