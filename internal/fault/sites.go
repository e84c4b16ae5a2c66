package fault

import (
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Site is a place where the protocol calls out.
type Site struct {
	Name    string
	Meaning string
	Kind    Kind
}

// Kind says which faults a site's calls can tell apart.
type Kind int

// The kinds of a site. A write that is Conditional may be refused; one that is Many is about several items, and part of it may be done;
// Outside is a call that leaves a trace where no store sees it.
const (
	Write Kind = 1 << iota
	Conditional
	Many
	Outside
)

// Sites lists every site of every port in the order of a page's life, writes first. Names are stable.
func Sites() []Site { return slices.Concat(writes(), reads()) }

func writes() []Site {
	return []Site{
		{"start", "the first checkpoint of a stream, and its line in the list of streams", Write | Conditional},
		{"enlist", "a stream's line in the list of streams, its checkpoint untouched", Write | Conditional},
		{"archive/raw", "the body of an answer, as it came", Write | Conditional},
		{"archive/meta", "the object that describes an answer", Write | Conditional},
		{"archive/events", "a page's events, one gzip member a chunk", Write | Conditional},
		{"archive/keep", "an object that is still needed starts its life anew", Write},
		{"open", "page and directory, while the checkpoint is what the answer was fetched for", Write | Conditional},
		{"turn", "a page with nothing to do: put as done and promoted in one", Write | Conditional},
		{"send", "messages that name chunks", Write | Many},
		{"drive", "the count and the time of sending a page's chunks", Write | Conditional},
		{"poison/count", "a start of a delivery that is not its chunk's first", Write},
		{"poison/uncount", "such a start is taken back at an orderly end", Write},
		{"apply/claim", "an attempt, before the outside call", Write | Conditional | Many},
		{"call", "the outside call", Write | Outside},
		{"apply/settle", "receipts, each with its effect", Write | Conditional | Many},
		{"chunk", "a chunk is done", Write},
		{"promote", "the cursor moves, the version grows", Write | Conditional},
		{"expire", "a page's record may be forgotten some day", Write | Conditional},
		{"continue", "the message that asks for another poll", Write},
		{"note", "anything else about the checkpoint: waits, refusals, the prefix", Write | Conditional},
		{"halt", "the stream stops itself", Write | Conditional},
		{"spool", "an answer fetched ahead", Write | Conditional},
		{"unspool", "spooled answers of one version go", Write},
		{"decide", "a decision, what it changes, and its audit line", Write | Conditional},
		{"close/settle", "receipts of events that a reset passed", Write | Conditional | Many},
		{"close", "the page that a reset passed is abandoned, and closing is over", Write | Conditional},
	}
}

func reads() []Site {
	return []Site{
		{"ask", "one request to the source", Outside},
		{"read/checkpoint", "where the stream stands", 0},
		{"read/streams", "the list of streams", 0},
		{"read/page", "a page item", 0},
		{"read/pages", "pages in order", 0},
		{"read/directory", "a page's directory", 0},
		{"read/spool", "answers fetched ahead", 0},
		{"read/replays", "receipts that may prove a replay, eventually consistent", Many},
		{"read/receipts", "receipts, strongly consistent", 0},
		{"read/held", "the list of holds", 0},
		{"read/ledger", "every receipt, for an audit", 0},
		{"read/document", "a projection's document", 0},
		{"read/documents", "every document", 0},
		{"read/decision", "a decision by its id", 0},
		{"read/audits", "the record of decisions", 0},
		{"read/raw", "an archived answer or its description", 0},
		{"read/chunk", "one chunk's bytes", 0},
		{"read/answers", "the keys of archived answers", 0},
	}
}

// base is a checkpoint that a write may be conditioned on.
type base struct {
	stream handoff.Stream
	rev    uint64
}

// saw remembers the version of each checkpoint that went by, because a write says only which rev it replaces.
func (p *Process) saw(cp handoff.Checkpoint) {
	p.mu.Lock()
	p.bases[base{cp.Stream, cp.Rev}] = cp.Version
	p.mu.Unlock()
}

// commitSite names a transaction by the step it is.
func (p *Process) commitSite(tx handoff.Tx) string {
	moves := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		w := tx.Checkpoint
		if w == nil || w.Put == nil {
			return false
		}
		from, known := p.bases[base{tx.Stream, w.If.Rev}]
		return known && from < w.Put.Version
	}
	switch {
	case tx.Decision != nil:
		return "decide"
	case tx.PagePut != nil && tx.Directory != nil && len(tx.Directory.Chunks) > 0:
		return "open"
	case tx.PagePut != nil:
		return "turn"
	case tx.Receipt != nil: // a wait that a late caller writes, while the stream stands as it saw it
		return "apply/settle"
	case tx.PageMark != nil && tx.Checkpoint == nil:
		return "expire"
	case tx.PageMark != nil:
		return "close"
	case tx.Entry != nil && (tx.Checkpoint == nil || tx.Checkpoint.Put == nil):
		return "enlist"
	case tx.Entry != nil:
		return "start"
	case tx.PageAbsent != 0 && tx.Checkpoint != nil && tx.Checkpoint.Put != nil && tx.Checkpoint.Put.Halt == nil:
		return "close" // of a page that never opened
	case tx.PageAbsent != 0:
		return "halt"
	case moves():
		return "promote"
	}
	return "note"
}

// settleSite names a settlement by who writes it.
func settleSite(items []handoff.Settlement) string {
	for _, s := range items {
		switch {
		case s.Put.By == "close" && (s.Put.Outcome == handoff.Superseded || s.Put.Attempt != nil):
			return "close/settle"
		case s.Put.Outcome == handoff.Claimed:
			return "apply/claim"
		}
	}
	return "apply/settle"
}

// putSite names an archive write by what is kept.
func putSite(key string) string {
	switch {
	case strings.HasPrefix(key, "events/"):
		return "archive/events"
	case strings.HasSuffix(key, ".json"):
		return "archive/meta"
	}
	return "archive/raw"
}
