package local

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Hints makes the commands that people are told to run.
type Hints struct {
	// Command is how this program was called, e.g. bin/turnleaf.
	Command string
	// Flags are those every command needs to find the same data folder; empty for the default one.
	Flags []string
}

// Line quotes a whole command so that it can be pasted from here.
func (h Hints) Line(args ...string) string {
	words := append([]string{h.Command}, args...)
	words = append(words, h.Flags...)
	for i, w := range words {
		words[i] = ShellWord(w)
	}
	return strings.Join(words, " ")
}

// Resolve are the commands that decide about the receipt, the most likely one first.
func (h Hints) Resolve(r handoff.Receipt) []string {
	word := EventWord(r.EventID)
	of := func(as, reason string) string {
		return h.Line("resolve", string(r.Stream), word, "--as", as, "--reason", reason)
	}
	switch {
	case r.Outcome == handoff.Released || r.Outcome == handoff.Claimed: // it is being attempted; nothing is asked of anybody
		return nil
	case r.Outcome == handoff.Superseded || r.Conflict != "":
		return []string{of("ignore", "seen"), of("quarantine", "to be looked at")}
	case r.Reason == handoff.HoldInvalidEvent:
		return []string{of("ignore", "cannot be applied"), of("quarantine", "to be looked at")}
	case r.Reason == handoff.HoldAmbiguous:
		return []string{of("applied", "it did happen"), of("release", "it did not happen")}
	case r.Outcome == handoff.Retrying:
		return []string{of("retry_now", "the cause is mended")}
	}
	return []string{of("release", "checked"), of("ignore", "not wanted")}
}

// OnStream are the commands that end a halt or a pause.
func (h Hints) OnStream(st handoff.StreamStatus) []string {
	name := string(st.Stream)
	resume := h.Line("resume", name, "--reason", "checked")
	switch halt := st.Checkpoint.Halt; {
	case st.Checkpoint.Paused || halt == nil:
		return []string{resume}
	case halt.Reason.Acceptable():
		return []string{h.Line("accept", name, "--reason", "checked"), resume}
	}
	return []string{resume}
}

// announceBlock tells a person what blocks a stream and how to go on. Nothing for what heals by itself.
func (h Hints) announceBlock(st handoff.StreamStatus, strong func(string) string) string {
	b := st.Blocked
	if b == nil || !needsPerson(b) {
		return ""
	}
	name := Printable(string(st.Stream))
	var out strings.Builder
	rows := func(label string, lines ...string) {
		for i, l := range lines {
			if i > 0 {
				label = ""
			}
			fmt.Fprintf(&out, "  %-10s %s\n", label, l)
		}
	}
	why := b.By
	if b.Detail != "" {
		why += " (" + b.Detail + ")"
	}
	if r := b.Event; r != nil {
		out.WriteString(strong(fmt.Sprintf("%s: event %s is held, so page %d cannot turn.", name, Printable(EventWord(r.EventID)), st.Version)) + "\n")
		rows("why", Printable(why))
		rows("event", describe(*r))
		rows("since", b.Since.Local().Format("15:04:05"))
		rows("look at it", h.Line("show", string(st.Stream), EventWord(r.EventID)))
		commands := h.Resolve(*r)
		rows("decide", commands[0])
		rows("or", commands[1:]...)
	} else {
		out.WriteString(strong(fmt.Sprintf("%s: stopped at page %d.", name, st.Version)) + "\n")
		rows("why", Printable(why))
		rows("since", b.Since.Local().Format("15:04:05"))
		if st.Remedy != "" {
			rows("remedy", Printable(st.Remedy))
		}
		commands := h.OnStream(st)
		rows("decide", commands[0])
		rows("or", commands[1:]...)
	}
	return "\n" + out.String()
}

func describe(r handoff.Receipt) string {
	text := fmt.Sprintf("page %d", r.PageVersion)
	if !r.Position.IsZero() {
		text += ", position " + r.Position.String()
	}
	if r.Entity != "" {
		text += ", entity " + Printable(r.Entity)
	}
	return Printable(text)
}

// needsPerson tells holds, halts and pauses from what heals by itself.
func needsPerson(b *handoff.Blocked) bool {
	return strings.HasPrefix(b.By, "hold: ") || strings.HasPrefix(b.By, "halt: ") || b.By == "pause"
}

// sameBlock reports whether two states are blocked by the same thing.
func sameBlock(a, b *handoff.Blocked) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.By != b.By || (a.Event == nil) != (b.Event == nil) {
		return false
	}
	return a.Event == nil || a.Event.ReceiptKey == b.Event.ReceiptKey
}

// announceFreed tells what became of what blocked the stream; became is the receipt now, where an event blocked.
func announceFreed(before, now handoff.StreamStatus, became *handoff.Receipt, at time.Time) string {
	name := Printable(string(now.Stream))
	what := Printable(strings.TrimPrefix(before.Blocked.By, "halt: ")) + " is over"
	if became != nil {
		what = fmt.Sprintf("event %s is %s", Printable(EventWord(became.EventID)), outcomeOf(*became))
	}
	waited := fmt.Sprintf("after %s", ago(at, before.Blocked.Since))
	switch {
	case now.Version > before.Version:
		return fmt.Sprintf("%s: %s %s. Page %d is turned, the cursor moved on.", name, what, waited, before.Version)
	case now.Blocked != nil && needsPerson(now.Blocked):
		return fmt.Sprintf("%s: %s %s. Page %d still waits:", name, what, waited, before.Version)
	}
	return fmt.Sprintf("%s: %s %s. Page %d goes on.", name, what, waited, now.Version)
}

// outcomeOf says what became of an event, and who said so if it was a person.
func outcomeOf(r handoff.Receipt) string {
	if r.By != "" && r.By != "apply" && r.By != "close" {
		return string(r.Outcome) + " by " + Printable(r.By)
	}
	return string(r.Outcome)
}
