package walkthrough

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// record is one event as the scripted source shows it: its position is its number, its id too unless one is given.
type record struct {
	ID      string `json:"id,omitempty"`
	Pos     string `json:"pos,omitempty"`
	Entity  string `json:"entity"`
	Body    string `json:"body,omitempty"`
	Invalid string `json:"invalid,omitempty"`
}

// reply is one scripted answer.
type reply struct {
	Kind     handoff.ReadKind `json:"kind"`
	Records  []record         `json:"records"`
	Next     handoff.Cursor   `json:"next"`
	End      bool             `json:"end"`
	Bookmark handoff.Cursor   `json:"bookmark,omitempty"`
	Detail   string           `json:"detail,omitempty"`
}

// source answers by cursor from a script; the answer is JSON, archived and read again like any other.
type source struct {
	replies map[handoff.Cursor]func() reply
	asked   []handoff.Cursor
	// onAsk runs while the answer is on its way: the story's chance to let others go first.
	onAsk func()
}

func newSource() *source { return &source{replies: map[handoff.Cursor]func() reply{}} }

// page scripts an answer that has more behind it.
func (s *source) page(at, next handoff.Cursor, records ...record) {
	s.replies[at] = func() reply { return reply{Kind: handoff.ReadPage, Records: records, Next: next} }
}

// end scripts an answer that is the end for now.
func (s *source) end(at, next handoff.Cursor, records ...record) {
	s.replies[at] = func() reply { return reply{Kind: handoff.ReadPage, Records: records, Next: next, End: true} }
}

// ev is an event of an entity at a numbered position, its id the number.
func ev(n int, entity string) record {
	return record{ID: strconv.Itoa(n), Pos: strconv.Itoa(n), Entity: entity, Body: "v1"}
}

func evs(entity string, ns ...int) []record {
	var out []record
	for _, n := range ns {
		out = append(out, ev(n, entity))
	}
	return out
}

func (s *source) Ask(_ context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	s.asked = append(s.asked, c)
	script, ok := s.replies[c]
	if !ok {
		return handoff.Answer{}, fmt.Errorf("no route to the source")
	}
	body, err := json.Marshal(script())
	if err != nil {
		return handoff.Answer{}, err
	}
	if hook := s.onAsk; hook != nil {
		s.onAsk = nil
		hook()
	}
	return handoff.Answer{Status: 200, FetchedAt: now, Body: body, Request: handoff.SentRequest{Method: "GET", URL: "https://source.example/events"}}, nil
}

func (s *source) Read(a handoff.Answer) handoff.Reading {
	var r reply
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return handoff.Reading{Kind: handoff.ReadUnreadable, Class: "json", Detail: "not JSON"}
	}
	out := handoff.Reading{Kind: r.Kind, Next: r.Next, End: r.End, Continues: true, Bookmark: r.Bookmark, Detail: r.Detail, Class: "scripted"}
	for _, rec := range r.Records {
		raw, _ := json.Marshal(rec) // plain strings always encode
		e := handoff.Event{ID: jsonID(rec.ID), Entity: rec.Entity, Raw: raw, Digest: handoff.DigestOf(raw), Invalid: rec.Invalid}
		if rec.Pos != "" {
			e.Position, _ = handoff.NumberPosition(rec.Pos)
		}
		out.Events = append(out.Events, e)
	}
	return out
}

func jsonID(id string) string {
	b, _ := json.Marshal(id)
	return string(b)
}

// policy rules by event id; absent is apply.
type policy map[string]handoff.Ruling

func (p policy) Judge(e handoff.Event) (handoff.Ruling, error) {
	if r, ok := p[strings.Trim(e.ID, `"`)]; ok {
		return r, nil
	}
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}
