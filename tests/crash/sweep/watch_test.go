package sweep

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// content is what the barrier waits for: an id with one content.
type content struct{ id, digest string }

// watch stands right before the store, below every fault of a port, and sees what is really written, in order. It is the second opinion: what
// must hold at every moment, told in a few words and without the protocol's own code.
type watch struct {
	clean    handoff.State // to read back what a write's answer does not say
	archive  handoff.Archive
	effects  []effect // projection writes, in the order they took place
	receipts map[handoff.ReceiptKey]handoff.Receipt
	pages    map[handoff.Version][]content
	tokens   map[handoff.Version]string // whose write opened each page
	cp       handoff.Checkpoint
	pending  []*settling
	broken   []string
	onEffect func(effect) // is told of each
}

// watched is a store, or one process's way to it, under watch.
type watched struct {
	handoff.State
	*watch
}

func newWatch(clean handoff.State, archive handoff.Archive) *watch {
	return &watch{
		clean: clean, archive: archive, receipts: map[handoff.ReceiptKey]handoff.Receipt{},
		pages: map[handoff.Version][]content{}, tokens: map[handoff.Version]string{}, onEffect: func(effect) {},
	}
}

// load begins with what stands, where an earlier process was watched by somebody else.
func (w *watch) load(ctx context.Context, s handoff.Stream) error {
	cp, err := w.clean.Checkpoint(ctx, s)
	if errors.Is(err, handoff.ErrNotFound) {
		return nil // it died before it began
	}
	if err != nil {
		return err
	}
	w.cp = cp
	rs, _, err := w.clean.ListReceipts(ctx, s, "", 1000)
	if err != nil {
		return err
	}
	for _, r := range rs {
		w.receipts[r.ReceiptKey] = r
	}
	pages, err := w.clean.ListPages(ctx, s, 0, 1000)
	if err != nil {
		return err
	}
	for _, p := range pages {
		dir, err := w.clean.Directory(ctx, s, p.Version)
		if err != nil {
			return err
		}
		w.pages[p.Version], w.tokens[p.Version] = w.archived(dir), p.Token
	}
	return nil
}

func (w *watch) wrong(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

func (w watched) Commit(ctx context.Context, tx handoff.Tx) error {
	w.catchUp()
	err := w.State.Commit(ctx, tx)
	if err == nil || w.landed(tx) {
		w.committed(tx)
	}
	return err
}

// landed looks for a write's own token on what it wrote.
func (w *watch) landed(tx handoff.Tx) bool {
	ctx := context.Background()
	switch {
	case tx.PagePut != nil:
		p, err := w.clean.Page(ctx, tx.Stream, tx.PagePut.Version)
		return err == nil && p.Token == tx.Token
	case tx.Receipt != nil:
		return w.has(tx.Receipt.Put)
	case tx.Checkpoint != nil && tx.Checkpoint.Put != nil:
		cp, err := w.clean.Checkpoint(ctx, tx.Stream)
		return err == nil && cp.Token == tx.Token
	}
	return false
}

func (w *watch) has(r handoff.Receipt) bool {
	found, err := w.clean.Receipts(context.Background(), r.Stream, []handoff.ReceiptKey{r.ReceiptKey}, false)
	return err == nil && found[r.ReceiptKey].Token == r.Token
}

func (w *watch) committed(tx handoff.Tx) {
	if p := tx.PagePut; p != nil {
		if token, twice := w.tokens[p.Version]; twice && token != p.Token {
			w.wrong("I8: page %d opened twice", p.Version)
		}
		w.pages[p.Version], w.tokens[p.Version] = w.archived(*tx.Directory), p.Token
	}
	if tx.Receipt != nil {
		w.settled(tx.Receipt.Put)
	}
	if tx.Checkpoint == nil || tx.Checkpoint.Put == nil {
		return
	}
	put := *tx.Checkpoint.Put
	if put.Version < w.cp.Version || put.Version > w.cp.Version+1 {
		w.wrong("I3: the version went from %d to %d", w.cp.Version, put.Version)
	}
	if put.ResumeCursor != w.cp.ResumeCursor && put.Version == w.cp.Version {
		w.wrong("I3: the cursor moved and the version did not")
	}
	if order, err := put.AppliedPosition.Compare(w.cp.AppliedPosition); w.cp.Version > 0 && !w.cp.AppliedPosition.IsZero() && (err != nil || order < 0) {
		w.wrong("I2: the applied position went from %s to %s", w.cp.AppliedPosition, put.AppliedPosition)
	}
	if put.Version == w.cp.Version+1 && tx.Decision == nil {
		w.barrier(w.cp.Version)
	}
	w.cp = put
}

// barrier: a page is turned only when everything on it is settled.
func (w *watch) barrier(v handoff.Version) {
	for _, c := range w.pages[v] {
		own, second := w.receipts[handoff.ReceiptKey{EventID: c.id}], w.receipts[handoff.ReceiptKey{EventID: c.id, Conflict: c.digest}]
		if !(own.Outcome.Terminal() && own.Digest == c.digest) && !second.Outcome.Terminal() {
			w.wrong("I1: page %d was turned while event %s was %q", v, c.id, own.Outcome)
		}
	}
}

// archived reads what a page names, as an outsider would: gzip, a line an event. What is not there was acted on too early.
func (w *watch) archived(dir handoff.Directory) []content {
	ctx := context.Background()
	if _, err := w.archive.Get(ctx, dir.Raw.Key); err != nil {
		w.wrong("I9: page %d before its answer: %v", dir.Version, err)
	}
	if len(dir.Chunks) == 0 {
		return nil
	}
	b, err := w.archive.Get(ctx, dir.Object.Key)
	if err != nil {
		w.wrong("I9: page %d before its events: %v", dir.Version, err)
		return nil
	}
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		w.wrong("I9: page %d: %v", dir.Version, err)
		return nil
	}
	var all []content
	for dec := json.NewDecoder(zr); ; {
		var line struct{ ID, Digest string }
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			w.wrong("I9: page %d: %v", dir.Version, err)
			return all
		}
		all = append(all, content{line.ID, line.Digest})
	}
}

// settling is a Settle under way, and which of its items were seen to be done.
type settling struct {
	items []handoff.Settlement
	seen  []bool
}

func (w watched) Settle(ctx context.Context, s handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	w.catchUp()
	under := &settling{items, make([]bool, len(items))}
	w.pending = append(w.pending, under)
	out := w.State.Settle(ctx, s, items)
	w.pending = slices.DeleteFunc(w.pending, func(o *settling) bool { return o == under })
	for i, res := range out {
		if res.Err == nil || w.has(items[i].Put) {
			w.saw(under, i)
		}
	}
	return out
}

// catchUp sees what is done of every Settle under way, before anybody writes more: a call may freeze in the middle of one, while the store
// goes on with the rest of it.
func (w *watch) catchUp() {
	for _, under := range w.pending {
		for i, item := range under.items {
			if w.has(item.Put) {
				w.saw(under, i)
			}
		}
	}
}

func (w *watch) saw(under *settling, i int) {
	if under.seen[i] {
		return
	}
	under.seen[i] = true
	item := under.items[i]
	if w.settled(item.Put) && len(item.Docs) > 0 {
		e := effect{item.Put.Entity, bare(item.Put.EventID)}
		w.effects = append(w.effects, e)
		w.onEffect(e)
	}
}

// settled takes note of a receipt that was written. It reports whether that is news: a write that is tried again finds itself.
func (w *watch) settled(r handoff.Receipt) bool {
	old := w.receipts[r.ReceiptKey]
	switch {
	case old.Token == r.Token && old.Rev == r.Rev:
		return false
	case old.Outcome.Terminal():
		w.wrong("I6: event %s was %s and became %s", r.EventID, old.Outcome, r.Outcome)
	case r.PageVersion < old.PageVersion:
		w.wrong("the stamp of event %s went from %d to %d", r.EventID, old.PageVersion, r.PageVersion)
	}
	w.receipts[r.ReceiptKey] = r
	return true
}
