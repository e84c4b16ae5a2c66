package fault_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
)

// scripted is a source without an answer.
type scripted struct{ handoff.Source }

func (scripted) Ask(context.Context, handoff.Cursor, time.Time) (handoff.Answer, error) {
	return handoff.Answer{}, nil
}

// Every method of every port is a site, and every site is on the list; each call tells those below where it belongs.
func TestEveryCallIsASite(t *testing.T) {
	t.Parallel()
	p, ctx := fault.New(nil), t.Context()
	s, a, q := p.State(memstate.New()), p.Archive(memstate.NewArchive()), p.Queue(&sender{})
	stands := func(v handoff.Version, rev uint64) *handoff.Checkpoint {
		return &handoff.Checkpoint{Stream: "s", ResumeCursor: "c", Version: v, Rev: rev}
	}
	put := func(v handoff.Version, rev uint64) *handoff.CheckpointWrite {
		return &handoff.CheckpointWrite{If: handoff.Guard{Rev: rev - 1}, Put: stands(v, rev)}
	}
	settle := func(r handoff.Receipt) {
		s.Settle(ctx, "s", []handoff.Settlement{{ReceiptWrite: handoff.ReceiptWrite{Put: r}}})
	}
	page, chunks := &handoff.Page{Stream: "s", Version: 1}, []handoff.ChunkRef{{}}
	halted := put(1, 6)
	halted.Put.Halt = &handoff.Halt{Reason: handoff.HaltGap}
	for _, tx := range []handoff.Tx{
		start("s"),
		{Stream: "s", Entry: &handoff.StreamEntry{}, Checkpoint: &handoff.CheckpointWrite{If: handoff.Guard{Rev: 1}}},
		{Stream: "s", PagePut: page, Directory: &handoff.Directory{Chunks: chunks}},
		{Stream: "s", PagePut: page, Directory: &handoff.Directory{}, Checkpoint: put(2, 2)},
		{Stream: "s", Checkpoint: put(1, 2)},
		{Stream: "s", Checkpoint: put(2, 3)},
		{Stream: "s", PageMark: &handoff.PageMark{Version: 1}},
		{Stream: "s", PageMark: &handoff.PageMark{Version: 1}, Checkpoint: put(2, 4)},
		{Stream: "s", PageAbsent: 1, Checkpoint: put(2, 5)},
		{Stream: "s", PageAbsent: 1, Checkpoint: halted},
		{Stream: "s", Decision: &handoff.DecisionRecord{ID: "d"}},
	} {
		_ = s.Commit(ctx, tx) // what the store thinks of it is no matter here
	}
	settle(handoff.Receipt{Outcome: handoff.Applied})
	settle(handoff.Receipt{Outcome: handoff.Claimed})
	settle(handoff.Receipt{Outcome: handoff.Superseded, By: "close"})
	_, _ = s.MarkChunk(ctx, "s", 1, 0)
	_ = s.MarkDriven(ctx, "s", 1, 0, 1, time.Time{})
	_, _ = s.AddStart(ctx, "s", 1, 0, handoff.Start{})
	_ = s.RemoveStart(ctx, "s", 1, 0, "t")
	_ = s.PutSpool(ctx, handoff.SpoolEntry{})
	_ = s.DropSpool(ctx, "s", 1)
	_, _ = s.Checkpoint(ctx, "s")
	_, _ = s.Streams(ctx)
	_, _ = s.Page(ctx, "s", 1)
	_, _ = s.ListPages(ctx, "s", 0, 1)
	_, _ = s.Directory(ctx, "s", 1)
	_, _ = s.Spool(ctx, "s", 1)
	_, _ = s.Receipts(ctx, "s", nil, true)
	_, _ = s.Receipts(ctx, "s", nil, false)
	_, _, _ = s.HeldReceipts(ctx, "s", "", 1)
	_, _, _ = s.ListReceipts(ctx, "s", "", 1)
	_, _ = s.Doc(ctx, "s", "e")
	_, _, _ = s.ListDocs(ctx, "s", "", 1)
	_, _ = s.Decision(ctx, "s", "d")
	_, _, _ = s.Audits(ctx, "s", "", 1)
	_ = a.Put(ctx, "raw/s/1/h/d.body", nil)
	_ = a.Put(ctx, "raw/s/1/h/d.json", nil)
	_ = a.Put(ctx, "events/s/1/d.ndjson.gz", nil)
	_ = a.Refresh(ctx, "k")
	_, _ = a.Get(ctx, "k")
	_, _ = a.GetRange(ctx, "k", 0, 1)
	_, _ = a.List(ctx, "raw/", 1)
	_ = q.SendChunks(ctx, nil, 0)
	_ = q.SendPoll(ctx, handoff.PollMessage{}, 0)
	_, _ = p.Source(scripted{}).Ask(ctx, "c", time.Time{})
	p.Effect(&counter{}).Call(ctx, handoff.Event{}, "k")

	var got, want []string
	for _, c := range p.Calls() {
		got = append(got, c.Site)
	}
	for _, site := range fault.Sites() {
		want = append(want, site.Name)
		if site.Meaning == "" {
			t.Errorf("the site %s says nothing", site.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("called %v\nlisted %v", got, want)
	}
}

// below sees the site that a call belongs to.
type below struct {
	handoff.State
	site string
}

func (b *below) Streams(ctx context.Context) ([]handoff.StreamEntry, error) {
	b.site = fault.SiteOf(ctx)
	return nil, nil
}

// Naming tells those below, and does nothing else.
func TestNaming(t *testing.T) {
	t.Parallel()
	p, b := fault.Naming(), &below{}
	p.Kill()
	if _, err := p.State(b).Streams(t.Context()); err != nil || b.site != "read/streams" || len(p.Calls()) != 0 {
		t.Errorf("%v, %q, %v", err, b.site, p.Calls())
	}
}
