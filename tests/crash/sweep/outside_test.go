package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// epoch is when every story begins.
var epoch = time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)

// clock is moved by the story alone; so are ids.
type clock struct {
	mu  sync.Mutex
	now time.Time
	ids int
	run string // begins every id, so that two lives never share one
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) New() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids++
	return c.run + "id-" + strconv.Itoa(c.ids)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// record is one event as the source shows it: its id is its position.
type record struct {
	Pos    int    `json:"pos"`
	Entity string `json:"entity"`
	Body   string `json:"body"`
}

// ev is an event with its first content.
func ev(pos int, entity string) record { return record{pos, entity, "v1"} }

// reply is one answer of the source.
type reply struct {
	Records []record       `json:"records"`
	Next    handoff.Cursor `json:"next"`
	End     bool           `json:"end"`
}

// source answers by cursor: the n-th request for one gets its n-th reply, and the last one from then on.
type source struct {
	replies map[handoff.Cursor][]reply
	asked   map[handoff.Cursor]int
}

func (s *source) Ask(_ context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	script, ok := s.replies[c]
	if !ok {
		return handoff.Answer{}, fmt.Errorf("nobody knows the cursor %q", c)
	}
	r := script[min(s.asked[c], len(script)-1)]
	s.asked[c]++
	body, err := json.Marshal(r)
	if err != nil {
		return handoff.Answer{}, err
	}
	return handoff.Answer{Status: 200, FetchedAt: now, Body: body, Request: handoff.SentRequest{Method: "GET", URL: "https://source.example/events"}}, nil
}

func (s *source) Read(a handoff.Answer) handoff.Reading {
	var r reply
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return handoff.Reading{Kind: handoff.ReadUnreadable, Class: "json", Detail: "not JSON"}
	}
	out := handoff.Reading{Kind: handoff.ReadPage, Next: r.Next, End: r.End, Continues: true}
	for _, rec := range r.Records {
		raw, _ := json.Marshal(rec) // plain fields always encode
		pos, _ := handoff.NumberPosition(strconv.Itoa(rec.Pos))
		out.Events = append(out.Events, handoff.Event{
			ID: strconv.Quote(strconv.Itoa(rec.Pos)), Position: pos, Entity: rec.Entity, Raw: raw, Digest: handoff.DigestOf(raw),
		})
	}
	return out
}

// bare is an event's id as the story writes it.
func bare(id string) string { return strings.Trim(id, `"`) }

// policy rules by event; absent is apply.
type policy map[string]handoff.Verdict

func (p policy) Judge(e handoff.Event) (handoff.Ruling, error) {
	if v, ok := p[bare(e.ID)]; ok {
		return handoff.Ruling{Verdict: v, Rule: "by the story"}, nil
	}
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

// delivery is a message and how often it was received.
type delivery struct {
	handoff.ChunkMessage
	due      time.Time
	receives int
	handle   string // of SQS
}

// queue keeps messages outside of any process, as SQS does.
type queue struct {
	clock  *clock
	chunks []delivery
	polls  []handoff.PollMessage
}

func (q *queue) SendChunks(_ context.Context, ms []handoff.ChunkMessage, delay time.Duration) error {
	for _, m := range ms {
		q.chunks = append(q.chunks, delivery{ChunkMessage: m, due: q.clock.Now().Add(delay)})
	}
	return nil
}

func (q *queue) SendPoll(_ context.Context, m handoff.PollMessage, _ time.Duration) error {
	q.polls = append(q.polls, m)
	return nil
}

// take gives the chunk messages that are due, each received once more.
func (q *queue) take(context.Context) ([]delivery, error) {
	var due, later []delivery
	for _, d := range q.chunks {
		if d.due.After(q.clock.Now()) {
			later = append(later, d)
			continue
		}
		d.receives++
		due = append(due, d)
	}
	q.chunks = later
	return due, nil
}

func (q *queue) takePolls(context.Context) ([]handoff.PollMessage, error) {
	ms := q.polls
	q.polls = nil
	return ms, nil
}

// again puts a message back that was not deleted.
func (q *queue) again(_ context.Context, d delivery) error {
	q.chunks = append(q.chunks, d)
	return nil
}

// done deletes a message.
func (q *queue) done(context.Context, delivery) error { return nil }
