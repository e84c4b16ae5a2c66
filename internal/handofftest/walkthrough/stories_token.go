package walkthrough

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

func tokenCycle(t *testing.T, open func(*testing.T) Backend) {
	for length := 2; length <= 5; length++ {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			w := stage(t, open)
			w.source.page("c0", "t0")
			for i := range length {
				w.source.page(handoff.Cursor(fmt.Sprintf("t%d", i)), handoff.Cursor(fmt.Sprintf("t%d", (i+1)%length)))
			}
			for range 4 * length {
				r, err := w.poll(w.engine, handoff.PollMessage{})
				w.must(err)
				if r.Did == handoff.ActHalted {
					w.haltedBy(handoff.HaltTokenCycle)
					w.clean()
					return
				}
			}
			w.Fatal("the cycle was never found")
		})
	}
}

func cursorRefused(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open)
	w.source.page("c0", "c1", ev(1, "a"))
	w.source.replies["c1"] = func() reply { return reply{Kind: handoff.ReadCursorRefused, Detail: "410"} }
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActWaiting)
	w.tick(handoff.ActNotDue)
	if n := len(w.source.asked); n != 2 {
		w.Fatalf("the source was asked %d times, want no retry storm", n)
	}
	w.clock.advance(4 * time.Minute)
	w.tick(handoff.ActHalted)
	h := w.haltedBy(handoff.HaltCursorRejected)
	if h.Answer.Key == "" {
		w.Fatal("the refusal itself was not kept")
	}
	w.at(2, "c1")
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: "c7"}))
	w.source.end("c7", "c7", ev(2, "a"))
	w.settleAll()
	w.effects("a", "1 2 < 2")
	w.clean()
}

func singleUseToken(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.OnceToken = true })
	used := map[handoff.Cursor]bool{}
	once := func(at handoff.Cursor, r reply) {
		w.source.replies[at] = func() reply {
			if used[at] {
				return reply{Kind: handoff.ReadCursorRefused, Detail: "used"}
			}
			used[at] = true
			return r
		}
	}
	once("c0", reply{Kind: handoff.ReadPage, Records: evs("a", 1, 2), Next: "c1"})
	once("c1", reply{Kind: handoff.ReadPage, End: true, Next: "c2"})
	once("c2", reply{Kind: handoff.ReadPage, End: true, Next: "c3", Records: evs("a", 3)})
	once("c3", reply{Kind: handoff.ReadPage, End: true, Next: "c4"})
	w.die("before", "open")
	if _, err := w.poll(w.engine, handoff.PollMessage{}); err == nil {
		w.Fatal("the dead poll reported success")
	}
	w.at(1, "c0")
	w.restart()
	w.tick(handoff.ActOpened)
	w.apply()
	w.at(2, "c1")
	w.tick(handoff.ActTurned) // every fresh token is promoted at once, also an idle one
	w.tick(handoff.ActOpened)
	w.apply()
	w.at(4, "c3")
	if n := len(w.source.asked); n != 3 {
		w.Fatalf("the source was asked %d times, want once per token", n)
	}
	w.effects("a", "1 2 3 < 3")
	w.clean()
}

func pageTokenRefused(t *testing.T, open func(*testing.T) Backend) {
	w := stage(t, open, func(s *handoff.Settings) { s.Contract.Gapless = true })
	w.source.page("c0", "b1+p1", evs("a", 1, 2)...)
	refuse := func() reply { return reply{Kind: handoff.ReadTokenRefused, Bookmark: "b1", Detail: "expired"} }
	w.source.replies["b1+p1"] = refuse
	w.source.page("b1", "b1+p2", evs("a", 2, 3)...)
	w.source.replies["b1+p2"] = refuse
	w.tick(handoff.ActOpened)
	w.apply()
	w.tick(handoff.ActTurned)
	w.at(3, "b1")
	w.tick(handoff.ActOpened)
	w.apply()
	w.at(4, "b1+p2")
	w.source.page("b1", "b1+p3", evs("a", 2, 3)...) // nothing new this time
	w.source.replies["b1+p3"] = refuse
	w.tick(handoff.ActTurned) // a new event came between: refused for the first time again
	w.tick(handoff.ActTurned) // the bookmark's page, all replays
	w.tick(handoff.ActHalted)
	w.haltedBy(handoff.HaltCursorRejected)
	w.effects("a", "1 2 3 < 3")
	w.clean()
}
