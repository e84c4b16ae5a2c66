package main

import (
	"fmt"
	"io"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
)

// meterEvery is how often an audit says how far it is; a shorter one says nothing.
const meterEvery = time.Second

// meter tells progress: on a terminal one line that is written over, else a line each time.
type meter struct {
	out      io.Writer
	now      func() time.Time
	terminal local.Terminal
	last     time.Time // when it told, or began
	shown    bool      // a line stands on the terminal
}

// tell says how far an audit is, unless it just did.
func (m *meter) tell(st handoff.Stream, p handoff.AuditProgress) {
	now := m.now()
	if now.Sub(m.last) < meterEvery {
		return
	}
	m.last = now
	line := local.Printable(fmt.Sprintf("%s: %s: %d of %d pages, %d receipts", st, p.Stage, p.Pages, p.Versions, p.Receipts))
	if m.terminal.Width == nil {
		_, _ = fmt.Fprintln(m.out, line) // a terminal that is gone is nobody's fault
		return
	}
	m.clear()
	if runes := []rune(line); len(runes) >= m.terminal.Width() {
		line = string(runes[:max(m.terminal.Width()-1, 0)])
	}
	_, _ = fmt.Fprint(m.out, line)
	m.shown = true
}

// clear takes the line off the terminal, before something else is written there.
func (m *meter) clear() {
	if m.shown {
		_, _ = fmt.Fprint(m.out, "\r\x1b[K")
		m.shown = false
	}
}
