package random_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// content is an event as the promises speak of it: one id, one content.
type content struct{ id, digest string }

// owed is one event of an answer, as the source remembers it: all of them must be settled before the cursor may pass.
type owed struct {
	content
	pos    handoff.Position
	entity string
	bad    bool
	second bool // the second content of an id in its answer
	late   bool
}

// leaf is a page as the model knows it: the source's own record of the answer, not the protocol's.
type leaf struct {
	v         handoff.Version
	gave      given
	owed      []owed
	chunks    [][]content
	applied   handoff.Position // when it opened
	floor     handoff.Position
	disorder  bool // its positions go backwards: somebody accepted that
	tied      bool // two of its events stand at one position: shared, by declaration or because somebody accepted that
	abandoned bool
	lost      bool
}

// model is the second opinion on one stream. It knows what the source gave under which cursor, what the operator did, and every write
// that was done; it judges each by the promises of the design and by nothing else.
type model struct {
	w         *world
	st        *stream
	cp        *handoff.Checkpoint
	receipts  map[handoff.ReceiptKey]handoff.Receipt
	leaves    map[handoff.Version]*leaf
	counts    map[string]int // effects of the projection, by event
	order     map[string][]mark
	allowed   map[string]int // unknown attempts that the operator released
	released  map[string]map[handoff.HoldReason]bool
	owners    map[string]*process // of attempts, by token
	decisions map[string]bool
	resetAt   handoff.Version // the version that the last reset began
	floor     handoff.Position
	floorOpen bool
	from      int // the place in the source's log that the last start or reset began behind
	writes    int // of receipts
}

// mark is an effect of the projection: where its event stood.
type mark struct {
	id    string
	pos   handoff.Position
	v     handoff.Version
	index int
}

func newModel(w *world, st *stream) *model {
	return &model{
		w: w, st: st, receipts: map[handoff.ReceiptKey]handoff.Receipt{}, leaves: map[handoff.Version]*leaf{}, counts: map[string]int{},
		order: map[string][]mark{}, allowed: map[string]int{}, released: map[string]map[handoff.HoldReason]bool{},
		owners: map[string]*process{}, decisions: map[string]bool{}, floorOpen: true,
	}
}

func (m *model) fail(invariant, format string, args ...any) { m.w.fail(invariant, format, args...) }

// owes is what an answer obliges to: its events, folded, without the tail that is too young.
func (g given) owes(set setup) (list []owed, cut bool) {
	have, first := map[content]bool{}, map[string]bool{}
	for _, rec := range g.Records {
		e := eventOf(rec, set)
		if young := set.holdBack(); young > 0 && e.Invalid == "" && e.Time.After(g.at.Add(-young)) {
			return list, true
		}
		c := content{e.ID, e.Digest}
		if have[c] {
			continue
		}
		list = append(list, owed{content: c, pos: e.Position, entity: e.Entity, bad: e.Invalid != "", second: first[e.ID]})
		have[c], first[e.ID] = true, true
	}
	return list, false
}

// leads is the cursor that an answer leads to.
func (g given) leads(set setup) handoff.Cursor {
	_, cut := g.owes(set)
	switch {
	case g.Kind == handoff.ReadTokenRefused:
		return g.Bookmark
	case cut || g.Next == "":
		return g.cursor
	}
	return g.Next
}

// lane is the order domain of an event in its page, by the definition's words.
func (o owed) lane(set setup) string {
	switch {
	case o.bad:
		return "bad " + o.id
	case set.Lanes == 0:
		return o.entity
	case set.Lanes == 2:
		return o.id
	}
	return "page"
}

// terminal reports whether one content is terminal: by the id's own receipt, or as a second content by one of its own.
func (m *model) terminal(c content) bool {
	own, ok := m.receipts[handoff.ReceiptKey{EventID: c.id}]
	if ok && own.Digest == c.digest && own.Outcome.Terminal() {
		return true
	}
	second, ok := m.receipts[handoff.ReceiptKey{EventID: c.id, Conflict: c.digest}]
	return ok && second.Outcome.Terminal()
}

// status is terminal in words, for messages.
func (m *model) status(c content) string {
	own, ok := m.receipts[handoff.ReceiptKey{EventID: c.id}]
	if second, has := m.receipts[handoff.ReceiptKey{EventID: c.id, Conflict: c.digest}]; has {
		return string(second.Outcome) + " as a second content"
	}
	if !ok {
		return "without a receipt"
	}
	return string(own.Outcome) + " " + string(own.Reason)
}

var errNoAnswer = errors.New("no answer of the source")

// answerOf finds the answer that a page was made of in the source's own record, by way of the archive.
func (m *model) answerOf(ref handoff.ObjectRef) (given, error) {
	meta, err := m.w.archive.Archive.Get(m.w.ctx, ref.Key)
	if err != nil {
		return given{}, err
	}
	var kept struct {
		Body handoff.ObjectRef `json:"body"`
	}
	if err := json.Unmarshal(meta, &kept); err != nil {
		return given{}, err
	}
	body, err := m.w.archive.Archive.Get(m.w.ctx, kept.Body.Key)
	if err != nil {
		return given{}, err
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		return given{}, err
	}
	g, ok := m.st.source.gave[r.Serial]
	if !ok {
		return given{}, errNoAnswer
	}
	return g, nil
}

// chunksOf reads a page's events object as anybody could: gzip members of JSON lines.
func (m *model) chunksOf(dir handoff.Directory) (chunks [][]content, err error) {
	if len(dir.Chunks) == 0 {
		return nil, nil
	}
	object, err := m.w.archive.Archive.Get(m.w.ctx, dir.Object.Key)
	if err != nil {
		return nil, err
	}
	for _, ref := range dir.Chunks {
		zr, err := gzip.NewReader(bytes.NewReader(object[ref.Offset : ref.Offset+ref.Length]))
		if err != nil {
			return nil, err
		}
		var chunk []content
		for dec := json.NewDecoder(zr); ; {
			var line struct{ ID, Digest string }
			err := dec.Decode(&line)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			chunk = append(chunk, content{line.ID, line.Digest})
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

// on gives a page's event and its place in the source's order; nil if the page does not have it.
func (l *leaf) on(c content) (*owed, int) {
	i := slices.IndexFunc(l.owed, func(o owed) bool { return o.content == c })
	if i < 0 {
		return nil, 0
	}
	return &l.owed[i], i
}

// below reports p < q for positions of one stream.
func below(p, q handoff.Position) bool {
	c, err := p.Compare(q)
	return err == nil && c < 0
}
