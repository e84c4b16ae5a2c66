package random_test

import (
	"fmt"
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The moods of a source: what it does instead of its duty, for one answer.
const (
	moodNone = iota
	moodShort
	moodEmpty
	moodTwice
	moodOverlap
	moodDown
	moodUnavailable
	moodUnreadable
	moodRefused
	moodExpired
	moodToken
	moodStalled
	moodCycle
	moodSame
	moodTwoContents
	moodBackwards
	moodContradiction
	moodTooLarge
	moodClash
	moodBorder
	moodConfig
	moodMisconfigured
	moods // how many there are
)

// answer is what the source says under a mood.
func (s *source) answer(c handoff.Cursor, mood int) reply {
	if s.expired[c] {
		return reply{Kind: handoff.ReadCursorRefused}
	}
	size, back := s.set.Page+1, s.set.Overlap
	switch mood {
	case moodShort:
		size = 1
	case moodOverlap:
		back += 3
	}
	r := s.page(c, size, back)
	if !s.well {
		r = s.spoil(r, c, mood)
	}
	// A token that works once is spent by an answer that gives another.
	if s.set.once() && r.Kind == handoff.ReadPage && r.Next != c && r.Next != "" {
		s.expired[c] = true
	}
	return r
}

// spoil turns a good answer into a bad one.
func (s *source) spoil(r reply, c handoff.Cursor, mood int) reply {
	strict := s.set.Order == orderWatermark
	switch mood {
	case moodEmpty:
		return reply{Kind: handoff.ReadPage, Next: s.freshToken(afterOf(c))}
	case moodUnavailable:
		return reply{Kind: handoff.ReadUnavailable}
	case moodRefused:
		return reply{Kind: handoff.ReadCursorRefused}
	case moodExpired:
		s.expired[c] = true
		return reply{Kind: handoff.ReadCursorRefused}
	case moodToken:
		return reply{Kind: handoff.ReadTokenRefused, Bookmark: token(afterOf(c), 0)}
	case moodStalled:
		return reply{Kind: handoff.ReadPage, Next: c}
	case moodCycle:
		if c == token(afterOf(c), -1) {
			return reply{Kind: handoff.ReadPage, Next: token(afterOf(c), -2)}
		}
		return reply{Kind: handoff.ReadPage, Next: token(afterOf(c), -1)}
	case moodSame:
		r.Next, r.End = c, false
	case moodContradiction:
		r.Next, r.End = "", false
	case moodTooLarge:
		return reply{Kind: handoff.ReadTooLarge}
	case moodTwice:
		r.Records = append(r.Records, r.Records...)
	case moodTwoContents:
		if len(r.Records) > 0 && !strict {
			second := r.Records[0]
			second.Body += "'"
			r.Records = slices.Insert(r.Records, 1, second)
		}
	case moodMisconfigured:
		return reply{Kind: handoff.ReadMisconfigured}
	case moodClash:
		if len(r.Records) > 0 && !strict {
			r.Records = slices.Insert(r.Records, 1, s.stranger(r.Records[0]))
		}
	case moodBorder:
		i := slices.IndexFunc(s.log, func(rec record) bool { return rec.ord == afterOf(c) })
		if i >= 0 && !s.log[i].bad && !strict {
			r.Records = slices.Insert(r.Records, 0, s.stranger(s.show(s.log[i])))
		}
	case moodBackwards:
		if !strict {
			slices.Reverse(r.Records)
		}
	}
	return r
}

// stranger is another event in the place of one that stands there already.
func (s *source) stranger(of shown) shown {
	s.names++
	of.ID = fmt.Sprintf("e%d", s.names)
	return of
}
