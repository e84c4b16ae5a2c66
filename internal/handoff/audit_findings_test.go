package handoff_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// on changes one page's record; onDir, onReceipt the same.
func on(v handoff.Version, edit func(*handoff.Page)) func(*handoff.Page) {
	return func(p *handoff.Page) {
		if p.Version == v {
			edit(p)
		}
	}
}

func onDir(v handoff.Version, edit func(*handoff.Directory)) func(*handoff.Directory) {
	return func(d *handoff.Directory) {
		if d.Version == v {
			edit(d)
		}
	}
}

func onReceipt(key handoff.ReceiptKey, edit func(*handoff.Receipt)) func(*handoff.Receipt) {
	return func(r *handoff.Receipt) {
		if r.ReceiptKey == key {
			edit(r)
		}
	}
}

// becomes is a receipt of another outcome.
func becomes(o handoff.Outcome) func(*handoff.Receipt) {
	return func(r *handoff.Receipt) { r.Outcome = o }
}

// without hides the record of one decision.
func without(kind handoff.DecisionKind, before string) func(*handoff.AuditRecord) bool {
	return func(r *handoff.AuditRecord) bool {
		return r.Kind != kind || !strings.Contains(r.Before, "at version "+before+",")
	}
}

func under(v string) func(string) bool {
	return func(key string) bool { return strings.Contains(key, "/feed/00000000000"+v+"/") }
}

// breaks are records that are healthy but for one thing, and the one finding that it makes. Where one fault cannot but break two
// promises, both are named.
func breaks(s *tale) []struct {
	name string
	view view
	want string
} {
	attempt := &handoff.Attempt{Token: "x", At: s.clock.now}
	at := func(n string) handoff.Position { p, _ := handoff.NumberPosition(n); return p }
	anyRaw := func(v handoff.Version) handoff.ObjectRef {
		d, err := s.state.Directory(s.Context(), auditStream, v)
		s.must(err)
		return d.Raw
	}
	ghost := handoff.Receipt{
		ReceiptKey: event(99), Stream: auditStream, Outcome: handoff.Ignored, Digest: "d", PageVersion: 1, Rev: 1, WrittenAt: s.clock.now,
	}
	return []struct {
		name string
		view view
		want string
	}{
		// I1
		{"an event of a turned page is open again", view{receipt: onReceipt(event(3), becomes(handoff.Released))}, "unsettled_event v1 #3"},
		{"one has no receipt", view{noReceipt: event(3)}, "unsettled_event v1 #3"},
		{"one is open and stamped later", view{receipt: onReceipt(event(3), func(r *handoff.Receipt) {
			r.Outcome, r.PageVersion, r.Chunk, r.Index = handoff.Released, 7, 1, 2
		})}, "unsettled_event v1 #3; orphan_receipt v7 #3"},
		{"a flagged conflict has no receipt, nor what was decided of it", view{noReceipt: second(7, "a")}, "unsettled_event v2 #7*; decision_overturned #7*"},
		{"a turned page has an open chunk", view{page: on(1, func(p *handoff.Page) { p.ChunksDone = handoff.ChunkSet{}.With(0) })}, "chunks_not_done v1"},
		{"as many chunks are done, of another number", view{page: on(1, func(p *handoff.Page) { p.ChunksDone = handoff.ChunkSet{}.With(0).With(70) })},
			"chunk_unknown v1; chunks_not_done v1"},
		{"a chunk too many is done", view{page: on(1, func(p *handoff.Page) { p.ChunksDone = p.ChunksDone.With(99) })}, "chunk_unknown v1"},
		{"a page was lost by nobody", view{audit: without(handoff.DecideLost, "5")}, "lost_undecided v5"},
		// I2
		{"the applied position is a held event's", view{checkpoint: func(cp *handoff.Checkpoint) { cp.AppliedPosition = at("13") }}, "position_passed v7 #13"},
		{"the applied position passed a held event", view{checkpoint: func(cp *handoff.Checkpoint) { cp.AppliedPosition = at("14") }}, "position_passed v7 #13"},
		{"the applied position fell", view{checkpoint: func(cp *handoff.Checkpoint) { cp.AppliedPosition = at("3") }}, "applied_fell"},
		{"it fell between pages", view{dir: onDir(3, func(d *handoff.Directory) { d.AppliedBefore, d.AppliedPosition = at("2"), at("2") })}, "applied_fell v3"},
		// I3
		{"page and directory differ", view{page: on(2, func(p *handoff.Page) { p.NextCursorHash = "0" })}, "cursor_mismatch v2"},
		{"a page was asked with a cursor of its own", view{
			page: on(1, func(p *handoff.Page) { p.NextCursorHash = handoff.Cursor("x").Hash() }),
			dir:  onDir(1, func(d *handoff.Directory) { d.NextCursor = "x" }),
		}, "chain_broken v2"},
		{"a lost page leads elsewhere", view{
			page: on(7, func(p *handoff.Page) { p.RequestCursorHash = handoff.Cursor("x").Hash() }),
			dir:  onDir(7, func(d *handoff.Directory) { d.RequestCursor = "x" }),
		}, "raw_foreign v7; chain_broken v7"},
		{"the cursor is not the open page's", view{checkpoint: func(cp *handoff.Checkpoint) { cp.ResumeCursor = "x" }}, "chain_broken v7"},
		{"a reset set another cursor", view{audit: func(r *handoff.AuditRecord) bool {
			r.After = strings.Replace(r.After, "cursor "+handoff.Cursor("c4").Hash()[:8], "cursor 00000000", 1)
			return true
		}}, "chain_broken v5"},
		{"nothing passed an abandoned page", view{audit: without(handoff.DecideReset, "4")}, "reset_unrecorded v4"},
		{"nothing passed a version without a page", view{audit: without(handoff.DecideReset, "6")}, "reset_unrecorded v6"},
		{"a turned page is marked abandoned", view{page: on(2, func(p *handoff.Page) { p.Abandoned = true })}, "reset_unrecorded v2"},
		{"the open page is marked abandoned", view{page: on(7, func(p *handoff.Page) { p.Abandoned = true })}, "marked_open v7"},
		{"closing names nothing", view{checkpoint: func(cp *handoff.Checkpoint) { cp.Closing = 90 }}, "closing_wrong"},
		// I4
		{"a claim is nobody's", view{receipt: onReceipt(event(13), becomes(handoff.Claimed))}, "claim_without_call v7 #13"},
		{"an attempt is superseded", view{receipt: onReceipt(event(9), func(r *handoff.Receipt) { r.Attempt = attempt })}, "attempt_superseded v4 #9"},
		{"a second content is tried", view{receipt: onReceipt(second(12, "a"), becomes(handoff.Retrying))}, "conflict_attempted v7 #12*"},
		{"a second content is called", view{receipt: onReceipt(second(12, "a"), func(r *handoff.Receipt) { r.Attempt = attempt })}, "conflict_attempted v7 #12*"},
		{"a second content has another digest", view{receipt: onReceipt(second(12, "a"), func(r *handoff.Receipt) { r.Digest = "x" })},
			"conflict_attempted v7 #12*; orphan_receipt v7 #12*"},
		{"a document moved by itself", view{doc: func(d *handoff.Doc) {
			if d.Entity == "b" {
				d.Position = at("777")
			}
		}}, "document_unknown"},
		// I5
		{"a chunk counts as done over a hold", view{page: on(7, func(p *handoff.Page) { p.ChunksDone = p.ChunksDone.With(1) })}, "done_unsettled v7 #13"},
		{"a reset left an event waiting", view{receipt: onReceipt(event(9), becomes(handoff.Retrying))}, "not_superseded v4 #9"},
		{"a reset left a hold", view{receipt: onReceipt(event(9), func(r *handoff.Receipt) { r.Outcome, r.Reason = handoff.Held, handoff.HoldPolicy })},
			"not_superseded v4 #9"},
		{"a reset left what an earlier one superseded", view{receipt: onReceipt(event(9), func(r *handoff.Receipt) { r.PageVersion = 2 })},
			"not_superseded v4 #9; orphan_receipt v2 #9"},
		{"a reset left an event without a receipt", view{noReceipt: event(9)}, "not_superseded v4 #9"},
		{"a hold has no time", view{receipt: onReceipt(event(13), func(r *handoff.Receipt) { r.HeldAt = time.Time{} })}, "hold_unlisted v7 #13"},
		{"a hold is not on the list", view{listed: func(rs []handoff.Receipt) []handoff.Receipt {
			return slices.DeleteFunc(rs, func(r handoff.Receipt) bool { return r.EventID == "13" })
		}}, "hold_unlisted v7 #13"},
		{"what is settled is on the list", view{listed: func(rs []handoff.Receipt) []handoff.Receipt {
			return append(rs, handoff.Receipt{ReceiptKey: event(12), Stream: auditStream})
		}}, "hold_stale v7 #12"},
		{"what is not there is on the list", view{listed: func(rs []handoff.Receipt) []handoff.Receipt {
			return append(rs, handoff.Receipt{ReceiptKey: event(98), Stream: auditStream})
		}}, "hold_stale #98"},
		{"a hold has no reason", view{receipt: onReceipt(event(13), func(r *handoff.Receipt) { r.Reason = "" })}, "hold_without_reason v7 #13"},
		{"a hold expires", view{receipt: onReceipt(event(13), func(r *handoff.Receipt) { r.ExpiresAt = s.clock.now })}, "open_expires v7 #13"},
		// I6
		{"what is settled is attempted", view{receipt: onReceipt(event(1), func(r *handoff.Receipt) { r.Attempt = attempt })}, "attempt_terminal v1 #1"},
		{"what was ignored is quarantined", view{receipt: onReceipt(event(6), becomes(handoff.Quarantined))}, "decision_overturned v2 #6"},
		{"what was ignored counts as applied", view{receipt: onReceipt(event(6), func(r *handoff.Receipt) { r.Outcome, r.By = handoff.Applied, "apply" })},
			"out_of_order v2 #6; decision_overturned v2 #6"},
		{"what ada ignored, bob ignored", view{receipt: onReceipt(event(6), func(r *handoff.Receipt) { r.By = "bob" })}, "decision_overturned v2 #6"},
		// I7
		{"a document went back to a lost event", view{doc: func(d *handoff.Doc) {
			if d.Entity == "a" {
				d.Position = at("10")
			}
		}}, "out_of_order v7 #12; document_unknown"},
		{"a document went back to an earlier event", view{doc: func(d *handoff.Doc) {
			if d.Entity == "a" {
				d.Position = at("8")
			}
		}}, "out_of_order v7 #12"},
		// I8
		{"a page is ahead", view{ghost: &handoff.Page{Stream: auditStream, Version: 9}}, "page_ahead v9"},
		{"a page opened in closing", view{checkpoint: func(cp *handoff.Checkpoint) { cp.Closing = 6 }}, "opened_in_closing v7"},
		{"a page is open under a halt", view{checkpoint: func(cp *handoff.Checkpoint) { cp.Halt = &handoff.Halt{Reason: handoff.HaltGap} }}, "open_and_halted v7"},
		{"a page has no directory", view{noDir: 3}, "no_directory v3"},
		{"a stamp is ahead", view{receipt: onReceipt(event(13), func(r *handoff.Receipt) { r.PageVersion = 50 })}, "stamp_ahead v50 #13"},
		{"a stamp is no page's", view{receipt: onReceipt(event(13), func(r *handoff.Receipt) { r.PageVersion = 6 })}, "stamp_unknown v6 #13"},
		{"a stamp is another chunk's", view{receipt: onReceipt(event(13), func(r *handoff.Receipt) { r.Chunk = 0 })}, "orphan_receipt v7 #13"},
		{"a stamp is another event's", view{receipt: onReceipt(event(13), func(r *handoff.Receipt) { r.Index = 0 })}, "orphan_receipt v7 #13"},
		{"a receipt of nothing", view{extra: &ghost}, "orphan_receipt v1 #99"},
		{"a page is gone", view{noPage: 3}, "reset_unrecorded v3"},
		// I9
		{"a page counts more events", view{page: on(1, func(p *handoff.Page) { p.Events = 9 })}, "counts_differ v1"},
		{"a directory counts more events", view{dir: onDir(1, func(d *handoff.Directory) { d.Chunks[0].Events, d.Chunks[1].Events = 3, 1 })},
			"counts_differ v1; counts_differ v1"},
		{"a directory names no object", view{dir: onDir(3, func(d *handoff.Directory) { d.Object = handoff.ObjectRef{Key: "x", Digest: "y"} })}, "counts_differ v3"},
		{"a cursor is absent", view{dir: onDir(3, func(d *handoff.Directory) { d.NextCursor = "" })}, "no_cursor v3"},
		{"the cursor is absent", view{checkpoint: func(cp *handoff.Checkpoint) { cp.ResumeCursor = "" }}, "no_cursor"},
		{"a raw answer is gone", view{shelf: shelf{gone: func(key string) bool { return under("1")(key) && strings.HasPrefix(key, "raw/") }}}, "raw_gone v1"},
		{"a body is damaged", view{shelf: shelf{change: func(key string, b []byte) []byte {
			if under("1")(key) && strings.HasSuffix(key, ".body") {
				return append(b, ' ')
			}
			return b
		}}}, "raw_gone v1"},
		{"the raw answer is another's", view{dir: onDir(1, func(d *handoff.Directory) { d.Raw = anyRaw(2) })}, "raw_foreign v1"},
		{"the events are gone", view{shelf: shelf{gone: func(key string) bool { return under("1")(key) && strings.HasPrefix(key, "events/") }}}, "events_gone v1"},
		{"the events are damaged", view{shelf: shelf{change: func(key string, b []byte) []byte {
			if under("1")(key) && strings.HasPrefix(key, "events/") {
				b[len(b)/4] ^= 1
			}
			return b
		}}}, "events_gone v1"},
		{"the object is another's", view{dir: onDir(1, func(d *handoff.Directory) { d.Object.Digest = strings.Repeat("0", 64) })}, "events_gone v1"},
		// beyond
		{"the stream is not listed", view{streams: true}, "stream_unlisted"},
		{"a receipt is another stream's", view{receipt: onReceipt(event(1), func(r *handoff.Receipt) { r.Stream = "other" })}, "foreign_receipt v1 #1"},
	}
}

// Each of these is told, by itself, with its promise and what to do about it.
func TestAuditFindsEachFault(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	for _, c := range breaks(s) {
		t.Run(c.name, func(t *testing.T) {
			found, sum := s.audited(&c.view, handoff.AuditOptions{Binding: &s.b})
			if got := names(found); got != c.want {
				t.Errorf("found %s, want %s\n%+v", got, c.want, found)
			}
			for _, f := range found {
				if f.Level != handoff.Broken || f.Invariant == "" || f.Promise == "" || f.Remedy == "" || f.Detail == "" || f.Stream != auditStream {
					t.Errorf("not whole: %+v", f)
				}
			}
			if sum.Broken != len(found) || sum.Unread+sum.Changed+sum.Leftover > 0 {
				t.Errorf("the summary counts %+v", sum)
			}
		})
	}
}

// laneSwapped lays a chunk's events out in reverse, as a fault in opening would have: digests and all.
func laneSwapped(t *testing.T, s *tale) view {
	t.Helper()
	dir, err := s.state.Directory(t.Context(), auditStream, 1)
	s.must(err)
	object, err := s.shelf.Get(t.Context(), dir.Object.Key)
	s.must(err)
	zr, err := gzip.NewReader(bytes.NewReader(object[:dir.Chunks[0].Length]))
	s.must(err)
	text, err := io.ReadAll(zr)
	s.must(err)
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	_, _ = zw.Write(append(append(lines[1], '\n'), lines[0]...))
	s.must(zw.Close())
	first := int64(out.Len())
	whole := append(out.Bytes(), object[dir.Chunks[0].Length:]...)
	return view{
		shelf: shelf{change: func(key string, b []byte) []byte {
			if key == dir.Object.Key {
				return whole
			}
			return b
		}},
		dir: onDir(1, func(d *handoff.Directory) {
			d.Object.Digest = handoff.DigestOf(whole)
			d.Chunks = slices.Clone(d.Chunks)
			d.Chunks[0].Length, d.Chunks[0].Digest, d.Chunks[1].Offset = first, handoff.DigestOf(whole[:first]), first
		}),
	}
}

func TestAuditFindsALaneOutOfOrder(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	v := laneSwapped(t, s)
	if found, _ := s.audited(&v, handoff.AuditOptions{}); names(found) != "out_of_order v1 #1" {
		t.Errorf("found %s: %+v", names(found), found)
	}
}

// reads is a source that reads one cursor's answers with a difference.
type reads struct {
	handoff.Source
	at   handoff.Cursor
	edit func([]handoff.Event) []handoff.Event
}

func (r reads) Read(a handoff.Answer) handoff.Reading {
	out := r.Source.Read(a)
	if a.Cursor == r.at {
		out.Events = r.edit(out.Events)
	}
	return out
}

// A deep audit reads raw answers again, and tells what a page lacks, has too much or says otherwise.
func TestDeepAuditReadsAgain(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	at, _ := handoff.NumberPosition("12")
	cut := func(evs []handoff.Event) []handoff.Event { return evs[1:] }
	for _, c := range []struct {
		name string
		view view
		read reads
		want string
	}{
		{"an event was left out", view{}, reads{at: "c1", edit: func(evs []handoff.Event) []handoff.Event {
			at, _ := handoff.NumberPosition("77")
			return append(evs, handoff.Event{ID: "77", Position: at, Digest: "d", Raw: []byte("{}")})
		}}, "event_dropped v2 #77"},
		{"one that was settled only later was left out", view{}, reads{at: "c0", edit: func(evs []handoff.Event) []handoff.Event {
			return append(evs, s.b.Source.Read(s.answer("c1")).Events[0])
		}}, "event_dropped v1 #5"},
		{"an event was made up", view{}, reads{at: "c0", edit: cut}, "page_differs v1 #1"},
		{"an event was changed", view{}, reads{at: "c0", edit: func(evs []handoff.Event) []handoff.Event { evs[2].Entity = "z"; return evs }}, "page_differs v1 #3"},
		{"a late event was not taken for one", view{dir: onDir(7, func(d *handoff.Directory) { d.AppliedBefore = at })}, reads{}, "late_unmarked v7 #12"},
		{"nobody was asked about a second content", view{receipt: onReceipt(event(3), func(r *handoff.Receipt) { r.Digest = "other" })}, reads{},
			"conflict_unheld v1 #3*; orphan_receipt v1 #3"},
		{"nobody was asked yet", view{receipt: onReceipt(event(12), func(r *handoff.Receipt) { r.Digest = "other" })}, reads{}, "orphan_receipt v7 #12"},
		{"what was left out may have expired", view{dir: onDir(2, func(d *handoff.Directory) { d.ReceiptRetention = time.Hour })},
			reads{at: "c1", edit: func(evs []handoff.Event) []handoff.Event {
				return append(evs, handoff.Event{ID: "77", Digest: "d", Raw: []byte("{}")})
			}}, ""},
		{"what is not marked late may have been known", view{noReceipt: event(12), dir: onDir(7, func(d *handoff.Directory) {
			d.AppliedBefore, d.ReceiptRetention = at, time.Hour
		})}, reads{}, ""},
		{"a proven replay is left out", view{}, reads{at: "c1", edit: func(evs []handoff.Event) []handoff.Event {
			return append(s.b.Source.Read(s.answer("c0")).Events[:1], evs...)
		}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := s.b
			if c.read.edit != nil {
				c.read.Source = s.b.Source
				b.Source = c.read
			}
			found, _ := s.audited(&c.view, handoff.AuditOptions{Binding: &b, Deep: true})
			if got := names(found); got != c.want {
				t.Errorf("found %s, want %s\n%+v", got, c.want, found)
			}
			revised, refetched := b, b
			revised.Revision, refetched.FetchHash = "r2", "f2"
			for _, b := range []handoff.Binding{revised, refetched} {
				if _, sum := s.audited(&view{}, handoff.AuditOptions{Binding: &b, Deep: true}); sum.Reread != 0 {
					t.Errorf("another revision read %d pages again", sum.Reread)
				}
			}
		})
	}
}

// answer is what the source says at a cursor.
func (s *tale) answer(c handoff.Cursor) handoff.Answer {
	a, err := s.b.Source.Ask(s.Context(), c, s.clock.now)
	s.must(err)
	return a
}

func TestAuditTellsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	down := errors.New("no route to the archive")
	for want, prefix := range map[string]string{"raw/feed/000000000001": "raw/feed/000000000001", "events/feed/000000000001": "events/feed/000000000001"} {
		v := view{shelf: shelf{fail: func(key string) error {
			if strings.HasPrefix(key, prefix) {
				return down
			}
			return nil
		}}}
		found, sum := s.audited(&v, handoff.AuditOptions{})
		if names(found) != "unreadable v1" || found[0].Level != handoff.Unread || sum.Unread != 1 || sum.Broken != 0 || !strings.Contains(found[0].Detail, down.Error()) {
			t.Errorf("%s: found %+v, %+v", want, found, sum)
		}
	}
	e := handoff.New(s.deps(s.state, &shelf{Archive: s.shelf, fail: func(string) error { return down }}))
	if found, err := e.CheckInvariants(t.Context(), auditStream); err == nil || len(found) > 0 {
		t.Errorf("CheckInvariants found %v, %v", found, err)
	}
	if _, err := e.Audit(t.Context(), "never", handoff.AuditOptions{}, nil); !errors.Is(err, handoff.ErrNotFound) {
		t.Errorf("a stream that was never started: %v", err)
	}
}

func TestAuditTellsLeftoversThatHurtNobody(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	s.must(s.state.PutSpool(t.Context(), handoff.SpoolEntry{Stream: auditStream, Version: 2, RequestCursor: "c1"}))
	found, sum := s.audited(&view{}, handoff.AuditOptions{})
	if names(found) != "old_spool v2" || found[0].Level != handoff.Leftover || sum.Broken != 0 || sum.Leftover != 1 {
		t.Errorf("found %+v, %+v", found, sum)
	}
}
