package model

import (
	"math/bits"
	"strings"
)

// answer is one thing the source may say at a cursor.
type answer struct {
	at, next uint8
	events   uint8 // bit e-1
	end      bool
}

// config is a scope: what the source says, what happens to it, and how many are at work.
type config struct {
	name string
	// answers, from 1. Several at one cursor: the source says one or the other, each time anew.
	answers []answer
	entity  [maxEvents]uint8
	end     uint8 // the cursor behind which there is nothing for now
	holds   uint8 // events that the policy holds
	// outside: the effect is a call to a sink that knows nothing (unsafe), not a write in the transaction of the receipt.
	outside bool

	pollers, appliers int
	decisions         []word  // on events
	stream            []word  // on the stream
	resetTo           []uint8 // cursors a reset may begin at
	resets            uint8
	spool             bool // somebody fetches ahead
	loss              bool // messages may get lost; without it they stay deliverable for ever
	again             bool // a message may come again, and says so
	crashes           bool

	// begin is where an exploration starts if not at the beginning: lines of "who: step; step", each the label of a transition.
	begin []string

	// interleaveAll explores every interleaving, and symmetric ones apart: for replays, which must follow one process.
	interleaveAll bool
	breaks        breaks
}

// breaks takes guards out, one at a time. The zero value is the protocol.
type breaks struct {
	promoteUnsettled    bool // without all chunks done
	promoteAnyVersion   bool // not conditioned on version and cursor
	openUnconditioned   bool // the checkpoint is not checked
	resetUnseen         bool // closing only if an open page was seen
	resetInOneStep      bool // no breach of the protocol: hides resetUnseen
	closeUnmarked       bool // closing goes, the page is not marked abandoned
	closeAny            bool // not conditioned on the version that is closing
	releaseUnchecked    bool // the checkpoint is not checked
	overGreater         bool // a receipt of a greater page may be overwritten
	ownAbandoned        bool // superseded by the reset of its own page: attempted all the same
	holdIsTerminal      bool
	laneGoesOn          bool // behind a hold
	settleUnconditioned bool // whatever receipt stands
	supersedeTerminal   bool
	supersedeAttempt    bool // a claim too
	claimAgain          bool // an expired claim is attempted again
	archiveLate         bool // after the open
	spoolAnyCursor      bool
	prefixOverHolds     bool
	neverDrive          bool // an open page is never driven again
	applyStale          bool // without looking whether the page is current: an optimisation
	everybodyRecalls    bool // each delivery reads receipts first: an optimisation the other way round
}

// model is a config and what follows from it.
type model struct {
	config
	lanes map[[2]uint8][][]uint8 // the chunks of (answer, mask): each is one lane here
	all   uint8                  // every event
}

func newModel(c config) *model {
	m := &model{config: c, lanes: map[[2]uint8][][]uint8{}}
	for i, a := range c.answers {
		if i == 0 {
			continue
		}
		m.all |= a.events
		for mask := range uint8(1 << maxEvents) {
			if mask&^a.events == 0 {
				m.lanes[[2]uint8{uint8(i), mask}] = m.cut(mask)
			}
		}
	}
	return m
}

// cut gives the lanes of a page, one an entity, in order of first appearance; each is a chunk of its own.
func (m *model) cut(mask uint8) [][]uint8 {
	var lanes [][]uint8
	at := map[uint8]int{}
	for e := uint8(1); e <= maxEvents; e++ {
		if mask&(1<<(e-1)) == 0 {
			continue
		}
		i, ok := at[m.entity[e-1]]
		if !ok {
			i = len(lanes)
			at[m.entity[e-1]] = i
			lanes = append(lanes, nil)
		}
		lanes[i] = append(lanes[i], e)
	}
	return lanes
}

func (m *model) chunks(p page) [][]uint8 { return m.lanes[[2]uint8{p.answer, p.mask}] }

// lane is the chunk that a process works on.
func (m *model) lane(s *state, v, chunk uint8) []uint8 { return m.chunks(*s.page(v))[chunk] }

func (m *model) settled(p page) bool { return bits.OnesCount8(p.flags&doneBits) >= len(m.chunks(p)) }

// top is the greatest position of an answer.
func (m *model) top(a uint8) uint8 { return uint8(bits.Len8(m.answers[a].events)) }

// start is the initial state, or the one that begin leads to.
func (m *model) start() state {
	trace := m.script(m.begin)
	if len(trace) == 0 {
		return first()
	}
	return trace[len(trace)-1].to
}

func first() state { return state{cp: checkpoint{version: 1, cursor: 1, floorOpen: true}} }

// script is the trace of lines such as "poll 1: read/checkpoint; read/page".
func (m *model) script(lines []string) (trace []move[state, label]) {
	at := first()
	for _, line := range lines {
		who, steps, _ := strings.Cut(line, ": ")
		for step := range strings.SplitSeq(steps, "; ") {
			n := len(trace)
			m.next(at, func(l label, to state, _ bool) {
				if len(trace) == n && l.String() == who+": "+step {
					trace = append(trace, move[state, label]{l, to})
				}
			})
			if len(trace) == n {
				panic("the model cannot go on with " + who + ": " + step)
			}
			at = trace[n].to
		}
	}
	return trace
}

// emit takes a successor.
type emit = func(l label, to state, helps bool)

// next gives every move of every process, the deaths, and what befalls messages.
func (m *model) next(s state, yield emit) {
	for i := range s.procs {
		if m.private(s.procs[i].pc) {
			m.move(s, slot(i), yield)
			return
		}
	}
	for i := range s.procs {
		m.move(s, slot(i), yield)
	}
	if m.loss {
		m.lose(s, yield)
	}
	if m.outside {
		m.later(s, yield)
	}
}

// move gives the moves of one process, and its death.
func (m *model) move(s state, who slot, yield emit) {
	p := s.procs[who]
	step := p.pc.site(who)
	did := func(l label, to state, helps bool) {
		l.who, l.step = who, step
		yield(l, to, helps)
	}
	switch who {
	case poll1, poll2:
		if int(who-poll1) < m.pollers {
			m.poll(s, who, did)
		}
	case apply1, apply2:
		if int(who-apply1) < m.appliers {
			m.apply(s, who, did)
		}
	case desk:
		m.decideEvent(s, who, did)
	case levers:
		m.decideStream(s, who, did)
	case ahead:
		if m.spool {
			m.readAhead(s, who, did)
		}
	}
	if m.crashes && p.pc != idle && p.pc != aheadDone {
		s.procs[who] = proc{}
		if who == ahead {
			s.procs[who].pc = aheadDone // one try is enough
		}
		yield(label{who: who, step: crash}, s, false)
	}
}
