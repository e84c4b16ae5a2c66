package random_test

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// actLose loses archived objects: those of the open or closing page, its events, its raw answer, or both; or the answer of a halt.
func (w *world) actLose(a, b int) {
	st := w.pick(a)
	cp := st.model.cp
	switch {
	case cp == nil:
		return
	case cp.Halt != nil && cp.Halt.Answer.Key != "":
		w.archive.lose(cp.Halt.Answer.Key)
		return
	case len(cp.Accepts) > 0:
		w.archive.lose(cp.Accepts[0].Answer.Key)
		return
	}
	v := cp.Version
	if cp.Closing != 0 && a%2 == 1 {
		v = cp.Closing
	}
	dir, err := w.state.Directory(w.ctx, st.name, v)
	if err != nil {
		return
	}
	if b%3 != 1 && dir.Object.Key != "" {
		w.archive.lose(dir.Object.Key)
	}
	if b%3 != 0 {
		w.archive.lose(dir.Raw.Key)
	}
}

// actPoison lets deliveries of one message die, one after the other, until somebody must notice.
func (w *world) actPoison(a, b int) {
	for range 2 + b%3 {
		if len(w.queue.chunks) == 0 || len(w.broken) > 0 {
			return
		}
		w.spawn()
		i := a % max(len(w.queue.chunks), 1)
		if i >= len(w.queue.chunks) {
			return
		}
		w.queue.chunks[i].receives++
		p := w.deliver(w.queue.chunks[i], false)
		p.until(func() bool { return p.pending.Site == "poison/count" })
		if p.parked {
			p.pass(fault.CrashAfter)
		}
		w.wait(40 * time.Second)
	}
}

// actDeploy changes the effect, or how the source is asked, for processes that begin from now on.
func (w *world) actDeploy(a, b int) {
	set := &w.pick(a).b.Settings
	if b%2 == 0 {
		set.Effect = "x" + string(rune('1'+b%3))
	} else {
		set.FetchHash = "f" + string(rune('1'+b%3))
	}
}

// actAhead reads ahead of an open page, as a cache may: the answer to its next cursor, kept for the version to come. Now and then for
// the present version, the wrong cursor, or with nothing in the archive.
func (w *world) actAhead(a, b int) {
	st := w.pick(a)
	cp := st.model.cp
	if cp == nil || w.set.once() { // reading ahead would spend the token
		return
	}
	v, c := cp.Version, cp.ResumeCursor
	if dir, err := w.state.Directory(w.ctx, st.name, v); err == nil {
		v, c = v+1, dir.NextCursor
	}
	if b%8 == 7 {
		c = st.source.place(b)
	}
	answer, err := st.source.Ask(w.ctx, c, w.clock.now)
	if err != nil {
		return
	}
	answer.Cursor, answer.FetchHash, answer.Epoch = c, st.b.FetchHash, cp.Epoch
	ref, err := w.keepRaw(st, v, answer, b%8 == 6)
	if err != nil {
		w.fail("store", "keep an answer: %v", err)
	}
	slot := handoff.SpoolEntry{Stream: st.name, Version: v, RequestCursor: c, Epoch: cp.Epoch, Raw: ref, FetchedAt: w.clock.now}
	_ = w.state.PutSpool(w.ctx, slot) // refused: somebody was faster
	w.note("AHEAD %s v%d %s", st.name, v, c)
}

// keepRaw archives an answer in the layout of the protocol.
func (w *world) keepRaw(st *stream, v handoff.Version, answer handoff.Answer, half bool) (handoff.ObjectRef, error) {
	body := handoff.ObjectRef{Digest: handoff.DigestOf(answer.Body)}
	folder := "raw/" + string(st.name) + "/ahead/" + answer.Cursor.Hash() + "/"
	body.Key = folder + body.Digest + ".body"
	meta, err := json.Marshal(map[string]any{"format": 1, "answer": answer, "body": body})
	if err != nil {
		return handoff.ObjectRef{}, err
	}
	ref := handoff.ObjectRef{Digest: handoff.DigestOf(meta)}
	ref.Key = folder + ref.Digest + ".json"
	for _, o := range []struct {
		key  string
		body []byte
	}{{body.Key, answer.Body}, {ref.Key, meta}} {
		if err := w.archive.Put(w.ctx, o.key, slices.Clone(o.body)); err != nil {
			return ref, err
		}
	}
	if half {
		w.archive.gone[body.Key] = true
	}
	return ref, nil
}

// actSleep lets a delivery fall asleep right before its effect, or right after its outside call, for longer than anybody may live. Another
// delivery of its message comes meanwhile; then it wakes, maybe over a reset, or only much later.
func (w *world) actSleep(a, b int) {
	if w.spawn(); len(w.queue.chunks) == 0 {
		return
	}
	i := a % len(w.queue.chunks)
	w.queue.chunks[i].receives++
	m := w.queue.chunks[i]
	p := w.deliver(m, false)
	p.until(func() bool { return p.pending.Site == "call" || p.pending.Site == "apply/settle" })
	if b%2 == 1 && p.parked && p.pending.Site == "call" {
		p.pass(fault.None)
	}
	if !p.parked {
		return
	}
	p.frozen = true
	w.note("%s falls asleep", p.name)
	w.wait([]time.Duration{40 * time.Second, 11 * time.Minute}[b/2%2])
	if a/32 == 0 {
		w.deliver(m, false).finish()
	}
	w.meanwhile(p, a, b/4)
	if p.frozen = a/8%2 == 0; !p.frozen {
		p.finish()
	}
}

// meanwhile is what a sleeper may sleep through: a reset, a turn, the release of all that is held then, and another turn.
func (w *world) meanwhile(p *process, a, b int) {
	st := p.st
	if b%2 == 1 && st.model.cp.Closing == 0 {
		c := st.source.place(a)
		if l := st.model.leaves[p.version]; l != nil && a%2 == 0 { // the same events once more
			c = st.source.freshToken(afterOf(l.gave.cursor))
		}
		w.decide(st, handoff.Decision{Kind: handoff.DecideReset, Rev: st.model.cp.Rev, Cursor: c}).finish()
		w.cycle(st) // it closes
	}
	if b/2%2 == 1 {
		w.cycle(st)
	}
	if b/4%2 == 0 {
		return
	}
	for _, r := range st.model.listed() {
		if r.Outcome == handoff.Held && len(w.broken) == 0 {
			w.decide(st, handoff.Decision{Kind: handoff.DecideRelease, Event: r.ReceiptKey, Rev: r.Rev}).finish()
		}
	}
	if b/8%2 == 1 {
		st.sink.moods = append(st.sink.moods, a%sinkMoods)
		w.cycle(st)
	}
}
