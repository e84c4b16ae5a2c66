package random_test

import (
	"slices"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// acts are the steps by name. Their numbers are taken modulo what there is to choose from, so that every script is a run.
var acts = map[string]func(w *world, a, b int){
	"cycle": func(w *world, a, _ int) { w.cycle(w.pick(a)) },
	"tick":  func(w *world, a, _ int) { w.spawn(); w.poll(w.pick(a), handoff.PollMessage{}) },
	"apply": (*world).actApply,
	"hint":  (*world).actHint,
	"go":    (*world).actGo,
	"end":   func(w *world, a, _ int) { w.with(a, (*process).finish) },
	"fault": (*world).actFault,
	"kill":  func(w *world, a, b int) { w.strike(a, b, func(p *process) { p.pass(fault.CrashBefore) }) },
	"freeze": func(w *world, a, b int) {
		w.strike(a, b, func(p *process) { p.frozen = true; w.note("%s is frozen", p.name) })
	},
	"wake":   (*world).actWake,
	"wait":   func(w *world, a, _ int) { w.wait(waits[a%len(waits)]) },
	"grow":   func(w *world, a, b int) { w.pick(a).source.grow(1 + b%5) },
	"mood":   (*world).actMood,
	"sink":   (*world).actSink,
	"change": (*world).actChange,
	"decide": (*world).actDecide,
	"order":  (*world).actOrder,
	"again":  (*world).actAgain,
	"drop":   (*world).actDrop,
	"lose":   (*world).actLose,
	"poison": (*world).actPoison,
	"deploy": (*world).actDeploy,
	"ahead":  (*world).actAhead,
	"sleep":  (*world).actSleep,
	"adrift": (*world).actAdrift,
	"land":   (*world).actLand,
}

// weights say how often each step is drawn, the plainest first: shrinking goes towards the front.
var weights = []struct {
	name string
	n    int
}{
	{"cycle", 8}, {"tick", 8}, {"apply", 10}, {"end", 8}, {"go", 12}, {"wait", 6}, {"hint", 3}, {"grow", 3}, {"decide", 9}, {"order", 5},
	{"fault", 9}, {"kill", 3}, {"mood", 5}, {"change", 6}, {"sink", 5}, {"freeze", 3}, {"wake", 2}, {"drop", 2}, {"again", 1}, {"lose", 1}, {"poison", 1},
	{"deploy", 1}, {"ahead", 2}, {"sleep", 5}, {"adrift", 4}, {"land", 4},
}

// deck is weights dealt out.
func deck() (names []string) {
	for _, w := range weights {
		for range w.n {
			names = append(names, w.name)
		}
	}
	return names
}

var waits = []time.Duration{
	time.Second, 20 * time.Second, time.Minute, 4 * time.Minute, 10 * time.Minute, 36 * time.Second, 20 * time.Minute, 25 * time.Hour,
}

func (w *world) wait(d time.Duration) { w.clock.now = w.clock.now.Add(d) }

// pick is mostly the first stream.
func (w *world) pick(a int) *stream {
	if a%5 == 4 {
		return w.streams[1]
	}
	return w.streams[0]
}

// awake lists the processes that are not frozen.
func (w *world) awake() []*process {
	return slices.DeleteFunc(slices.Clone(w.procs), func(p *process) bool { return p.frozen })
}

func (w *world) with(a int, do func(*process)) {
	if ps := w.awake(); len(ps) > 0 {
		do(ps[a%len(ps)])
	}
}

// cycle is a whole turn without a fault: a poll to its end, then every message that is due.
func (w *world) cycle(st *stream) {
	w.spawn()
	w.poll(st, handoff.PollMessage{}).finish()
	for i := 0; i < len(w.queue.chunks) && len(w.broken) == 0; {
		m := w.queue.chunks[i]
		if m.Stream != st.name || m.due.After(w.clock.now) {
			i++
			continue
		}
		w.queue.chunks = slices.Delete(w.queue.chunks, i, i+1)
		w.deliver(m, false).finish()
	}
}

// actApply delivers any chunk message; b says whether it stays to come again, and whether the invocation has a deadline.
func (w *world) actApply(a, b int) {
	if len(w.queue.chunks) == 0 {
		return
	}
	w.spawn()
	i := a % max(len(w.queue.chunks), 1)
	if len(w.queue.chunks) == 0 {
		return
	}
	m := w.queue.chunks[i]
	if b%4 == 3 {
		w.queue.chunks[i].receives++
	} else {
		w.queue.chunks = slices.Delete(w.queue.chunks, i, i+1)
	}
	w.deliver(m, b%2 == 1)
}

// actHint delivers any poll message; b says whether it stays.
func (w *world) actHint(a, b int) {
	w.spawn()
	if len(w.queue.polls) == 0 {
		return
	}
	i := a % len(w.queue.polls)
	m := w.queue.polls[i]
	if b%4 != 3 {
		w.queue.polls = slices.Delete(w.queue.polls, i, i+1)
	}
	w.poll(w.stream(m.Stream), m)
}

func (w *world) actDrop(a, b int) {
	q := w.queue
	if b%3 == 2 && len(q.polls) > 0 {
		i := a % len(q.polls)
		q.polls = slices.Delete(q.polls, i, i+1)
	} else if len(q.chunks) > 0 {
		i := a % len(q.chunks)
		q.chunks = slices.Delete(q.chunks, i, i+1)
	}
}

// actGo lets a process make a few calls.
func (w *world) actGo(a, b int) {
	w.with(a, func(p *process) {
		n := 1 + b%12
		p.until(func() bool { n--; return n < 0 })
	})
}

func (w *world) actFault(a, b int) {
	all := slices.DeleteFunc(fault.Outcomes(), func(o fault.Outcome) bool { return o == fault.Frozen }) // freezing is a step of its own
	w.strike(a, b/len(all), func(p *process) { p.pass(all[b%len(all)]) })
}

// strike does something to a process right before the call it stands at, or before its first, second or third write from there.
func (w *world) strike(a, b int, do func(*process)) {
	w.with(a, func(p *process) {
		for n := b % 4; n > 0; n-- {
			p.until(func() bool { return p.pending.Write })
			if n > 1 && p.parked {
				p.pass(fault.None)
			}
		}
		if p.parked && len(w.broken) == 0 {
			do(p)
		}
	})
}

// actWake wakes a frozen process; whatever time has passed, it goes on.
func (w *world) actWake(a, _ int) {
	frozen := slices.DeleteFunc(slices.Clone(w.procs), func(p *process) bool { return !p.frozen })
	if len(frozen) > 0 {
		frozen[a%len(frozen)].frozen = false
	}
}

func (w *world) actMood(a, b int) {
	s := w.pick(a).source
	times := 1 + a%3
	if mood := b % moods; mood == moodCycle || mood == moodStalled || mood == moodUnreadable {
		times = 5 // these matter only if they last
	}
	for range times {
		s.moods = append(s.moods, b%moods)
	}
}

// actSink sets the moods of the next two calls, or of one: an answer that follows a lost one is not about the first call.
func (w *world) actSink(a, b int) {
	s := w.pick(a).sink
	s.moods = append(s.moods, b%sinkMoods)
	if second := b / sinkMoods % (sinkMoods + 1); second > 0 {
		s.moods = append(s.moods, second-1)
	}
}

func (w *world) actChange(a, b int) {
	s := w.pick(a).source
	[]func(int){s.edit, s.insert, s.hide}[b%3](b / 3)
}
