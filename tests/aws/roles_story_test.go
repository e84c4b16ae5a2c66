package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/tests/template/roles"
)

// untold is what no story tells: that apply's event deletes a document, or has an effect that can never be; and that poll counts the holds of
// a blocked stream, for its metrics; and that apply finds its chunk gone, and lays it out again.
func untold(t *testing.T, store handoff.State, archive handoff.Archive) {
	t.Helper()
	ctx, s := roles.As(t.Context(), roles.Apply), handoff.Stream("untold")
	if _, _, err := store.HeldReceipts(roles.As(t.Context(), roles.Poll), s, "", 1); err != nil {
		t.Error(err)
	}
	for n, change := range []handoff.DocChange{
		{Entity: "d", Set: map[string]json.RawMessage{"x": json.RawMessage(`"text"`)}},
		{Entity: "d", Add: map[string]string{"x": "1"}},
		{Entity: "d", Delete: true},
	} {
		id := `"` + string(rune('a'+n)) + `"`
		put := handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: id}, Stream: s, Outcome: handoff.Applied, Rev: 1, Token: id, WrittenAt: time.Unix(0, 0)}
		r := store.Settle(ctx, s, []handoff.Settlement{{ReceiptWrite: handoff.ReceiptWrite{If: handoff.Guard{Absent: true}, Put: put}, Docs: []handoff.DocChange{change}}})
		if impossible := r[0].Err != nil; impossible != (n == 1) {
			t.Errorf("change %d: %v", n, r[0].Err)
		}
	}
	page := &onePage{Archive: archive}
	engine := handoff.New(handoff.Deps{State: store, Archive: page, Queue: unsent{}, Clock: now{}, IDs: sameID{}, Timing: handoff.DefaultTiming()})
	b := handoff.Binding{
		Settings: handoff.Settings{Stream: "rebuilt", Definition: "rebuilt", Start: "c0", Interval: time.Minute, Pages: 1, Contract: handoff.Contract{Arrival: true}},
		Source:   page, Policy: page, Effect: page,
	}
	for range 2 { // started, opened
		if _, err := engine.Poll(t.Context(), b, handoff.PollMessage{Stream: "rebuilt"}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := engine.Apply(t.Context(), b, handoff.Delivery{ChunkMessage: handoff.ChunkMessage{Stream: "rebuilt", Version: 1}, Receives: 1})
	if err != nil || r.Applied != 1 || page.missed.Load() == 0 {
		t.Errorf("a chunk that is gone: %+v %v", r, err)
	}
}

// onePage is a source of one event, and an archive that has lost its chunk when it is first asked for it.
type onePage struct {
	handoff.Archive
	missed atomic.Int32
}

func (p *onePage) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if p.missed.Add(1) == 1 {
		return nil, fmt.Errorf("get %s: %w", key, handoff.ErrNotFound)
	}
	return p.Archive.GetRange(ctx, key, offset, length)
}

func (p *onePage) Ask(_ context.Context, c handoff.Cursor, now time.Time) (handoff.Answer, error) {
	return handoff.Answer{Cursor: c, Status: 200, FetchedAt: now, Body: []byte("page")}, nil
}

func (p *onePage) Read(handoff.Answer) handoff.Reading {
	raw := []byte(`{}`)
	return handoff.Reading{Kind: handoff.ReadPage, Next: "c1", Events: []handoff.Event{{ID: `"e"`, Raw: raw, Digest: handoff.DigestOf(raw)}}}
}

func (p *onePage) Judge(handoff.Event) (handoff.Ruling, error) {
	return handoff.Ruling{Verdict: handoff.VerdictApply}, nil
}

func (p *onePage) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: handoff.Transactional}
}

func (p *onePage) Plan(handoff.Event) ([]handoff.DocChange, error) { return nil, nil }

func (p *onePage) Call(context.Context, handoff.Event, string) handoff.CallResult {
	return handoff.CallResult{Kind: handoff.CallRefused, Detail: "not an outside effect"}
}

type unsent struct{}

func (unsent) SendChunks(context.Context, []handoff.ChunkMessage, time.Duration) error { return nil }

func (unsent) SendPoll(context.Context, handoff.PollMessage, time.Duration) error { return nil }

type now struct{}

func (now) Now() time.Time { return time.Now().UTC() }

type sameID struct{}

func (sameID) New() string { return "id" }
