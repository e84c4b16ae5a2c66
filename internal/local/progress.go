package local

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// rateWindow is how far back the speed looks.
const rateWindow = 5 * time.Second

// tally counts what happened since this start.
type tally struct {
	pages, applied, ignored, quarantined int
}

// progress is what is known of one stream. Its owner guards it.
type progress struct {
	stream   handoff.Stream
	version  handoff.Version
	tally    tally
	status   handoff.StreamStatus
	known    bool // status was read at least once
	caughtUp bool // the last poll reached the source's end
	samples  []sample
}

type sample struct {
	at     time.Time
	events int
}

// applied counts one delivery.
func (p *progress) applied(r handoff.ApplyReport, now time.Time) {
	p.tally.applied += r.Applied
	p.tally.ignored += r.Ignored
	p.tally.quarantined += r.Quarantined
	if r.Promoted {
		p.tally.pages++
	}
	p.samples = append(p.samples, sample{now, r.Applied + r.Ignored + r.Quarantined})
}

// polled counts one poll.
func (p *progress) polled(r handoff.PollReport) {
	if r.Version > p.version {
		p.version = r.Version
	}
	switch r.Did {
	case handoff.ActTurned, handoff.ActPromoted:
		p.tally.pages++
		p.caughtUp = false
	case handoff.ActCaughtUp:
		p.caughtUp = true
	case handoff.ActOpened:
		p.caughtUp = false
	}
}

// rate is events per second over the last seconds.
func (p *progress) rate(now time.Time) float64 {
	keep := 0
	for keep < len(p.samples) && now.Sub(p.samples[keep].at) >= rateWindow {
		keep++
	}
	p.samples = p.samples[keep:]
	sum := 0
	for _, s := range p.samples {
		sum += s.events
	}
	return float64(sum) / rateWindow.Seconds()
}

// line is the stream in one line. What blocks it comes first, because a narrow terminal cuts the end.
func (p *progress) line(now time.Time) string {
	parts := []string{fmt.Sprintf("%s  page %d", Printable(string(p.stream)), p.version)}
	if state := p.state(now); state != "" {
		parts = append(parts, state)
	}
	return strings.Join(append(parts,
		fmt.Sprintf("%d pages turned", p.tally.pages),
		fmt.Sprintf("%d applied", p.tally.applied),
		fmt.Sprintf("%d ignored", p.tally.ignored),
		fmt.Sprintf("%d quarantined", p.tally.quarantined),
		fmt.Sprintf("%d held", p.status.Held),
		fmt.Sprintf("%.0f/s", p.rate(now)),
	), " · ")
}

func (p *progress) state(now time.Time) string {
	switch b := p.status.Blocked; {
	case b != nil:
		return fmt.Sprintf("blocked %s by %s", ago(now, b.Since), blockedBy(b))
	case p.caughtUp:
		return "caught up"
	}
	return ""
}

func blockedBy(b *handoff.Blocked) string {
	if b.Event != nil {
		return Printable(b.By + " of " + EventWord(b.Event.EventID))
	}
	return Printable(b.By)
}

// summary is several streams in one line: what is blocked, and for how long, before what a narrow terminal may cut.
func summary(ps []*progress, now time.Time) string {
	if len(ps) == 1 {
		return ps[0].line(now)
	}
	var sum tally
	held, rate, blocked := 0, 0.0, []string{}
	for _, p := range ps {
		sum.pages += p.tally.pages
		sum.applied += p.tally.applied
		sum.ignored += p.tally.ignored
		sum.quarantined += p.tally.quarantined
		held += p.status.Held
		rate += p.rate(now)
		if b := p.status.Blocked; b != nil {
			blocked = append(blocked, fmt.Sprintf("%s %s by %s", Printable(string(p.stream)), ago(now, b.Since), blockedBy(b)))
		}
	}
	line := fmt.Sprintf("%d streams", len(ps))
	if len(blocked) > 0 {
		line += fmt.Sprintf(" · %d blocked: %s", len(blocked), strings.Join(blocked, ", "))
	}
	return line + fmt.Sprintf(" · %d pages turned · %d applied · %d ignored · %d quarantined · %d held · %.0f/s",
		sum.pages, sum.applied, sum.ignored, sum.quarantined, held, rate)
}

// ago is how long ago, in one unit or two.
func ago(now, then time.Time) string {
	d := max(now.Sub(then), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}
