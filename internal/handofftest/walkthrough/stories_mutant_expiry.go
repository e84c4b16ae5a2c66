package walkthrough

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
)

// expiryStories are about receipts that do not stay for ever.
func expiryStories() []story {
	return []story{
		{"LateAfterExpiry", lateAfterExpiry}, {"HoldOutlivesReceipts", holdOutlivesReceipts}, {"ResetAfterExpiry", resetAfterExpiry},
		{"ExpiryWhileAtWork", expiryWhileAtWork},
	}
}

// fades gives a world whose store forgets, and whose receipts stay for a month.
func fades(t *testing.T, open func(*testing.T) Backend) *world {
	t.Helper()
	now := &clock{now: epoch}
	w := stage(t, func(t *testing.T) Backend {
		b := open(t)
		b.State = handofftest.Fading{State: b.State, Clock: now}
		return b
	}, func(s *handoff.Settings) { s.Contract.ReceiptRetention = archiveLife })
	w.clock = now
	w.sink.clock = now
	w.restart()
	w.other = handoff.New(w.deps(w.inner.State, w.inner.Archive, w.queue))
	return w
}

// holdOutlivesReceipts: a page is held for longer than receipts stay. What was settled on it is not settled again: nobody can tell any more,
// so a person says. The retention that counts is the page's and the present definition's, whichever is shorter.
func holdOutlivesReceipts(t *testing.T, open func(*testing.T) Backend) {
	for name, c := range map[string]struct{ opened, settled, now time.Duration }{
		"declared": {archiveLife, archiveLife, archiveLife}, "declared_once": {archiveLife, archiveLife, 0}, "declared_since": {0, archiveLife, archiveLife},
	} {
		t.Run(name, func(t *testing.T) {
			w := fades(t, open)
			w.holds("2")
			w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
			w.source.end("c1", "c1")
			w.b.Contract.ReceiptRetention = c.opened
			w.tick(handoff.ActOpened)
			w.b.Contract.ReceiptRetention = c.settled
			w.apply()
			w.effects("a", "1 < 1")
			w.b.Contract.ReceiptRetention = c.now
			for range 8 {
				w.clock.advance(archiveLife/4 + time.Hour)
				_, err := w.poll(w.engine, handoff.PollMessage{})
				w.must(err)
				w.apply()
			}
			w.effects("a", "1 < 1")
			w.is("1", handoff.Held, handoff.HoldReceiptExpired)
			w.must(w.decide(handoff.DecideIgnore, "1"))
			w.must(w.decide(handoff.DecideRelease, "2"))
			w.driveNow()
			w.at(2, "c1")
			w.effects("a", "1 < 1")
			w.effects("b", "2 < 2")
		})
	}
}

// resetAfterExpiry: a reset passes such a page. "Superseded" would say that nothing was applied, and the next page that shows the event would
// apply it again: it is held instead, also if closing begins anew, and stays held on that page.
func resetAfterExpiry(t *testing.T, open func(*testing.T) Backend) {
	w := fades(t, open)
	w.holds("2")
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.source.end("r", "r", ev(1, "a"))
	w.turn()
	w.clock.advance(2 * archiveLife)
	w.reset("r")
	w.die("before", "close")
	_, _ = w.poll(w.engine, handoff.PollMessage{})
	w.restart()
	w.tick(handoff.ActOpened)
	w.is("1", handoff.Held, handoff.HoldReceiptExpired)
	w.is("2", handoff.Superseded)
	w.apply()
	w.is("1", handoff.Held, handoff.HoldReceiptExpired)
	w.must(w.decide(handoff.DecideIgnore, "1"))
	w.driveNow()
	w.at(3, "r")
	w.effects("a", "1 < 1")
}

// expiryWhileAtWork: a copy of the first message comes late, and the receipt goes between its look and its write. Who reads "none" shortly
// before receipts may go must not believe it.
func expiryWhileAtWork(t *testing.T, open func(*testing.T) Backend) {
	w, m := fadesAfterFirst(t, open)
	w.clock.advance(archiveLife - 10*time.Second)
	w.tap.hook("before", "apply/settle", func() error { w.clock.advance(20 * time.Second); return nil })
	_, err := w.deliver(m, 1)
	w.must(err)
	w.effects("a", "1 < 1")
	w.is("1", handoff.Held, handoff.HoldReceiptExpired)
}

// lateAfterExpiry: a delivery wakes when its page was passed by a reset, and the receipts of what it had settled are gone: only that the page
// is not the checkpoint's any more tells that nothing may be done.
func lateAfterExpiry(t *testing.T, open func(*testing.T) Backend) {
	w, m := fadesAfterFirst(t, open)
	w.clock.advance(2 * archiveLife)
	w.reset("r")
	_, err := w.deliver(m, 2)
	w.must(err)
	w.effects("a", "1 < 1")
	w.none("1")
}

// fadesAfterFirst: the page's one chunk was delivered once: event 1 applied, event 2 held.
func fadesAfterFirst(t *testing.T, open func(*testing.T) Backend) (*world, handoff.ChunkMessage) {
	t.Helper()
	w := fades(t, open)
	w.holds("2")
	w.source.page("c0", "c1", ev(1, "a"), ev(2, "b"))
	w.tick(handoff.ActOpened)
	m := w.message()
	_, err := w.deliver(m, 1)
	w.must(err)
	return w, m
}
