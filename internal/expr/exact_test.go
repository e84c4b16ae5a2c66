package expr_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/expr"
)

// The literals, and whether CEL sees a native int.
var literals = map[string]bool{
	"0": true, "1": true, "-1": true, "9007199254740993": true, "9223372036854775807": true, "-9223372036854775808": true,
	"9223372036854775808": false, "-9223372036854775809": false, "90071992547409931234567890": false, "-0": false,
	"1e3": false, "1E+3": false, "1.50": false, "1.5": false, "0.1": false, "1.0": false, "-2.50e-3": false,
}

func TestNumbersAreDigitForDigit(t *testing.T) {
	t.Parallel()
	for lit, isInt := range literals {
		vars := map[string]any{"event": decode(t, `{"n":`+lit+`}`)}
		for src, want := range map[string]string{
			`event.n`:                   lit,
			`text(event.n)`:             `"` + lit + `"`,
			`json(event)`:               `"{\"n\":` + lit + `}"`,
			`[event.n]`:                 `[` + lit + `]`,
			`{"a": event.n}`:            `{"a":` + lit + `}`,
			`event.n == event.n`:        `true`,
			`event.n != event.n`:        `false`,
			`compare(event.n, event.n)`: `0`,
			`type(event.n) == int`:      fmt.Sprint(isInt),
			`event.n == "x"`:            `false`,
			`"x" == event.n`:            `false`,
			`event.n == null`:           `false`,
			`null == event.n`:           `false`,
		} {
			if got := eval(t, src, vars); got != want {
				t.Errorf("%s of %s = %s, want %s", src, lit, got, want)
			}
		}
		p, err := expr.Compile("event.n", "event")
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Eval(vars)
		if err != nil {
			t.Fatal(err)
		}
		number, err1 := r.Number()
		text, err2 := r.Text()
		if number != lit || text != lit || err1 != nil || err2 != nil || r.Kind() != expr.Number {
			t.Errorf("%s: number %q %v, text %q %v, kind %s", lit, number, err1, text, err2, r.Kind())
		}
	}
}

// An exact number refuses every operator on either side; only a native int beside a native int works.
func TestOperatorsInBothOrders(t *testing.T) {
	t.Parallel()
	for lit, isInt := range literals {
		vars := map[string]any{"event": decode(t, `{"n":`+lit+`,"list":[`+lit+`],"o":{"k":`+lit+`}}`)}
		for _, form := range []string{
			"%s < %s", "%s <= %s", "%s > %s", "%s >= %s", "%s + %s", "%s - %s", "%s * %s", "%s / %s", "%s %% %s", "%s == %s", "%s != %s",
		} {
			for _, other := range []string{"1000", "1000u", "1.5"} {
				if isInt && other != "1000" || strings.Contains(form, "%%") && other == "1.5" {
					continue
				}
				for _, src := range []string{fmt.Sprintf(form, "event.n", other), fmt.Sprintf(form, other, "event.n")} {
					got := eval(t, src, vars)
					if isInt && strings.ContainsAny(form, "<>=") && strings.HasPrefix(got, "error") {
						t.Errorf("%s of %s = %s", src, lit, got)
					}
					if !isInt && !strings.HasPrefix(got, "error: ") {
						t.Errorf("%s of %s = %s, want an error", src, lit, got)
					}
				}
			}
		}
		if isInt {
			continue
		}
		for _, src := range []string{
			"-event.n", "event.n in [1000]", "1000 in [event.n]", "1000 in event.list", "event.list == [1000]", "[1000] == event.list",
			"event.o == {'k': 1000}", "{'k': 1000} == event.o", "[[1000]] != [event.list]", "event.n < event.n", "event.n + event.n",
			"string(event.n)", "int(event.n)", "double(event.n)", "uint(event.n)", "event.n < 'x'", "'x' < event.n", "{1000: 1}[event.n]", "[1][event.n]",
			"event.n ? 1 : 2", "!event.n", "event.n && true",
		} {
			if got := eval(t, src, vars); !strings.HasPrefix(got, "error: ") {
				t.Errorf("%s of %s = %s, want an error", src, lit, got)
			}
		}
	}
}

func TestExactEquality(t *testing.T) {
	t.Parallel()
	vars := map[string]any{"event": decode(t, `{"a":1e3,"b":1000.0,"c":1000.5,"big":90071992547409931234567890,
		"big1":90071992547409931234567891,"huge":1e999999999,"huge2":1e999999998,"int":1000,"small":1.5}`)}
	for src, want := range map[string]string{
		`event.a == event.b`:             `true`,
		`event.b == event.a`:             `true`,
		`event.a == event.c`:             `false`,
		`event.a != event.c`:             `true`,
		`event.big == event.big1`:        `false`,
		`[event.a] == [event.b]`:         `true`,
		`event.a in [event.c, event.b]`:  `true`,
		`event.a in [event.c]`:           `false`,
		`event.huge == event.huge`:       `true`,
		`event.huge == event.huge2`:      `error: a number too long to compare`,
		`event.a == event.int`:           `error: an exact number beside a native one: use compare(a, b) or text(x)`,
		`event.int == event.a`:           `error: an exact number beside a native one: use compare(a, b) or text(x)`,
		`event.int in [event.a]`:         `error: an exact number beside a native one: use compare(a, b) or text(x)`,
		`1000 in [event.a, 1000]`:        `true`,
		`compare(event.a, event.int)`:    `0`,
		`compare(event.int, event.c)`:    `-1`,
		`compare(event.big1, event.big)`: `1`,
		`compare(event.small, "1.50")`:   `0`,
		`compare(event.small, 1.5)`:      `0`,
		`compare(event.small, "x")`:      `error: compare(a, b) needs numbers, or texts that are numbers`,
		`compare(null, 1)`:               `error: compare(a, b) needs numbers, or texts that are numbers`,
		`compare(event.huge, 1)`:         `error: compare(a, b) needs numbers, or texts that are numbers`,
		`0.0 / 0.0`:                      `error: write JSON: not a value that JSON can write`,
		`1.5`:                            `1.5`,
	} {
		if got := eval(t, src, vars); got != want {
			t.Errorf("%s = %s, want %s", src, got, want)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	doc := decode(t, `{"items":[ {"a" : 1} , 7, "\u0041", {"a":1,"a":2}, "\ud800" ], "n": 1.50, "s": "x"}`)
	run := func(src string) expr.Result {
		p, err := expr.Compile(src, "event")
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Eval(map[string]any{"event": doc})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	items, err := run("event.items").List()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"a" : 1}`, `7`, `"\u0041"`, `{"a":1,"a":2}`, `"\ud800"`} {
		if v, ok := items[i].Value(); !ok || string(v.Raw()) != want {
			t.Errorf("element %d: %q, %v", i, v.Raw(), ok)
		}
	}
	if _, err := items[3].JSON(); err == nil {
		t.Error("an object with a duplicate key was written")
	}
	if _, err := items[4].Text(); err == nil || !strings.Contains(err.Error(), "lone surrogate") {
		t.Errorf("a text with a defect: %v", err)
	}
}

func TestResultKinds(t *testing.T) {
	t.Parallel()
	doc := decode(t, `{"items":[ {"a" : 1} ], "n": 1.50}`)
	for src, want := range map[string]struct {
		kind      expr.Kind
		raw, text string
	}{
		`event.items[0]`:                    {expr.Map, `{"a" : 1}`, ""},
		`event.items.filter(i, true)[0]`:    {expr.Map, `{"a" : 1}`, ""},
		`event.items`:                       {expr.List, `[ {"a" : 1} ]`, ""},
		`event.n`:                           {expr.Number, `1.50`, "1.50"},
		`event.items[0].a`:                  {expr.Number, "", "1"},
		`[1]`:                               {expr.List, "", ""},
		`null`:                              {expr.Null, "", ""},
		`true`:                              {expr.Bool, "", ""},
		`b"x"`:                              {expr.Bytes, "", ""},
		`duration("1s")`:                    {expr.Duration, "", ""},
		`timestamp("2031-01-01T00:00:00Z")`: {expr.Time, "", "2031-01-01T00:00:00Z"},
		`type(1)`:                           {expr.Other, "", ""},
	} {
		p, err := expr.Compile(src, "event")
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Eval(map[string]any{"event": doc})
		if err != nil {
			t.Fatal(err)
		}
		v, ok := r.Value()
		if r.Kind() != want.kind || string(v.Raw()) != want.raw || ok != (want.raw != "") {
			t.Errorf("%s: kind %s, raw %q, %v", src, r.Kind(), v.Raw(), ok)
		}
		if text, err := r.Text(); text != want.text || (err == nil) != (want.text != "") {
			t.Errorf("%s: text %q, %v", src, text, err)
		}
		if _, err := r.Bool(); (err == nil) != (want.kind == expr.Bool) {
			t.Errorf("%s: as a bool: %v", src, err)
		}
		if _, err := r.List(); (err == nil) != (want.kind == expr.List) {
			t.Errorf("%s: as a list: %v", src, err)
		}
		if _, err := r.Number(); (err == nil) != (want.kind == expr.Number) {
			t.Errorf("%s: as a number: %v", src, err)
		}
		if r.IsNull() != (want.kind == expr.Null) {
			t.Errorf("%s: IsNull %v", src, r.IsNull())
		}
	}
	var zero expr.Result
	if _, err := zero.JSON(); err == nil || zero.Kind() != expr.None {
		t.Error("the zero Result is not nothing")
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,-0,1e3,"x\u0041\"",null,true],"b":{}}`))
	p, err := expr.Compile("event", "event")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := expr.Decode(b, expr.Limits{Depth: 50, Nodes: 10_000})
		if err != nil || v.Defect() != "" {
			return
		}
		r, err := p.Eval(map[string]any{"event": v})
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out) {
			t.Fatalf("%q was written as %q", b, out)
		}
		again, err := expr.Decode(out, expr.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, err = p.Eval(map[string]any{"event": again})
		if err != nil {
			t.Fatal(err)
		}
		if twice, _ := r.JSON(); string(twice) != string(out) {
			t.Fatalf("%q became %q, then %q", b, out, twice)
		}
	})
}
