package sweep

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// judge holds the end against the story's model, what was watched on the way, and the invariants. It gives all that is wrong.
func (p *player) judge() []string {
	p.wrong = append(p.wrong, p.watch.broken...)
	found, err := p.other.engine.CheckInvariants(p.ctx, p.stream)
	for p.broke < maxSteps && p.brokeOff(err) {
		found, err = p.other.engine.CheckInvariants(p.ctx, p.stream)
	}
	p.sane(err)
	for _, v := range found {
		p.failf("%s broken at version %d, event %s: %s", v.Invariant, v.Version, v.EventID, v.Detail)
	}
	p.judgeStream()
	p.judgeEvents()
	if p.sink.kind == handoff.Transactional {
		p.judgeEffects(p.watch.effects)
		p.judgeDocuments()
	} else {
		p.judgeEffects(p.sink.record)
	}
	return p.wrong
}

func (p *player) judgeStream() {
	ends := p.story.ends
	cp, err := p.clean.state.Checkpoint(p.ctx, p.stream)
	p.sane(err)
	spare := handoff.Version(0) // a replay that could not be looked up makes a page of its own
	for _, s := range p.struck {
		if s.Site == "read/replays" && s.Outcome == fault.Unprocessed {
			spare++
		}
	}
	if cp.ResumeCursor != ends.cursor || cp.Version < ends.version || cp.Version > ends.version+spare || cp.Halt != nil || cp.Closing != 0 {
		p.failf("I10: the end was not reached: cursor %q, version %d, halt %v, closing %d", cp.ResumeCursor, cp.Version, cp.Halt, cp.Closing)
	}
	if got := cp.AppliedPosition.String(); got != ends.applied {
		p.failf("the applied position is %s, want %s", got, ends.applied)
	}
	if _, err := p.clean.state.Page(p.ctx, p.stream, cp.Version); !errors.Is(err, handoff.ErrNotFound) {
		p.failf("a page is open at the end: %v", err)
	}
	entries, err := p.clean.state.Streams(p.ctx)
	p.sane(err)
	for _, e := range entries {
		if e.Stream == p.stream && !e.OrphanedAt.IsZero() {
			p.failf("the stream is orphaned, though its definition is back")
		}
	}
}

// judgeEvents: every event is terminal, as the story says, and nothing is held.
func (p *player) judgeEvents() {
	ends := p.story.ends
	want := map[handoff.ReceiptKey]handoff.Outcome{}
	for _, ids := range ends.effects {
		for id := range strings.FieldsSeq(ids) {
			want[handoff.ReceiptKey{EventID: `"` + id + `"`}] = handoff.Applied
		}
	}
	for _, id := range ends.quarantined {
		want[handoff.ReceiptKey{EventID: `"` + id + `"`}] = handoff.Quarantined
	}
	rs, next, err := p.clean.state.ListReceipts(p.ctx, p.stream, "", 100)
	p.sane(err)
	conflicts := map[string]handoff.Outcome{}
	for _, r := range rs {
		if r.Conflict != "" {
			conflicts[bare(r.EventID)] = r.Outcome
			continue
		}
		if r.Outcome != want[r.ReceiptKey] {
			p.failf("event %s is %s (%s), want %q", r.EventID, r.Outcome, r.Reason, want[r.ReceiptKey])
		}
		delete(want, r.ReceiptKey)
	}
	for k := range want {
		p.failf("event %s has no receipt", k.EventID)
	}
	if next != "" || !maps.Equal(conflicts, ends.conflicts) {
		p.failf("second contents are %v, want %v", conflicts, ends.conflicts)
	}
}

// judgeEffects: each effect exactly once, in the order of its entity.
func (p *player) judgeEffects(record []effect) {
	got := map[string]string{}
	for _, e := range record {
		got[e.Entity] = strings.TrimSpace(got[e.Entity] + " " + e.ID)
	}
	if !maps.Equal(got, p.story.ends.effects) {
		p.failf("I4 or I7: the effects are %v, want %v", got, p.story.ends.effects)
	}
}

// judgeDocuments: the documents hold each effect once, and the last one of each entity.
func (p *player) judgeDocuments() {
	total := 0
	for entity, ids := range p.story.ends.effects {
		doc, err := p.clean.state.Doc(p.ctx, p.stream, entity)
		p.sane(err)
		want := strings.Fields(ids)
		total += len(want)
		for _, id := range want {
			if n := string(doc.Fields["n"+id]); n != "1" {
				p.failf("I4: document %s counts event %s %q times", entity, id, n)
			}
		}
		if last := bare(string(doc.Fields["last"])); last != want[len(want)-1] || len(doc.Fields) != len(want)+1 {
			p.failf("I7: document %s ends with %s of %v", entity, last, slices.Sorted(maps.Keys(doc.Fields)))
		}
	}
	doc, err := p.clean.state.Doc(p.ctx, p.stream, "all")
	p.sane(err)
	if n, want := string(doc.Fields["total"]), total; n != strconv.Itoa(want) {
		p.failf("I4: %s effects in all, want %d", n, want)
	}
}
