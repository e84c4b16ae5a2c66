package handoff

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxChunkBytes bounds what one chunk may unpack to: its bytes are ours, but the archive may have been tampered with.
const maxChunkBytes = 1 << 30

// rawMeta is the metadata object of one archived answer.
type rawMeta struct {
	Format int       `json:"format"`
	Answer Answer    `json:"answer"`
	Body   ObjectRef `json:"body"`
}

// rawPrefix is where the answers to one cursor under one version lie.
func rawPrefix(s Stream, v Version, c Cursor) string {
	return fmt.Sprintf("raw/%s/%012d/%s/", url.PathEscape(string(s)), v, c.Hash())
}

// archiveRaw keeps an answer: the body, then the metadata that names it, both keyed by their own digest. Dying between the two
// leaves a body nobody names.
func (e *Engine) archiveRaw(ctx context.Context, s Stream, v Version, a Answer) (ObjectRef, error) {
	prefix := rawPrefix(s, v, a.Cursor)
	body := ObjectRef{Digest: DigestOf(a.Body)}
	body.Key = prefix + body.Digest + ".body"
	if err := e.Archive.Put(ctx, body.Key, a.Body); err != nil {
		return ObjectRef{}, fmt.Errorf("archive body of %s at version %d: %w", s, v, err)
	}
	meta, err := json.Marshal(rawMeta{Format: 1, Answer: a, Body: body})
	if err != nil {
		return ObjectRef{}, fmt.Errorf("encode answer of %s: %w", s, err)
	}
	ref := ObjectRef{Digest: DigestOf(meta)}
	ref.Key = prefix + ref.Digest + ".json"
	if err := e.Archive.Put(ctx, ref.Key, meta); err != nil {
		return ObjectRef{}, fmt.Errorf("archive answer of %s at version %d: %w", s, v, err)
	}
	return ref, nil
}

// getObject reads an object and verifies it.
func (e *Engine) getObject(ctx context.Context, ref ObjectRef) ([]byte, error) {
	b, err := e.Archive.Get(ctx, ref.Key)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ref.Key, err)
	}
	if DigestOf(b) != ref.Digest {
		return nil, fmt.Errorf("read %s: %w", ref.Key, ErrDigest)
	}
	return b, nil
}

// readRaw gives an archived answer back as it was.
func (e *Engine) readRaw(ctx context.Context, ref ObjectRef) (Answer, error) {
	b, err := e.getObject(ctx, ref)
	if err != nil {
		return Answer{}, err
	}
	var meta rawMeta
	if err := json.Unmarshal(b, &meta); err != nil {
		return Answer{}, fmt.Errorf("decode %s: %w", ref.Key, err)
	}
	meta.Answer.Body, err = e.getObject(ctx, meta.Body)
	return meta.Answer, err
}

// findRaw gives the archived answers to the checkpoint's own cursor under its own version: what a poll fetched before it died.
// Another fetch definition, another epoch or another cursor does not count.
func (e *Engine) findRaw(ctx context.Context, cp Checkpoint, fetchHash string) ([]candidate, error) {
	keys, err := e.Archive.List(ctx, rawPrefix(cp.Stream, cp.Version, cp.ResumeCursor), 1000)
	if err != nil {
		return nil, fmt.Errorf("list answers of %s: %w", cp.Stream, err)
	}
	var found []candidate
	for _, key := range keys {
		name, ok := strings.CutSuffix(key[strings.LastIndexByte(key, '/')+1:], ".json")
		if !ok {
			continue
		}
		ref := ObjectRef{Key: key, Digest: name}
		a, err := e.readRaw(ctx, ref)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDigest) {
			continue // half of an answer: whoever wrote it died first
		}
		if err != nil {
			return nil, err
		}
		if a.FetchHash == fetchHash && a.Epoch == cp.Epoch && a.Cursor == cp.ResumeCursor {
			found = append(found, candidate{answer: a, raw: ref, cached: true})
		}
	}
	return found, nil
}

// frozenEvent is the archived form: the event's frozen parts, and its bytes as text where they are text.
type frozenEvent struct {
	Event
	Text   *string `json:"raw,omitempty"`
	Base64 []byte  `json:"raw64,omitempty"`
}

// packEvents lays a page's chunks out as concatenated gzip members of NDJSON, one member a chunk: any reader of gzip NDJSON reads
// the whole, and a range read gives one chunk. The same events give the same bytes.
func packEvents(chunks [][]Event) ([]byte, []ChunkRef, error) {
	var out bytes.Buffer
	refs := make([]ChunkRef, 0, len(chunks))
	for _, events := range chunks {
		start := out.Len()
		zw := gzip.NewWriter(&out)
		enc := json.NewEncoder(zw)
		enc.SetEscapeHTML(false)
		for _, ev := range events {
			f := frozenEvent{Event: ev}
			if utf8.Valid(ev.Raw) {
				text := string(ev.Raw)
				f.Text = &text
			} else {
				f.Base64 = ev.Raw
			}
			if err := enc.Encode(f); err != nil {
				return nil, nil, fmt.Errorf("encode event %d: %w", ev.Index, err)
			}
		}
		if err := zw.Close(); err != nil {
			return nil, nil, fmt.Errorf("pack events: %w", err)
		}
		b := out.Bytes()[start:]
		refs = append(refs, ChunkRef{Offset: int64(start), Length: int64(len(b)), Digest: DigestOf(b), Events: len(events)})
	}
	return out.Bytes(), refs, nil
}

func unpackEvents(b []byte) ([]Event, error) {
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("unpack events: %w", err)
	}
	dec := json.NewDecoder(io.LimitReader(zr, maxChunkBytes))
	var events []Event
	for {
		var f frozenEvent
		err := dec.Decode(&f)
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode events: %w", err)
		}
		f.Event.Raw = f.Base64
		if f.Text != nil {
			f.Event.Raw = []byte(*f.Text)
		}
		events = append(events, f.Event)
	}
}

// archiveEvents keeps the events of a page under the digest of their own bytes: two pollers that laid one page out differently
// write two objects, and each directory names its own.
func (e *Engine) archiveEvents(ctx context.Context, s Stream, v Version, chunks [][]Event) (ObjectRef, []ChunkRef, error) {
	b, refs, err := packEvents(chunks)
	if err != nil {
		return ObjectRef{}, nil, err
	}
	ref := ObjectRef{Digest: DigestOf(b)}
	ref.Key = fmt.Sprintf("events/%s/%012d/%s.ndjson.gz", url.PathEscape(string(s)), v, ref.Digest)
	if err := e.Archive.Put(ctx, ref.Key, b); err != nil {
		return ObjectRef{}, nil, fmt.Errorf("archive events of %s at version %d: %w", s, v, err)
	}
	return ref, refs, nil
}

// chunkEvents reads one chunk by range and verifies it.
func (e *Engine) chunkEvents(ctx context.Context, dir Directory, k int) ([]Event, error) {
	if k < 0 || k >= len(dir.Chunks) {
		return nil, fmt.Errorf("chunk %d of %s at version %d: %w", k, dir.Stream, dir.Version, ErrNotFound)
	}
	ref := dir.Chunks[k]
	b, err := e.Archive.GetRange(ctx, dir.Object.Key, ref.Offset, ref.Length)
	if err != nil {
		return nil, fmt.Errorf("read chunk %d of %s: %w", k, dir.Object.Key, err)
	}
	if DigestOf(b) != ref.Digest {
		return nil, fmt.Errorf("read chunk %d of %s: %w", k, dir.Object.Key, ErrDigest)
	}
	return unpackEvents(b)
}
