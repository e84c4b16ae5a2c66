package walkthrough

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// The stories of stories_mutant_*.go each take one guard or a few, and show what would happen without it.

// story is one of them.
type story struct {
	name string
	play func(*testing.T, func(*testing.T) Backend)
}

// placed reads a record's position as what its text says it is: `text x`, `pair 3` (a tuple), `at 7` (minutes from the story's
// beginning), or a number.
// edit changes the reading further.
type placed struct {
	*source
	edit func(a handoff.Answer, r *handoff.Reading)
}

func (s placed) Read(a handoff.Answer) handoff.Reading {
	r := s.source.Read(a)
	for i, ev := range r.Events {
		var rec record
		_ = json.Unmarshal(ev.Raw, &rec) // the source made it
		if text, ok := strings.CutPrefix(rec.Pos, "text "); ok {
			r.Events[i].Position = handoff.TextPosition(text)
		}
		if first, ok := strings.CutPrefix(rec.Pos, "pair "); ok {
			n, _ := handoff.NumberPosition(first)
			r.Events[i].Position = handoff.TuplePosition(n, handoff.TextPosition("x"))
		}
		if minutes, ok := strings.CutPrefix(rec.Pos, "at "); ok {
			d, _ := time.ParseDuration(minutes + "m")
			r.Events[i].Position, _ = handoff.TimePosition(epoch.Add(d).Format(time.RFC3339))
		}
	}
	if s.edit != nil {
		s.edit(a, &r)
	}
	return r
}

// reads makes a world's source a placed one.
func (w *world) reads(edit func(a handoff.Answer, r *handoff.Reading)) {
	w.b.Source = placed{w.source, edit}
}

// rec is an event with an id and a position of its own, alone in its entity.
func rec(id, pos string) record { return record{ID: id, Pos: pos, Entity: "of " + id} }

// bad is an invalid record.
func bad(id, pos string) record {
	return record{ID: id, Pos: pos, Entity: "of " + id, Invalid: "unfit"}
}

// second is another content of event n.
func second(n int, entity string) record {
	r := ev(n, entity)
	r.Body = "v2"
	return r
}

// holds lets policy hold events.
func (w *world) holds(ids ...string) {
	for _, id := range ids {
		w.policy[id] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	}
}

// turn opens a page and settles it.
func (w *world) turn() handoff.PollReport {
	w.Helper()
	v := w.tick(handoff.ActOpened)
	w.apply()
	return v
}

// accept lets the answer that halted the stream pass.
func (w *world) accept(reason handoff.HaltReason) {
	w.Helper()
	h := w.haltedBy(reason)
	w.must(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: h.Reason, Answer: h.Answer.Digest}))
}

func (w *world) reset(to handoff.Cursor) {
	w.Helper()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideReset, Cursor: to}))
}

// none requires that an event has no receipt.
func (w *world) none(id string) {
	w.Helper()
	if r, ok := w.receipt(id); ok {
		w.Fatalf("event %s is %s, want no receipt", id, r.Outcome)
	}
}

func (w *world) page(v handoff.Version) handoff.Page {
	w.Helper()
	p, err := w.inner.State.Page(w.ctx, w.b.Stream, v)
	w.must(err)
	return p
}

// deliver brings one message and gives the report.
func (w *world) deliver(m handoff.ChunkMessage, receives int) (handoff.ApplyReport, error) {
	return w.engine.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: receives})
}

// message takes the one chunk message that waits.
func (w *world) message() handoff.ChunkMessage {
	w.Helper()
	ms := w.queue.takeChunks()
	if len(ms) != 1 {
		w.Fatalf("%d chunk messages wait, want one", len(ms))
	}
	return ms[0]
}

// byOther lets another process deliver every message that waits.
func (w *world) byOther() {
	w.Helper()
	for _, m := range w.queue.takeChunks() {
		if _, err := w.other.Apply(w.ctx, w.b, handoff.Delivery{ChunkMessage: m, Receives: 1}); err != nil {
			w.Error(err)
		}
	}
}

// archived counts the raw objects of the stream.
func (w *world) archived() int {
	w.Helper()
	keys, err := w.inner.Archive.List(w.ctx, fmt.Sprintf("raw/%s/", w.b.Stream), 1000)
	w.must(err)
	return len(keys)
}

// receipts lists all of an event.
func (w *world) receipts(id string) (found []handoff.Receipt) {
	w.Helper()
	after := ""
	for {
		rs, next, err := w.inner.State.ListReceipts(w.ctx, w.b.Stream, after, 100)
		w.must(err)
		for _, r := range rs {
			if r.EventID == jsonID(id) {
				found = append(found, r)
			}
		}
		if after = next; after == "" {
			return found
		}
	}
}

// broken is an archive that fails, loses or damages objects by their key's ending.
type broken struct {
	handoff.Archive
	ending string
	err    error // nil damages
}

var errBroken = errors.New("the archive is out of reach")

func (b broken) spoil(key string, body []byte, err error) ([]byte, error) {
	if err != nil || !strings.HasSuffix(key, b.ending) {
		return body, err
	}
	if b.err != nil {
		return nil, fmt.Errorf("get %s: %w", key, b.err)
	}
	return bytes.ReplaceAll(body, []byte("v1"), []byte("v9")), nil
}

func (b broken) Get(ctx context.Context, key string) ([]byte, error) {
	body, err := b.Archive.Get(ctx, key)
	return b.spoil(key, body, err)
}

func (b broken) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	body, err := b.Archive.GetRange(ctx, key, off, n)
	return b.spoil(key, body, err)
}
