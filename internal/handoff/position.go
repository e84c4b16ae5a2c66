package handoff

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrIncomparable: two positions of one stream are of different kinds (a number against a text).
var ErrIncomparable = errors.New("positions of different kinds cannot be compared")

// positionKind says how one part of a position is compared.
type positionKind string

const (
	kindNumber  positionKind = "n" // exact decimal
	kindTime    positionKind = "t" // instant, whatever its precision
	kindText    positionKind = "s" // byte order
	kindArrival positionKind = "a" // page version, index
)

type positionPart struct {
	kind   positionKind
	text   string // as the source wrote it, digit for digit
	number Decimal
	time   time.Time
	page   Version
	index  int
}

// Position is where an event stands in the source's total order: an exact number, an instant, a text, a tuple of these, or
// arrival (page version, index). The zero Position is none. Positions are values; they are compared, never computed with.
type Position struct{ parts []positionPart }

// NumberPosition reads a JSON number of any size, digit for digit.
func NumberPosition(literal string) (Position, error) {
	d, err := ParseDecimal(literal)
	if err != nil {
		return Position{}, fmt.Errorf("position: %w", err)
	}
	return Position{[]positionPart{{kind: kindNumber, text: literal, number: d}}}, nil
}

// TimePosition reads an RFC 3339 instant of any precision down to a nanosecond.
func TimePosition(text string) (Position, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return Position{}, fmt.Errorf("position: %.60q is not an RFC 3339 time", text)
	}
	return Position{[]positionPart{{kind: kindTime, text: text, time: t.UTC()}}}, nil
}

// TextPosition orders by bytes.
func TextPosition(text string) Position {
	return Position{[]positionPart{{kind: kindText, text: text}}}
}

// TuplePosition compares part by part.
func TuplePosition(ps ...Position) Position {
	var out Position
	for _, p := range ps {
		out.parts = append(out.parts, p.parts...)
	}
	return out
}

// ArrivalPosition is the order in which pages were turned, for sources that promise none.
func ArrivalPosition(v Version, index int) Position {
	return Position{[]positionPart{{kind: kindArrival, page: v, index: index}}}
}

// IsZero reports that there is no position.
func (p Position) IsZero() bool { return len(p.parts) == 0 }

// Arrival reports whether the position was stamped by us and not read from the source.
func (p Position) Arrival() bool { return len(p.parts) == 1 && p.parts[0].kind == kindArrival }

// Time is the instant of a position in time; ok is false for every other kind.
func (p Position) Time() (t time.Time, ok bool) {
	if len(p.parts) > 0 && p.parts[0].kind == kindTime {
		return p.parts[0].time, true
	}
	return time.Time{}, false
}

// Compare gives -1, 0 or 1, or ErrIncomparable. None is below everything.
func (p Position) Compare(q Position) (int, error) {
	if p.IsZero() || q.IsZero() {
		return cmp.Compare(len(p.parts), len(q.parts)), nil
	}
	if len(p.parts) != len(q.parts) {
		return 0, ErrIncomparable
	}
	for i := range p.parts {
		a, b := p.parts[i], q.parts[i]
		if a.kind != b.kind {
			return 0, ErrIncomparable
		}
		if c := a.compare(b); c != 0 {
			return c, nil
		}
	}
	return 0, nil
}

func (a positionPart) compare(b positionPart) int {
	switch a.kind {
	case kindNumber:
		return a.number.Cmp(b.number)
	case kindTime:
		return a.time.Compare(b.time)
	case kindArrival:
		return cmp.Or(cmp.Compare(a.page, b.page), cmp.Compare(a.index, b.index))
	default:
		return strings.Compare(a.text, b.text)
	}
}

// Follows reports whether p is exactly one above q; ok is false unless both are single whole numbers.
func (p Position) Follows(q Position) (follows, ok bool) {
	if len(p.parts) != 1 || len(q.parts) != 1 || p.parts[0].kind != kindNumber || q.parts[0].kind != kindNumber {
		return false, false
	}
	a, b := p.parts[0].number, q.parts[0].number
	if !a.Int() || !b.Int() {
		return false, false
	}
	one, _ := ParseDecimal("1")
	return b.Add(one).Cmp(a) == 0, true
}

// String is for people.
func (p Position) String() string {
	texts := make([]string, len(p.parts))
	for i, part := range p.parts {
		texts[i] = part.text
		if part.kind == kindArrival {
			texts[i] = fmt.Sprintf("arrival %d.%d", part.page, part.index)
		}
	}
	return strings.Join(texts, ", ")
}

// MarshalText gives the stored form: a JSON array of [kind, text] pairs; empty for none.
func (p Position) MarshalText() ([]byte, error) {
	if p.IsZero() {
		return nil, nil
	}
	pairs := make([][2]string, len(p.parts))
	for i, part := range p.parts {
		text := part.text
		if part.kind == kindArrival {
			text = strconv.FormatUint(uint64(part.page), 10) + "." + strconv.Itoa(part.index)
		}
		pairs[i] = [2]string{string(part.kind), text}
	}
	return json.Marshal(pairs)
}

// UnmarshalText reads the stored form.
func (p *Position) UnmarshalText(b []byte) error {
	*p = Position{}
	if len(b) == 0 {
		return nil
	}
	var pairs [][2]string
	if err := json.Unmarshal(b, &pairs); err != nil {
		return fmt.Errorf("position: %w", err)
	}
	parts := make([]Position, 0, len(pairs))
	for _, pair := range pairs {
		one, err := parsePart(positionKind(pair[0]), pair[1])
		if err != nil {
			return err
		}
		parts = append(parts, one)
	}
	*p = TuplePosition(parts...)
	return nil
}

func parsePart(kind positionKind, text string) (Position, error) {
	switch kind {
	case kindNumber:
		return NumberPosition(text)
	case kindTime:
		return TimePosition(text)
	case kindText:
		return TextPosition(text), nil
	case kindArrival:
		v, i, _ := strings.Cut(text, ".")
		page, err1 := strconv.ParseUint(v, 10, 64)
		index, err2 := strconv.Atoi(i)
		if err := errors.Join(err1, err2); err != nil {
			return Position{}, fmt.Errorf("position: %w", err)
		}
		return ArrivalPosition(Version(page), index), nil
	}
	return Position{}, fmt.Errorf("position: unknown kind %q", kind)
}

// Equal reports sameness of kind and value.
func (p Position) Equal(q Position) bool {
	c, err := p.Compare(q)
	return err == nil && c == 0
}

// maxPosition is the greater of two; what cannot be compared keeps the first.
func maxPosition(p, q Position) Position {
	if c, err := p.Compare(q); err == nil && c < 0 {
		return q
	}
	return p
}

// below reports p < q; what cannot be compared is not below.
func below(p, q Position) bool {
	c, err := p.Compare(q)
	return err == nil && c < 0
}
