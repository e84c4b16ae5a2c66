package handoff_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// What a made-up page holds.
const (
	longChunks = 4
	longEvents = 25 // of each chunk
)

// long is a healthy stream of any length that stores nothing: each page is made when it is asked for. It counts what it is asked for at
// once. Every page and every receipt is padded, so that whoever keeps them is seen.
type long struct {
	handoff.State
	*testing.T
	pages int
	most  int // asked for in one read
	last  *longPage
}

// longPage is the page that was made last.
type longPage struct {
	version handoff.Version
	object  []byte
	refs    []handoff.ChunkRef
}

var padding = strings.Repeat("x", 500)

func longCursor(v handoff.Version) handoff.Cursor {
	return handoff.Cursor(fmt.Sprintf("%d %s", v, padding))
}

func longID(v handoff.Version, i int) string { return fmt.Sprintf(`"%d-%d"`, v, i) }

// longEvent gives the page and place of an id.
func longEvent(id string) (v handoff.Version, i int) {
	if n, err := fmt.Sscanf(id, `"%d-%d"`, &v, &i); n != 2 {
		panic(err)
	}
	return v, i
}

func (l *long) asks(n int) {
	l.most = max(l.most, n)
}

func (l *long) Checkpoint(context.Context, handoff.Stream) (handoff.Checkpoint, error) {
	v := handoff.Version(l.pages + 1)
	return handoff.Checkpoint{Stream: auditStream, Version: v, ResumeCursor: longCursor(v), Rev: 1}, nil
}

func (l *long) Streams(context.Context) ([]handoff.StreamEntry, error) {
	return []handoff.StreamEntry{{Stream: auditStream}}, nil
}

func (l *long) Page(_ context.Context, _ handoff.Stream, v handoff.Version) (handoff.Page, error) {
	if v == 0 || int(v) > l.pages {
		return handoff.Page{}, handoff.ErrNotFound
	}
	p := handoff.Page{
		Stream: auditStream, Version: v, RequestCursorHash: longCursor(v).Hash(), NextCursorHash: longCursor(v + 1).Hash(),
		Events: longChunks * longEvents, Chunks: longChunks,
	}
	for k := range longChunks {
		p.ChunksDone = p.ChunksDone.With(k)
	}
	return p, nil
}

func (l *long) ListPages(ctx context.Context, s handoff.Stream, after handoff.Version, limit int) (ps []handoff.Page, err error) {
	l.asks(limit)
	for v := after + 1; len(ps) < limit && int(v) <= l.pages; v++ {
		p, err := l.Page(ctx, s, v)
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}

func (l *long) Directory(_ context.Context, _ handoff.Stream, v handoff.Version) (handoff.Directory, error) {
	d := handoff.Directory{Stream: auditStream, Version: v, RequestCursor: longCursor(v), NextCursor: longCursor(v + 1)}
	meta, _ := longRaw(v)
	d.Raw = handoff.ObjectRef{Key: fmt.Sprintf("meta %d", v), Digest: handoff.DigestOf(meta)}
	made := l.made(v)
	d.Object, d.Chunks = handoff.ObjectRef{Key: fmt.Sprintf("events %d", v), Digest: handoff.DigestOf(made.object)}, slices.Clone(made.refs)
	return d, nil
}

func longReceipt(v handoff.Version, i int) handoff.Receipt {
	return handoff.Receipt{
		ReceiptKey: handoff.ReceiptKey{EventID: longID(v, i)}, Stream: auditStream, Outcome: handoff.Ignored, Digest: "d", Detail: padding,
		PageVersion: v, Chunk: i / longEvents, Index: i, Rev: 1,
	}
}

func (l *long) Receipts(_ context.Context, _ handoff.Stream, keys []handoff.ReceiptKey, _ bool) (map[handoff.ReceiptKey]handoff.Receipt, error) {
	l.asks(len(keys))
	found := map[handoff.ReceiptKey]handoff.Receipt{}
	for _, k := range keys {
		found[k] = longReceipt(longEvent(k.EventID))
	}
	return found, nil
}

func (l *long) ListReceipts(_ context.Context, _ handoff.Stream, after string, limit int) (rs []handoff.Receipt, next string, err error) {
	l.asks(limit)
	n, _ := strconv.Atoi(after) // "" is 0
	all := l.pages * longChunks * longEvents
	for ; len(rs) < limit && n < all; n++ {
		rs = append(rs, longReceipt(handoff.Version(n/(longChunks*longEvents)+1), n%(longChunks*longEvents)))
	}
	if n < all {
		next = strconv.Itoa(n)
	}
	return rs, next, nil
}

func (l *long) HeldReceipts(context.Context, handoff.Stream, string, int) ([]handoff.Receipt, string, error) {
	return nil, "", nil
}

func (l *long) ListDocs(context.Context, handoff.Stream, string, int) ([]handoff.Doc, string, error) {
	return nil, "", nil
}

func (l *long) Audits(context.Context, handoff.Stream, string, int) ([]handoff.AuditRecord, string, error) {
	return nil, "", nil
}

func (l *long) Spool(context.Context, handoff.Stream, handoff.Version) ([]handoff.SpoolEntry, error) {
	return nil, nil
}

func longRaw(v handoff.Version) (meta, body []byte) {
	body = []byte(padding)
	meta, _ = json.Marshal(map[string]any{
		"format": 1, "answer": handoff.Answer{Cursor: longCursor(v)}, "body": handoff.ObjectRef{Key: "body", Digest: handoff.DigestOf(body)},
	})
	return meta, body
}

// made lays a page's events out, once.
func (l *long) made(v handoff.Version) *longPage {
	if l.last != nil && l.last.version == v {
		return l.last
	}
	p := &longPage{version: v}
	zw, _ := gzip.NewWriterLevel(nil, gzip.NoCompression) // the level exists
	for k := range longChunks {
		var out bytes.Buffer
		zw.Reset(&out)
		enc := json.NewEncoder(zw)
		for i := range longEvents {
			_ = enc.Encode(map[string]any{"id": longID(v, k*longEvents+i), "digest": "d", "index": k*longEvents + i, "lane": "", "raw": padding})
		}
		_ = zw.Close()
		p.refs = append(p.refs, handoff.ChunkRef{Offset: int64(len(p.object)), Length: int64(out.Len()), Digest: handoff.DigestOf(out.Bytes()), Events: longEvents})
		p.object = append(p.object, out.Bytes()...)
	}
	l.last = p
	return p
}

// longShelf is the archive beside it.
type longShelf struct {
	handoff.Archive
	*long
}

func (longShelf) Get(_ context.Context, key string) ([]byte, error) {
	kind, n, _ := strings.Cut(key, " ")
	v, _ := strconv.Atoi(n)
	meta, body := longRaw(handoff.Version(v))
	switch kind {
	case "meta":
		return meta, nil
	case "body":
		return body, nil
	}
	return nil, fmt.Errorf("an audit read all of %s", key)
}

func (s longShelf) GetRange(_ context.Context, key string, offset, length int64) ([]byte, error) {
	v, _ := strconv.Atoi(strings.TrimPrefix(key, "events "))
	return bytes.Clone(s.made(handoff.Version(v)).object[offset : offset+length]), nil
}

// peak is the most memory in use at any page or batch of an audit, and the most that it asked for at once.
func peak(t *testing.T, pages int) (bytes uint64, most int) {
	t.Helper()
	l := &long{T: t, pages: pages}
	e := handoff.New(handoff.Deps{State: l, Archive: longShelf{long: l}, Clock: &wall{time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC)}})
	var m runtime.MemStats
	ticks := 0
	sum, err := e.Audit(t.Context(), auditStream, handoff.AuditOptions{Progress: func(handoff.AuditProgress) {
		if ticks++; ticks%max(pages/40, 1) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			bytes = max(bytes, m.HeapAlloc)
		}
	}}, func(f handoff.Finding) error {
		return fmt.Errorf("found %+v", f)
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Pages != pages || sum.Receipts != pages*longChunks*longEvents {
		t.Fatalf("%d pages, %d receipts were looked at", sum.Pages, sum.Receipts)
	}
	return bytes, l.most
}

// A stream of a thousand pages and 100,000 receipts is looked at in the memory of one of ten. Whoever kept a directory of each page would
// need 1 MB more, whoever kept receipts 50. Not parallel: it looks at the memory of the whole process.
func TestAuditMemoryIsBounded(t *testing.T) {
	few, most := peak(t, 10)
	many, mostOfMany := peak(t, 1000)
	t.Logf("%d KB at 10 pages, %d KB at 1,000; at most %d items at once", few/1024, many/1024, mostOfMany)
	if many > few+1<<19 {
		t.Errorf("%d KB at 10 pages, %d KB at 1,000", few/1024, many/1024)
	}
	if most > 100 || mostOfMany > 100 {
		t.Errorf("%d and %d items were asked for at once", most, mostOfMany)
	}
}
