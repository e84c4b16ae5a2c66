package ddbstate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// format is the number that items are written with; every format ever written still reads.
const format = 1

// item is what DynamoDB stores under one key.
type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number[N ~int | ~int64 | ~uint64](n N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
}

func textOf(it item, name string) string {
	if s, ok := it[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func numberOf(it item, name string) (uint64, error) {
	n, ok := it[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("attribute %s is no number", name)
	}
	return strconv.ParseUint(n.Value, 10, 64)
}

func flagOf(it item, name string) bool {
	b, ok := it[name].(*types.AttributeValueMemberBOOL)
	return ok && b.Value
}

// encode makes an item of a value: its key, its format and its JSON, digit for digit.
func encode(k key, v any) (item, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode item: %w", err)
	}
	it := k.attributes()
	it["format"], it["item"] = number(format), text(string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
	return it, nil
}

// decode reads what encode wrote. An item of a format to come is refused: half understood is worse than not read.
func decode[T any](it item) (v T, err error) {
	f, err := numberOf(it, "format")
	if err == nil && f > format {
		err = fmt.Errorf("format %d is newer than this turnleaf, which knows %d", f, format)
	}
	if err == nil {
		err = json.Unmarshal([]byte(textOf(it, "item")), &v)
	}
	if err != nil {
		return v, fmt.Errorf("decode item: %w", err)
	}
	return v, nil
}

func decodeAll[T any](its []item, read func(item) (T, error)) ([]T, error) {
	list := make([]T, 0, len(its))
	for _, it := range its {
		v, err := read(it)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// checkpointItem has its rev beside it, for the guard.
func checkpointItem(k key, cp handoff.Checkpoint) (item, error) {
	it, err := encode(k, cp)
	if err == nil {
		it["rev"] = number(cp.Rev)
	}
	return it, err
}

// pageItem keeps what changes after the opening out of the JSON, so that an update touches one attribute: the item stays under
// 1 KB, since each update is billed by its whole size.
func pageItem(k key, p handoff.Page) (item, error) {
	still := p
	still.ChunksDone, still.Drives, still.DrivenAt, still.Abandoned, still.Lost = handoff.ChunkSet{}, 0, time.Time{}, false, false
	still.ExpiresAt = time.Time{}
	it, err := lasting(k, still, p.ExpiresAt)
	if err != nil {
		return nil, err
	}
	it["drives"], it["driven_at"] = number(p.Drives), instant(p.DrivenAt)
	if done := p.ChunksDone.List(); len(done) > 0 { // an empty set cannot be stored
		it["chunks_done"] = numberSet(done...)
	}
	if p.Abandoned {
		it["abandoned"] = flag()
	}
	if p.Lost {
		it["lost"] = flag()
	}
	return it, nil
}

func readPage(it item) (handoff.Page, error) {
	p, err := decode[handoff.Page](it)
	if err != nil {
		return p, err
	}
	drives, err := numberOf(it, "drives")
	if err == nil {
		p.DrivenAt, err = instantOf(it, "driven_at")
	}
	if err != nil {
		return p, fmt.Errorf("decode page: %w", err)
	}
	p.Drives, p.Abandoned, p.Lost = int(drives), flagOf(it, "abandoned"), flagOf(it, "lost")
	if _, ok := it["expires_at"]; ok {
		at, err := numberOf(it, "expires_at")
		if err != nil {
			return p, fmt.Errorf("decode page: %w", err)
		}
		p.ExpiresAt = time.Unix(int64(at), 0).UTC() //nolint:gosec // a second of this century
	}
	done, _ := it["chunks_done"].(*types.AttributeValueMemberNS)
	if done == nil {
		return p, nil
	}
	for _, n := range done.Value {
		k, err := strconv.Atoi(n)
		if err != nil || k < 0 || k >= handoff.MaxChunks {
			return p, fmt.Errorf("decode page: %.20q is no chunk", n)
		}
		p.ChunksDone = p.ChunksDone.With(k)
	}
	return p, nil
}

// receiptItem has its rev for the guard, its place in the index of holds while it is listed, and the second after which DynamoDB may
// drop it.
func receiptItem(s handoff.Stream, r handoff.Receipt) (item, error) {
	it, err := encode(receiptKey(s, r.ReceiptKey), r)
	if err != nil {
		return nil, err
	}
	it["rev"] = number(r.Rev)
	if r.Listed() {
		it["held_stream"], it["held_at"] = text(part(string(s))), heldAt(r)
	}
	if !r.ExpiresAt.IsZero() {
		it["expires_at"] = second(r.ExpiresAt)
	}
	return it, nil
}

// lasting is encode for an item that DynamoDB may drop after the given time; never if it is zero.
func lasting(k key, v any, until time.Time) (item, error) {
	it, err := encode(k, v)
	if err == nil && !until.IsZero() {
		it["expires_at"] = second(until)
	}
	return it, err
}

// second is the first whole second that is not before t: the unit of DynamoDB's own clock.
func second(t time.Time) types.AttributeValue { return number(t.Add(time.Second - 1).Unix()) }

// docItem has its rev and the token of the write that made it: a document that was deleted and made again counts from 1 again, and
// only the token tells the two apart.
func docItem(k key, d handoff.Doc, rev uint64, by string) (item, error) {
	it, err := encode(k, d)
	if err == nil {
		it["rev"], it["written_by"] = number(rev), text(by)
	}
	return it, err
}

func numberSet(ns ...int) types.AttributeValue {
	out := make([]string, len(ns))
	for i, n := range ns {
		out[i] = strconv.Itoa(n)
	}
	return &types.AttributeValueMemberNS{Value: out}
}

func flag() types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: true} }

// instant keeps nanoseconds; the zero time is an empty text.
func instant(t time.Time) types.AttributeValue {
	if t.IsZero() {
		return text("")
	}
	return text(sortable(t))
}

func instantOf(it item, name string) (time.Time, error) {
	s := textOf(it, name)
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err
}
