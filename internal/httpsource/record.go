package httpsource

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnleaf/turnleaf/internal/expr"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// futureSlack is how far clocks may be apart before a time counts as the future.
const futureSlack = 5 * time.Minute

// record is one element of the list, read.
type record struct {
	event  handoff.Event
	doc    expr.Value
	future bool // it names a time that has not come: it must not move anything
}

// record never fails for what a record holds: whatever is missing or unfit makes the event invalid, and it is held.
func (a *answer) record(r expr.Result) (record, error) {
	doc, err := document(r)
	if err != nil {
		return record{}, fmt.Errorf("source.events: %w", err)
	}
	rec := record{doc: doc}
	ev := &rec.event
	ev.Raw = bytes.Clone(doc.Raw())
	vars := map[string]any{"event": doc}
	var faults []string
	fault := func(what string, err error) {
		if err != nil {
			faults = append(faults, what+": "+err.Error())
		}
	}
	if defect := doc.Defect(); defect != "" {
		faults = append(faults, "defect: "+defect)
	}
	ev.Digest, err = a.digest(vars, ev.Raw)
	fault("no digest", err)
	ev.ID, err = a.rules.id.identity(vars)
	fault("no id", err)
	if err != nil {
		ev.ID = handoff.InvalidID(ev.Digest)
	}
	ev.Position, err = a.position(vars)
	fault("no position", err)
	if a.rules.entity != nil {
		ev.Entity, err = a.rules.entity.name(vars)
		fault("no entity", err)
	}
	ev.Time, err = a.eventTime(vars)
	fault("no time", err)
	if rec.future = a.inFuture(*ev); rec.future {
		faults = append(faults, "its time has not come yet")
	}
	ev.Invalid = strings.Join(faults, "; ")
	return rec, nil
}

// digest is over the declared fields, or over the bytes; those also stand in where the fields cannot be read.
func (a *answer) digest(vars map[string]any, raw []byte) (string, error) {
	if a.rules.digest == nil {
		return handoff.DigestOf(raw), nil
	}
	r, err := a.rules.digest.eval(vars)
	if err != nil {
		return handoff.DigestOf(raw), err
	}
	b, err := canonical(r)
	if err != nil {
		return handoff.DigestOf(raw), err
	}
	return handoff.DigestOf(b), nil
}

// canonical is compact JSON with sorted keys and the numbers' own digits.
func canonical(r expr.Result) ([]byte, error) {
	b, err := r.JSON()
	if err != nil {
		return nil, err
	}
	v := jsontext.Value(b)
	err = v.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, errors.New("not a value with one canonical form")
	}
	return v, nil
}

var errEmpty = errors.New("it is null or empty")

// identity gives canonical JSON, which carries the type: "1" is not 1. Null and what is empty identify nothing.
func (p *program) identity(vars map[string]any) (string, error) {
	r, err := p.eval(vars)
	if err != nil {
		return "", err
	}
	switch kind := r.Kind(); {
	case kind == expr.Null:
		return "", errEmpty
	case kind == expr.Text, kind == expr.Number, kind == expr.List, kind == expr.Map:
	default:
		return "", fmt.Errorf("%s: a %s identifies nothing", p.field, kind)
	}
	b, err := canonical(r)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.field, err)
	}
	if s := string(b); s == `""` || s == `[]` || s == `{}` {
		return "", errEmpty
	}
	return string(b), nil
}

// name gives an entity as plain text, a number digit for digit: it names a lane and a document, and people write it in rules.
func (p *program) name(vars map[string]any) (string, error) {
	r, err := p.eval(vars)
	if err != nil {
		return "", err
	}
	if kind := r.Kind(); kind == expr.Null {
		return "", errEmpty
	} else if kind != expr.Text && kind != expr.Number {
		return "", fmt.Errorf("%s: a %s names no entity", p.field, kind)
	}
	text, err := r.Text()
	if err == nil && text == "" {
		err = errEmpty
	}
	return text, err
}

// position is by the declared type; a list is a tuple, whose first part has that type, and the others go by their values.
func (a *answer) position(vars map[string]any) (handoff.Position, error) {
	if a.rules.position == nil {
		return handoff.Position{}, nil
	}
	r, err := a.rules.position.eval(vars)
	if err != nil {
		return handoff.Position{}, err
	}
	if r.Kind() != expr.List {
		return a.positionPart(r, a.def.Event.PositionType)
	}
	list, err := r.List()
	if err != nil || len(list) == 0 {
		return handoff.Position{}, errEmpty
	}
	parts := make([]handoff.Position, len(list))
	kind := a.def.Event.PositionType
	for i, one := range list {
		if parts[i], err = a.positionPart(one, kind); err != nil {
			return handoff.Position{}, err
		}
		kind = ""
	}
	return handoff.TuplePosition(parts...), nil
}

// positionPart tells in words of its own what is wrong, since those of the number or time would show it.
func (a *answer) positionPart(r expr.Result, kind string) (handoff.Position, error) {
	v, err := scalar(r)
	if err != nil {
		return handoff.Position{}, errors.New("neither a number nor a text")
	}
	if v.absent() {
		return handoff.Position{}, errEmpty
	}
	switch {
	case kind == "time":
		t, literal, err := instant(v, a.def.Event.TimeUnit)
		if err != nil || t.IsZero() {
			return handoff.Position{}, errors.New("not a time")
		}
		p, err := handoff.TimePosition(literal)
		if err != nil { // a year that RFC 3339 cannot write
			return p, errors.New("not a time")
		}
		return p, nil
	case kind == "number" || kind == "" && v.kind == kindNumber:
		p, err := handoff.NumberPosition(v.text)
		if err != nil {
			return p, errors.New("not a number that can be compared")
		}
		return p, nil
	}
	return handoff.TextPosition(v.text), nil
}

// eventTime is when it happened. It is needed only where young events are held back: an undated one might be young.
func (a *answer) eventTime(vars map[string]any) (time.Time, error) {
	if a.rules.time == nil {
		return time.Time{}, nil
	}
	r, err := a.rules.time.eval(vars)
	if err == nil {
		var v value
		if v, err = scalar(r); err == nil {
			var t time.Time
			if t, _, err = instant(v, a.def.Event.TimeUnit); err == nil {
				return t, nil
			}
		}
	}
	if a.def.Contract.HoldBack > 0 {
		return time.Time{}, err
	}
	return time.Time{}, nil
}

func (a *answer) inFuture(ev handoff.Event) bool {
	limit := a.FetchedAt.Add(futureSlack)
	at, _ := ev.Position.Time()
	return ev.Time.After(limit) || at.After(limit)
}

// instant reads RFC 3339, or a number by its unit; literal is RFC 3339, as written where it was.
func instant(v value, unit string) (t time.Time, literal string, err error) {
	switch v.kind {
	case kindText:
		if t, err = time.Parse(time.RFC3339Nano, v.text); err != nil {
			return t, "", errors.New("not an RFC 3339 time")
		}
		return t.UTC(), v.text, nil
	case kindNumber:
		if t, err = epoch(v.text, unit); err != nil {
			return t, "", err
		}
		return t, t.Format(time.RFC3339Nano), nil
	}
	return time.Time{}, "", errEmpty
}

// epoch reads seconds ("s") or milliseconds ("ms") since 1970, with a fraction down to a nanosecond, in the years 1 to 9999.
func epoch(literal, unit string) (time.Time, error) {
	scale := map[string]int64{"s": 1e9, "ms": 1e6}[unit]
	if scale == 0 {
		return time.Time{}, errors.New("a number is a time only with event.time_unit s or ms")
	}
	d, err := handoff.ParseDecimal(literal)
	if err != nil {
		return time.Time{}, errors.New("not a number that can be read")
	}
	rat, ok := new(big.Rat).SetString(d.String())
	if !ok {
		return time.Time{}, errors.New("not a number that can be read")
	}
	rat.Mul(rat, new(big.Rat).SetInt64(scale))
	nanos := new(big.Int).Div(rat.Num(), rat.Denom()) // rounds down, before 1970 too
	sec, rest := new(big.Int).DivMod(nanos, big.NewInt(1e9), new(big.Int))
	if !sec.IsInt64() || sec.Int64() < -62135596800 || sec.Int64() >= 253402300800 {
		return time.Time{}, errors.New("a time beyond the years 1 to 9999")
	}
	return time.Unix(sec.Int64(), rest.Int64()).UTC(), nil
}
