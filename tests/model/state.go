package model

import "strings"

// The model's values are single bytes, so that a state is small and compares as plain memory. Versions count from 1, events from 1,
// and an event's number is its position.
const (
	maxEvents   = 4
	maxVersions = 7
	maxChunks   = 2
)

// outcome is a receipt's. ignored stands for quarantined too: to the protocol they are one.
type outcome uint8

const (
	none outcome = iota
	applied
	ignored
	held
	released
	superseded
	claimed
	retrying
)

func (o outcome) terminal() bool { return o == applied || o == ignored }

func (o outcome) String() string {
	return [...]string{"none", "applied", "ignored", "held", "released", "superseded", "claimed", "retrying"}[o]
}

// receipt packs outcome, whether a release answered the policy's hold, whether an attempt is on it, and the stamp.
type receipt uint8

func newReceipt(o outcome, stamp uint8) receipt { return receipt(stamp)<<5 | receipt(o) }

const (
	answered receipt = 1 << 3
	attempt  receipt = 1 << 4
)

func (r receipt) outcome() outcome       { return outcome(r & 7) }
func (r receipt) stamp() uint8           { return uint8(r >> 5) }
func (r receipt) has(bit receipt) bool   { return r&bit != 0 }
func (r receipt) with(o outcome) receipt { return r&^7 | receipt(o) }

// checkpoint is the one record of where the stream stands. Its rev is not a number here: what matters of a rev is whether the
// checkpoint was written since somebody read it, and that is a bit of the reader (cpFresh).
type checkpoint struct {
	version, cursor, closing, applied uint8
	paused, floorOpen                 bool
}

// page is PAGE#v with its directory, which is written once: answer and mask never change.
type page struct {
	answer uint8 // which answer of the source it is made of; 0: there is no such page
	mask   uint8 // its events: those of the answer that were no proven replays
	flags  uint8
}

const (
	doneBits  uint8 = 1<<maxChunks - 1 // chunk k is done: bit k
	abandoned uint8 = 1 << 2
	driven    uint8 = 1 << 3 // more than once
	archived  uint8 = 1 << 4 // raw answer and events lay in the archive when it opened
)

func (p page) exists() bool       { return p.answer != 0 }
func (p page) is(bits uint8) bool { return p.flags&bits != 0 }

// What a process knows beyond its program counter.
const (
	cpFresh   uint8 = 1 << iota // the rev of the checkpoint that it read still stands
	pageFresh                   // nobody drove the page since it was read
	cached                      // the answer comes from the spool
	failed                      // a write of this round was refused; on apply: a lane was stopped
	redone                      // the delivery is not the chunk's first
	paused                      // the checkpoint was paused when it was read
	passed                      // the checkpoint is not what was asked for any more
	rawKept                     // its answer lies in the archive
)

// proc is one process: the call it makes next, and its memory. Dying takes all of it.
type proc struct {
	pc     pc
	v      uint8 // page version worked for
	cursor uint8 // cursor of the checkpoint that was read
	num    uint8 // applied position that was read; a prefix; a cursor to reset to
	bits   uint8
	answer uint8
	mask   uint8
	done   uint8
	chunk  uint8
	at     uint8 // place in the lane
	word   word
	fresh  uint8 // receipts read whose rev still stands: bit e-1
	known  [maxEvents]receipt
}

func (p *proc) is(bits uint8) bool { return p.bits&bits != 0 }

func (p *proc) know(e uint8, r receipt) {
	p.known[e-1] = r
	p.fresh |= 1 << (e - 1)
}

func (p *proc) forget(e uint8) {
	p.known[e-1] = 0
	p.fresh &^= 1 << (e - 1)
}

func (p *proc) stands(e uint8) bool { return p.fresh&(1<<(e-1)) != 0 }

// slot numbers the processes. Two pollers are alike, and so are two appliers.
type slot uint8

const (
	poll1 slot = iota
	poll2
	apply1
	apply2
	desk   // an operator's decisions on events
	levers // an operator's decisions on the stream, in another window
	ahead  // fetches ahead into the spool
	slots
	queue // no process: what happens to messages
	clock // no process: time
)

func (s slot) String() string {
	return [...]string{"poll 1", "poll 2", "apply 1", "apply 2", "operator (events)", "operator (stream)", "read-ahead", "", "queue", "time"}[s]
}

// spoolEntry is the one cached answer.
type spoolEntry struct{ version, cursor, epoch, answer uint8 }

// state is everything: what is stored, what is under way, and who is where.
type state struct {
	cp       checkpoint
	resets   uint8 // so far: the epoch
	receipts [maxEvents]receipt
	effects  [maxEvents]uint8 // how often it happened, up to 2
	excused  uint8            // released unknown attempts: one effect more is no breach
	skipped  uint8            // passed over by an audited reset
	late     uint8            // the lease or the wait on its receipt is over
	pages    [maxVersions]page
	messages [maxChunks]uint8 // chunk k of version v is under way: bit v of [k]
	spool    spoolEntry
	procs    [slots]proc
}

func (s *state) page(v uint8) *page { return &s.pages[v-1] }

func (s *state) receipt(e uint8) receipt { return s.receipts[e-1] }

// wroteCheckpoint makes every rev that others read stale; the writer knows what it wrote.
func (s *state) wroteCheckpoint(p *proc) {
	for i := range s.procs {
		s.procs[i].bits &^= cpFresh
	}
	p.bits |= cpFresh
}

// put writes a receipt. An attempt that goes on keeps its lease; one that ends takes its claimant's right with it.
func (s *state) put(e uint8, r receipt) {
	bit := uint8(1) << (e - 1)
	same := s.receipts[e-1].has(attempt) && r.has(attempt)
	if !same {
		s.late &^= bit
	}
	for i := range s.procs {
		p := &s.procs[i]
		p.fresh &^= bit
		if !same && p.pc.claiming() && p.mask == bit {
			p.bits |= failed
		}
	}
	s.receipts[e-1] = r
}

// effect is what applying an event does, counted.
func (s *state) effect(e uint8) { s.effects[e-1] = min(s.effects[e-1]+1, 2) }

// word is an operator's.
type word uint8

const (
	nothing word = iota
	release
	declare // applied
	ignore
	quarantine
	pause
	resume
	reset
)

func (w word) String() string {
	return [...]string{"", "release", "applied", "ignore", "quarantine", "pause", "resume", "reset"}[w]
}

// label names a transition: who made which call, and what was chosen where there was a choice.
type label struct {
	who  slot
	step string // a site of internal/fault, or one of crash, lose, later
	word word
	a, b uint8 // delivery: version, chunk; ask: answer; decision: event or cursor
	// again: the delivery is not the message's first.
	again bool
}

const (
	crash = "crash" // the process dies before its next call
	lose  = "lose"  // a message is gone
	later = "later" // leases and waits are over
)

func (l label) String() string {
	var b strings.Builder
	b.WriteString(l.who.String() + ": " + l.step)
	if l.word != nothing {
		b.WriteString(" " + l.word.String())
	}
	digit := func(n uint8) string { return string('0' + rune(n)) }
	switch {
	case l.who == apply1 || l.who == apply2 || l.who == queue:
		if l.a != 0 {
			b.WriteString(" message version " + digit(l.a) + " chunk " + digit(l.b))
		}
		if l.again {
			b.WriteString(", again")
		}
	case l.a != 0:
		b.WriteString(" " + digit(l.a))
	}
	return b.String()
}

// before orders processes, whatever the order.
func (p *proc) before(q *proc) bool {
	a, b := p.words(), q.words()
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

func (p *proc) words() (w [2]uint64) {
	for i, b := range [...]uint8{uint8(p.pc), p.v, p.cursor, p.num, p.bits, p.answer, p.mask, p.done} {
		w[0] |= uint64(b) << (8 * i)
	}
	for i, b := range [...]uint8{p.chunk, p.at, uint8(p.word), p.fresh, uint8(p.known[0]), uint8(p.known[1]), uint8(p.known[2]), uint8(p.known[3])} {
		w[1] |= uint64(b) << (8 * i)
	}
	return w
}
