package local

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Terminal says what the output can do. The zero value is a file or a pipe: no rewriting, no colours.
type Terminal struct {
	// Width gives the columns now; nil if the output is no terminal.
	Width func() int
	Color bool
}

// echoed is the room for the ^C that a terminal echoes behind the line.
const echoed = 2

// screen writes blocks of text, and below them one live line that is rewritten in place. Rewriting uses a carriage return and
// spaces, so that it needs no escape sequence.
type screen struct {
	terminal Terminal
	mu       sync.Mutex // guards out and drawn
	out      io.Writer
	drawn    int // columns of the live line that stands
}

// live reports whether there is a line to rewrite.
func (s *screen) live() bool { return s.terminal.Width != nil }

// print writes whole lines above the live line. The text must be printable already; its line ends are kept.
func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(s.cleared() + strings.TrimSuffix(text, "\n") + "\n")
}

// draw rewrites the live line, cut to the terminal's width.
func (s *screen) draw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cols := max(s.terminal.Width()-1-echoed, 10)
	if utf8.RuneCountInString(text) > cols {
		text = string([]rune(text)[:cols-1]) + "…"
	}
	cleared := s.cleared()
	s.drawn = utf8.RuneCountInString(text)
	s.write(cleared + text)
}

// done leaves the cursor at the beginning of an empty line.
func (s *screen) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(s.cleared())
}

func (s *screen) cleared() string {
	if s.drawn == 0 {
		return ""
	}
	blank := "\r" + strings.Repeat(" ", s.drawn+echoed) + "\r"
	s.drawn = 0
	return blank
}

// write has nobody to tell when the terminal went away; the run goes on without it.
func (s *screen) write(text string) { _, _ = io.WriteString(s.out, text) }

// strong makes a headline stand out where colours are allowed.
func (s *screen) strong(text string) string {
	if !s.terminal.Color {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}
