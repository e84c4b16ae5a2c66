package random_test

import (
	"fmt"
	"strconv"
	"strings"
)

// script is one run as data: what the world is, then what happens, step by step.
type script struct {
	setup setup
	steps []step
}

// setup is what a run draws before it begins, each a small number, read by the field's own table.
type setup struct {
	Effect  int // 0 projection, 1 idempotent, 2 idempotent within a window, 3 unsafe
	Order   int // see contractOf
	Lanes   int // 0 entity, 1 page, 2 event
	Chunk   int // events per chunk
	Page    int // events per page of the source
	Overlap int // events that each page shows again
	End     int // what the source's last token is: 0 the same again, 1 a fresh one, 2 none
	Log     int // events at the start
	Rules   int // seed of the policy
	Late    int // 1: late events are applied
	Once    int // 1: a token works once
	Young   int // 1: young events are held back
	Tries   int // attempts before an event is held; 0 for ever
	Effects int // seed of what effects refuse
	Pace    int // of polls at the end, and of the life of tokens
}

// fields names the numbers in the order in which they are drawn, with the highest value each may take.
func (s *setup) fields() []field {
	return []field{
		{"effect", &s.Effect, 3}, {"order", &s.Order, 5}, {"lanes", &s.Lanes, 2}, {"chunk", &s.Chunk, 3}, {"page", &s.Page, 5},
		{"overlap", &s.Overlap, 2}, {"end", &s.End, 2}, {"log", &s.Log, 9}, {"rules", &s.Rules, 15}, {"late", &s.Late, 1},
		{"once", &s.Once, 3}, {"young", &s.Young, 3}, {"tries", &s.Tries, 3}, {"effects", &s.Effects, 7}, {"pace", &s.Pace, 2},
	}
}

type field struct {
	name string
	at   *int
	max  int
}

// step is one thing that happens. What its numbers mean depends on its name; they are taken modulo what there is to choose from.
type step struct {
	name string
	a, b int
}

func (s step) String() string { return fmt.Sprintf("%s.%d.%d", s.name, s.a, s.b) }

// GoString is how rapid shows it.
func (s script) GoString() string { return s.String() }

// String is the script as one line that parseScript reads.
func (s script) String() string {
	var words []string
	for _, f := range s.setup.fields() {
		if *f.at != 0 {
			words = append(words, fmt.Sprintf("%s=%d", f.name, *f.at))
		}
	}
	for _, st := range s.steps {
		words = append(words, st.String())
	}
	return strings.Join(words, " ")
}

// parseScript reads words: name=number for the setup, name.a.b for a step; lines that begin with # are comments.
func parseScript(text string) (script, error) {
	var s script
	known := map[string]*int{}
	for _, f := range s.setup.fields() {
		known[f.name] = f.at
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(line) {
			if err := s.read(known, word); err != nil {
				return script{}, fmt.Errorf("script: %q: %w", word, err)
			}
		}
	}
	return s, nil
}

func (s *script) read(known map[string]*int, word string) (err error) {
	if name, value, ok := strings.Cut(word, "="); ok {
		if known[name] == nil {
			return fmt.Errorf("no such field")
		}
		*known[name], err = strconv.Atoi(value)
		return err
	}
	parts := strings.Split(word, ".")
	if len(parts) != 3 || acts[parts[0]] == nil {
		return fmt.Errorf("no such step")
	}
	st := step{name: parts[0]}
	if st.a, err = strconv.Atoi(parts[1]); err != nil {
		return err
	}
	st.b, err = strconv.Atoi(parts[2])
	s.steps = append(s.steps, st)
	return err
}
