package random_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// record is one event in the source's log. ord is its place, known to the source alone; what it shows as a position follows from it.
type record struct {
	ord    int
	n      int // its name: "e7"
	entity int
	rev    int // of its content
	bad    bool
	hidden bool
	born   time.Time
}

// shown is a record as an answer shows it.
type shown struct {
	ID     string    `json:"id,omitempty"`
	Pos    string    `json:"pos,omitempty"`
	Entity string    `json:"entity,omitempty"`
	Body   string    `json:"body"`
	Time   time.Time `json:"time,omitzero"`
}

// reply is the body of an answer. Serial makes every answer known again wherever it turns up.
type reply struct {
	Serial   int              `json:"serial"`
	Kind     handoff.ReadKind `json:"kind"`
	Records  []shown          `json:"records,omitempty"`
	Next     handoff.Cursor   `json:"next,omitempty"`
	End      bool             `json:"end,omitempty"`
	Bookmark handoff.Cursor   `json:"bookmark,omitempty"`
}

// given is what the source remembers of an answer it gave: the model's one truth about what was seen under which cursor.
type given struct {
	reply
	cursor handoff.Cursor
	at     time.Time
}

// source is a log read through tokens. A token names the place it reads on from, and a number that makes it another token.
type source struct {
	set    setup
	clock  *clock
	log    []record
	names  int
	fresh  int // tokens made
	serial *int
	gave   map[int]given
	moods  []int
	// expired tokens are refused for good, spent ones too where a token works once.
	expired map[handoff.Cursor]bool
	well    bool
	// sneaked events were inserted or out of sight when a reader may have passed their place.
	sneaked map[int]bool
}

func newSource(set setup, c *clock, serial *int) *source {
	s := &source{set: set, clock: c, serial: serial, gave: map[int]given{}, expired: map[handoff.Cursor]bool{}, sneaked: map[int]bool{}}
	s.grow(set.Log)
	return s
}

const ordStep = 1000

// grow appends n events. Every ninth record is one that cannot be read.
func (s *source) grow(n int) {
	for range n {
		s.names++
		ord := ordStep
		if k := len(s.log); k > 0 {
			ord = (s.log[k-1].ord/ordStep + 1) * ordStep
		}
		s.log = append(s.log, record{
			ord: ord, n: s.names, entity: (s.names*s.names + s.set.Rules) % 3, bad: (s.names+s.set.Effects)%9 == 8, born: s.clock.now,
		})
	}
}

// insert puts an event between two that may have been read already.
func (s *source) insert(at int) {
	if len(s.log) == 0 || s.set.Order == orderGapless || s.set.Order == orderWatermark {
		return
	}
	i := at % len(s.log)
	ord := s.log[i].ord - 1
	if i > 0 && s.log[i-1].ord >= ord {
		return
	}
	s.names++
	s.sneaked[s.names] = true
	s.log = slices.Insert(s.log, i, record{ord: ord, n: s.names, entity: s.log[i].entity, born: s.clock.now})
}

// edit changes what an event says: the same id with another content.
func (s *source) edit(at int) {
	if len(s.log) > 0 && s.set.Order != orderWatermark {
		r := &s.log[at%len(s.log)]
		r.rev++
		s.sneaked[r.n] = s.sneaked[r.n] || r.bad // a record without an id is known by its content
	}
}

// hide takes an event out of sight for a while: a source that is behind itself.
func (s *source) hide(at int) {
	if len(s.log) > 0 && s.set.Order != orderWatermark {
		r := &s.log[at%len(s.log)]
		r.hidden = !r.hidden
		s.sneaked[r.n] = true
	}
}

// heal ends all mischief: from now on the source keeps its promises. What expired stays so.
func (s *source) heal() {
	s.well, s.moods = true, nil
	for i := range s.log {
		s.log[i].hidden = false
	}
}

// show is a record as its declared order shows it.
func (s *source) show(r record) shown {
	if r.bad {
		return shown{Body: fmt.Sprintf("bad%d.%d", r.n, r.rev)}
	}
	out := shown{ID: "e" + strconv.Itoa(r.n), Entity: entityOf(r.entity), Body: "v" + strconv.Itoa(r.rev)}
	switch s.set.Order {
	case orderArrival:
	case orderShared:
		out.Pos = strconv.Itoa(r.ord / (2 * ordStep))
	case orderGapless:
		out.Pos = strconv.Itoa(r.ord / ordStep)
	default:
		out.Pos = strconv.Itoa(r.ord)
	}
	if s.set.holdBack() > 0 {
		out.Time = r.born
	}
	return out
}

func entityOf(n int) string { return string(rune('A' + n)) }

// token gives a token that reads on after a place; number 0 is the durable one.
func token(after, number int) handoff.Cursor {
	return handoff.Cursor(fmt.Sprintf("%d.%d", after, number))
}

func afterOf(c handoff.Cursor) int {
	text, _, _ := strings.Cut(string(c), ".")
	n, _ := strconv.Atoi(text) // every token was made by token
	return n
}

func (s *source) freshToken(after int) handoff.Cursor {
	s.fresh++
	return token(after, s.fresh)
}

var errDown = errors.New("no route to the source")

// Ask answers from the log, or as the next mood has it.
func (s *source) Ask(ctx context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	if ctx.Err() != nil {
		return handoff.Answer{}, ctx.Err()
	}
	mood := moodNone
	if len(s.moods) > 0 {
		mood, s.moods = s.moods[0], s.moods[1:]
	}
	switch mood {
	case moodDown:
		return handoff.Answer{}, errDown
	case moodConfig:
		return handoff.Answer{}, fmt.Errorf("no secret: %w", handoff.ErrConfig)
	}
	r := s.answer(c, mood)
	*s.serial++
	r.Serial = *s.serial
	s.gave[r.Serial] = given{reply: r, cursor: c, at: now}
	body, err := json.Marshal(r)
	if err != nil {
		return handoff.Answer{}, err
	}
	if mood == moodUnreadable {
		body = append([]byte("<html>"), body...)
	}
	return handoff.Answer{Status: 200, FetchedAt: now, Body: body}, nil
}

// page cuts the log behind a token.
func (s *source) page(c handoff.Cursor, size, back int) (r reply) {
	after, first := afterOf(c), 0
	for first < len(s.log) && s.log[first].ord <= after {
		first++
	}
	last := min(first+size, len(s.log))
	for _, rec := range s.log[max(first-back, 0):last] {
		if !rec.hidden {
			r.Records = append(r.Records, s.show(rec))
		}
	}
	r.Kind, r.End = handoff.ReadPage, last == len(s.log)
	if last > first {
		after = s.log[last-1].ord
	}
	switch {
	case !r.End || last > first && s.set.End == 1:
		r.Next = token(after, 0)
	case s.set.End == 2: // no token at the end
	case s.set.End == 0:
		r.Next = c // the tail is read again from where it began
	default:
		r.Next = s.freshToken(after)
	}
	return r
}

// Read understands an answer: pure.
func (s *source) Read(a handoff.Answer) handoff.Reading {
	var r reply
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return handoff.Reading{Kind: handoff.ReadUnreadable, Class: "html", Detail: "not JSON"}
	}
	out := handoff.Reading{Kind: r.Kind, Next: r.Next, End: r.End, Continues: true, Bookmark: r.Bookmark, Class: "mischief", Detail: "mischief", TokenLife: s.set.tokenLife()}
	for _, rec := range r.Records {
		out.Events = append(out.Events, eventOf(rec, s.set))
	}
	return out
}

func eventOf(rec shown, set setup) handoff.Event {
	raw, _ := json.Marshal(rec) // plain strings always encode
	e := handoff.Event{Entity: rec.Entity, Raw: raw, Digest: handoff.DigestOf(raw), Time: rec.Time}
	e.ID = strconv.Quote(rec.ID)
	if rec.ID == "" {
		e.ID, e.Invalid = handoff.InvalidID(e.Digest), "no id"
		return e
	}
	if rec.Pos != "" {
		e.Position = positionOf(rec.Pos, set)
	}
	return e
}

func positionOf(text string, set setup) handoff.Position {
	if set.Order == orderTime {
		n, _ := strconv.Atoi(text) // five seconds from one event to the next: the source's clock is ahead of ours, at first
		p, _ := handoff.TimePosition(epoch.Add(time.Duration(n) * 5 * time.Second / ordStep).Format(time.RFC3339Nano))
		return p
	}
	p, _ := handoff.NumberPosition(text) // digits always read
	return p
}
