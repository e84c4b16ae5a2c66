package handoff

import (
	"context"
	"fmt"
	"time"
)

// auditBatch is how many items one read of a walk asks for: with one chunk of events it bounds what an audit keeps in memory.
const auditBatch = lookupBatch

// Level says how much a finding weighs.
type Level string

// The levels.
const (
	Broken   Level = "broken"   // a promise is broken: it stood twice while the checkpoint stood still
	Unread   Level = "unread"   // an object could not be read, and nobody knows what it would have said
	Changed  Level = "changed"  // it looked wrong, and changed at every look
	Leftover Level = "leftover" // nothing is wrong: what a death left behind, and nobody needs
)

// Finding is one thing that an audit has to tell.
type Finding struct {
	Violation
	Level  Level       `json:"level"`
	Kind   FindingKind `json:"kind"`
	Stream Stream      `json:"stream"`
	// Conflict with EventID is the key of the receipt it is about.
	Conflict string `json:"conflict,omitempty"`
	// Promise is the invariant in words, Remedy what an operator does about it.
	Promise string `json:"promise,omitempty"`
	Remedy  string `json:"remedy"`
}

// AuditOptions limit or deepen an audit; the zero value looks at everything that needs no definition.
type AuditOptions struct {
	// From is the first page looked at; Last, if set, looks at no more than the last that many versions. With either, receipts and
	// documents are looked at only where those pages lead to them.
	From Version
	Last int
	// Binding is the stream's definition, where it is known: with it documents are compared with what their events say.
	Binding *Binding
	// Deep reads every raw answer again, as it was read when its page opened, and compares it with the page event by event: pages that
	// opened under another revision of the definition are left out. It needs Binding and keeps one page's events in memory.
	Deep bool
	// Progress, if set, is told after every page and every batch. It must not block.
	Progress func(AuditProgress)
}

// AuditProgress says how far a walk is.
type AuditProgress struct {
	// Stage is pages, receipts, holds, decisions or documents.
	Stage string
	// Pages were looked at, of Versions that there are (not each of them is a page: a reset passes versions that never opened).
	Pages, Versions int
	Receipts        int
}

// AuditSummary counts what an audit looked at and found.
type AuditSummary struct {
	Stream  Stream  `json:"stream"`
	Version Version `json:"version"` // of the checkpoint at the end
	Rev     uint64  `json:"rev"`
	From    Version `json:"from,omitempty"`
	// Pages were looked at; Forgotten of them only in part, because their record or their archive was due to expire.
	Pages     int `json:"pages"`
	Forgotten int `json:"forgotten,omitempty"`
	Events    int `json:"events"`
	Receipts  int `json:"receipts"`
	Holds     int `json:"holds"`
	Decisions int `json:"decisions"`
	Documents int `json:"documents"`
	// Moving: the stream worked meanwhile, and for that reason documents that pages did not explain were not held against receipts.
	Moving bool `json:"moving,omitempty"`
	// Reread counts the pages that a deep audit laid out again from their raw answers.
	Reread int `json:"reread,omitempty"`

	Broken   int `json:"broken"`
	Unread   int `json:"unread,omitempty"`
	Changed  int `json:"changed,omitempty"`
	Leftover int `json:"leftover,omitempty"`
}

// audit is one walk over a stream's record. It keeps one page's directory, one chunk of events and one batch of a listing.
type audit struct {
	*Engine
	stream Stream
	opt    AuditOptions
	out    func(Finding) error
	sum    AuditSummary
	cp     Checkpoint // as last read
	from   Version
	// forgets: records of this stream expire, so that what is not there may have been.
	forgets bool
	chain   chain
	tally   auditTally
	named   int // receipts that pages led to
}

// Audit walks a stream's pages, receipts, holds, decisions, documents and archive, and tells every broken promise of I1 to I9 that the
// record can show, one by one as it finds them. It writes nothing. A stream may work meanwhile: what looks wrong is looked at again, and
// is broken only if it stands twice while the checkpoint stands still.
//
// Errors: ErrNotFound if the stream was never started, whatever found gives, and what State cannot read; an archive that cannot be read
// is a finding.
func (e *Engine) Audit(ctx context.Context, s Stream, opt AuditOptions, found func(Finding) error) (AuditSummary, error) {
	cp, err := e.State.Checkpoint(ctx, s)
	if err != nil {
		return AuditSummary{}, fmt.Errorf("audit %s: %w", s, err)
	}
	a := &audit{Engine: e, stream: s, opt: opt, out: found, cp: cp, from: 1, forgets: e.Timing.RecordLife > 0}
	a.tally.begun = cp
	if opt.Last > 0 && cp.Version > Version(opt.Last) {
		a.from = cp.Version - Version(opt.Last) + 1
	}
	a.from = max(a.from, opt.From)
	a.sum.Stream = s
	if a.limited() {
		a.sum.From = a.from
	}
	for _, walk := range []func(context.Context) error{a.stands, a.pages, a.receiptsWalk, a.holds, a.decisions, a.documents} {
		if err := walk(ctx); err != nil {
			return a.sum, fmt.Errorf("audit %s: %w", s, err)
		}
	}
	a.sum.Version, a.sum.Rev = a.cp.Version, a.cp.Rev
	return a.sum, nil
}

// limited reports that not all of the stream is looked at.
func (a *audit) limited() bool { return a.from > 1 }

func (a *audit) progress(stage string) {
	if a.opt.Progress != nil {
		a.opt.Progress(AuditProgress{Stage: stage, Pages: a.sum.Pages, Versions: int(a.cp.Version - min(a.from, a.cp.Version) + 1), Receipts: a.sum.Receipts})
	}
}

// report tells findings and counts them.
func (a *audit) report(fs ...Finding) error {
	for _, f := range fs {
		switch f.Level {
		case Broken:
			a.sum.Broken++
		case Unread:
			a.sum.Unread++
		case Changed:
			a.sum.Changed++
		case Leftover:
			a.sum.Leftover++
		}
		f.Stream = a.stream
		if err := a.out(f); err != nil {
			return err
		}
	}
	return nil
}

// due reports that a time was set and has come.
func (a *audit) due(at time.Time) bool { return !at.IsZero() && !a.now().Before(at) }
