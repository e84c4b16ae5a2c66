package handoff

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// PollAct is what one poll did.
type PollAct string

// The acts of a poll.
const (
	ActNotStarted PollAct = "not_started"
	ActStale      PollAct = "stale"
	ActClosing    PollAct = "closing"
	ActPromoted   PollAct = "promoted"
	ActDriven     PollAct = "driven"
	ActBlocked    PollAct = "blocked"
	ActPaused     PollAct = "paused"
	ActHalted     PollAct = "halted"
	ActNotDue     PollAct = "not_due"
	ActOpened     PollAct = "opened"
	ActTurned     PollAct = "turned"
	ActCaughtUp   PollAct = "caught_up"
	ActWaiting    PollAct = "waiting"
	ActStalled    PollAct = "stalled"
)

// candidate is an answer under judgement.
type candidate struct {
	answer Answer
	raw    ObjectRef // where it is archived, if it is
	// cached: from the spool or adopted from the archive. It may only lead to an open or a promote.
	cached bool
	// accepted holds the checks an operator let this very answer pass.
	accepted []HaltReason
}

// judgement is what an answer amounts to for this checkpoint.
type judgement struct {
	act     PollAct // opened, turned, caught_up, stalled, halted, waiting
	halt    HaltReason
	class   string
	detail  string
	events  []Event // new ones, in source order, not yet cut into lanes
	replays int
	next    Cursor
	end     bool
	pollAt  time.Time // next_poll_at that goes with it
	border  Border
	anchor  Anchor
	applied Position
	floor   Position // prefix floor after an open
	refused int      // token refusals after it
	behind  time.Time
}

func halted(r HaltReason, format string, args ...any) judgement {
	return judgement{act: ActHalted, halt: r, detail: fmt.Sprintf(format, args...)}
}

// fold merges what one response shows twice: equal (id, digest) is one event; the same id with another digest follows the first
// one into its lane as an identity conflict.
func fold(events []Event) []Event {
	type content struct{ id, digest string }
	seen, first := map[content]bool{}, map[string]bool{}
	out := make([]Event, 0, len(events))
	for _, ev := range events {
		c := content{ev.ID, ev.Digest}
		if seen[c] {
			continue
		}
		seen[c] = true
		ev.Conflict = first[ev.ID]
		first[ev.ID] = true
		out = append(out, ev)
	}
	return out
}

// holdBack cuts the tail from the first event younger than the contract's hold-back; again is when that one is old enough.
func holdBack(events []Event, c Contract, fetched time.Time) (kept []Event, again time.Time) {
	if c.HoldBack <= 0 {
		return events, time.Time{}
	}
	for i, ev := range events {
		t := ev.happened()
		if ev.Invalid == "" && !t.IsZero() && t.After(fetched.Add(-c.HoldBack)) {
			return events[:i], t.Add(c.HoldBack)
		}
	}
	return events, time.Time{}
}

// inOrder gives the events that take part in order checks.
func inOrder(events []Event) []Event {
	return slices.DeleteFunc(slices.Clone(events), func(ev Event) bool {
		return ev.Invalid != "" || ev.Conflict || ev.Position.IsZero()
	})
}

// checkOrder judges positions inside one response and across the border, over all its events, known ones included. pass tells
// which checks an operator accepted for this answer.
func checkOrder(events []Event, border Border, c Contract, pass func(HaltReason) bool) (judgement, bool) {
	if c.Arrival || !c.Ordered {
		return judgement{}, true
	}
	var before *Event
	pair := c
	for _, ev := range events {
		switch {
		case ev.Conflict:
			continue
		case ev.Invalid != "" || ev.Position.IsZero(): // it may stand just where a gap seems to be
			pair.Gapless = false
			continue
		case before != nil:
			if j, ok := checkPair(*before, ev, pair, pass); !ok {
				return j, false
			}
		}
		before, pair = &ev, c
	}
	return checkBorder(events, border, c, pass)
}

func checkPair(a, b Event, c Contract, pass func(HaltReason) bool) (judgement, bool) {
	order, err := a.Position.Compare(b.Position)
	switch {
	case err != nil && !pass(HaltOrderRegression):
		return halted(HaltOrderRegression, "after %s comes %s: %v", a.Position, b.Position, err), false
	case err != nil:
	case order > 0 && !pass(HaltOrderRegression):
		return halted(HaltOrderRegression, "position %s comes after %s", b.Position, a.Position), false
	case order == 0 && c.Unique && !pass(HaltPositionConflict):
		return halted(HaltPositionConflict, "two events share position %s, which is declared unique", b.Position), false
	case order < 0 && c.Gapless && !pass(HaltGap):
		if follows, ok := b.Position.Follows(a.Position); !ok || !follows {
			return halted(HaltGap, "position %s comes right after %s, and the source is declared gapless", b.Position, a.Position), false
		}
	}
	return judgement{}, true
}

// checkBorder compares with the last event of the page before: only the event at the border and the first one above it.
func checkBorder(events []Event, border Border, c Contract, pass func(HaltReason) bool) (judgement, bool) {
	if border.IsZero() {
		return judgement{}, true
	}
	for _, ev := range events {
		if ev.Conflict {
			continue
		}
		if ev.Invalid != "" || ev.Position.IsZero() {
			c.Gapless = false
			continue
		}
		order, err := ev.Position.Compare(border.Position)
		if err != nil || order < 0 {
			continue
		}
		if order == 0 {
			if c.Unique && ev.ID != border.EventID && !pass(HaltPositionConflict) {
				return halted(HaltPositionConflict, "another event stands at position %s, the last one of the page before", ev.Position), false
			}
			continue
		}
		if follows, ok := ev.Position.Follows(border.Position); c.Gapless && !(ok && follows) && !pass(HaltGap) {
			return halted(HaltGap, "the page before ended at position %s, this one goes on at %s, and the source is declared gapless",
				border.Position, ev.Position), false
		}
		break
	}
	return judgement{}, true
}

// floorFor is the prefix floor that holds for a page of these events (SOURCES §4): while no page was opened since the last start
// or reset, it still rises to the lowest position of the first one.
func floorFor(cp Checkpoint, events []Event) (floor Position, open bool) {
	if !cp.FloorOpen {
		return cp.PrefixFloor, false
	}
	var lowest Position
	for _, ev := range inOrder(events) {
		if lowest.IsZero() || below(ev.Position, lowest) {
			lowest = ev.Position
		}
	}
	return maxPosition(cp.PrefixFloor, lowest), lowest.IsZero()
}

// replayPossible reports whether an event may have been settled before: only then is a receipt worth looking up.
func replayPossible(ev Event, applied Position, c Contract) bool {
	if c.Arrival || c.Overlap || ev.Position.IsZero() || ev.Invalid != "" {
		return true
	}
	order, err := ev.Position.Compare(applied)
	return err != nil || order <= 0
}

// markLate flags an unseen event that the source inserted below what is already applied.
func markLate(ev Event, applied, floor Position, c Contract) Event {
	if c.Arrival || !c.Ordered || ev.Invalid != "" || ev.Position.IsZero() || applied.IsZero() {
		return ev
	}
	order, err := ev.Position.Compare(applied)
	if err != nil || order > 0 || (order == 0 && !c.Unique) || below(ev.Position, floor) {
		return ev
	}
	if c.ReceiptRetention > 0 {
		ev.Unproven = true
	} else {
		ev.Late = true
	}
	return ev
}

// hearing is one candidate before one checkpoint, and everything the judgement depends on.
type hearing struct {
	cp   Checkpoint
	set  Settings
	read Reading
	cand candidate
	now  time.Time
	tick time.Duration
	// kept are the events of the answer, folded and cut by hold-back; again is when the first one cut is old enough.
	kept  []Event
	again time.Time
	fresh []Event // those of kept that are not proven replays
}

// conclude decides what the page does, once its new events are known. It is the heart of SOURCES §1.
func (h hearing) conclude() judgement {
	cp, r, held := h.cp, h.read, !h.again.IsZero()
	j := judgement{events: h.fresh, replays: len(h.kept) - len(h.fresh), next: r.Next, end: r.End, refused: cp.TokenRefusals}
	switch {
	case held: // what is old enough opens, the cursor stays
		j.next, j.end, j.pollAt = cp.ResumeCursor, true, h.again
	case r.End:
		if j.next == "" {
			j.next = cp.ResumeCursor
		}
		if h.set.Interval > h.tick {
			j.pollAt = h.now.Add(h.set.Interval)
		}
	case j.next == "":
		return judgement{act: ActWaiting, class: "contradiction", detail: "the answer is not an end, but carries no token"}
	}
	if r.Continues && !held {
		j.border = h.border()
	}
	j.applied, j.behind = h.appliedAfter(), h.behind(j.end)
	same := j.next == cp.ResumeCursor
	switch {
	case len(j.events) > 0:
		j.act, j.refused = ActOpened, 0
	case held || r.End && (same || !h.dueToStore()):
		j.act = ActCaughtUp
	case r.End:
		j.act = ActTurned
	case same:
		j.act = ActStalled
	default:
		return h.turnOn(j)
	}
	return j
}

// border is the last event of this page, unless the page before already went further.
func (h hearing) border() Border {
	placed := inOrder(h.kept)
	if n := len(h.kept); n > 0 && h.kept[n-1].Invalid != "" {
		return Border{} // what it ended with has no place: nothing to go on from
	}
	if len(placed) == 0 {
		return h.cp.Border
	}
	top := h.cp.Border
	for _, ev := range placed {
		if top.IsZero() || !below(ev.Position, top.Position) {
			top = Border{ev.Position, ev.ID}
		}
	}
	return top
}

// appliedAfter is what is durably done once every event of this page is terminal. It never passes the time of the fetch.
func (h hearing) appliedAfter() Position {
	applied := h.cp.AppliedPosition
	if h.set.Contract.Arrival {
		if len(h.fresh) > 0 {
			return ArrivalPosition(h.cp.Version, len(h.fresh)-1)
		}
		return applied
	}
	for _, ev := range inOrder(h.kept) {
		if t, ok := ev.Position.Time(); ok && t.After(h.cand.answer.FetchedAt) {
			continue
		}
		applied = maxPosition(applied, ev.Position)
	}
	return applied
}

// behind is how far a page that is not the end has read: the time of its newest event, or where none has one, of the fetch.
func (h hearing) behind(end bool) time.Time {
	if end {
		return time.Time{}
	}
	var newest time.Time
	for _, ev := range h.kept {
		if t := ev.happened(); t.After(newest) {
			newest = t
		}
	}
	switch {
	case !newest.IsZero():
		return newest
	case !h.cp.Behind.IsZero():
		return h.cp.Behind
	}
	return h.cand.answer.FetchedAt
}

// dueToStore says whether an idle end's fresh token is worth a write: always the first after a start, always a token that works
// once only, else when a tenth of the old one's life, or a day, has passed.
func (h hearing) dueToStore() bool {
	if h.cp.Bootstrap || h.set.Contract.OnceToken {
		return true
	}
	wait := 24 * time.Hour
	if h.read.TokenLife > 0 {
		wait = min(wait, h.read.TokenLife/10)
	}
	return h.now.Sub(h.cp.CursorSinceAt) >= wait
}

// turnOn is a page without a new event that moves the cursor, not at an end. One anchor token finds a cycle of any length in
// time proportional to it (Brent).
func (h hearing) turnOn(j judgement) judgement {
	anchor := h.cp.Anchor
	if anchor.Hash == "" {
		anchor.Hash = h.cp.ResumeCursor.Hash()
	}
	next := j.next.Hash()
	if next == anchor.Hash && !h.passes(HaltTokenCycle) {
		return halted(HaltTokenCycle, "after %d pages without a new event the source hands out a token it gave before", anchor.Count+1)
	}
	anchor.Count++
	if bits.OnesCount64(anchor.Count) == 1 {
		anchor.Hash = next
	}
	j.act, j.anchor = ActTurned, anchor
	return j
}

// passes tells which checks an operator let this answer pass.
func (h hearing) passes(r HaltReason) bool { return slices.Contains(h.cand.accepted, r) }
