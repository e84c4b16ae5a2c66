package expr_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/expr"
)

func decode(t *testing.T, doc string) expr.Value {
	t.Helper()
	v, err := expr.Decode([]byte(doc), expr.Limits{})
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return v
}

func TestDecodeKeepsRawBytes(t *testing.T) {
	t.Parallel()
	doc := " \n{ \"items\" :\t[ { \"a\" : 1.50 ,\r\n \"b\":\"\\u0041\\/\" }\t,  7 , \"x\" , [ ] ] }  "
	items, ok := decode(t, doc).Get("items")
	if !ok {
		t.Fatal("no items")
	}
	want := []string{"{ \"a\" : 1.50 ,\r\n \"b\":\"\\u0041\\/\" }", "7", `"x"`, "[ ]"}
	for i, v := range items.List() {
		if string(v.Raw()) != want[i] {
			t.Errorf("element %d: raw %q, want %q", i, v.Raw(), want[i])
		}
	}
	if len(items.List()) != len(want) || items.Len() != len(want) {
		t.Errorf("%d elements, want %d", items.Len(), len(want))
	}
	b, _ := items.List()[0].Get("b")
	if s, err := b.Text(); s != "A/" || err != nil {
		t.Errorf("text %q, %v", s, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		doc    string
		lim    expr.Limits
		offset int64
		reason string
	}{
		"empty":          {doc: "", reason: "empty"},
		"white space":    {doc: " \n\t", reason: "empty"},
		"bom":            {doc: "\xef\xbb\xbf{}", reason: "byte order mark"},
		"cut":            {doc: `{"a":[1,`, offset: 8, reason: "too soon"},
		"cut text":       {doc: `["abc`, offset: 5, reason: "too soon"},
		"trailing":       {doc: `{} {}`, offset: 2, reason: "follows"},
		"trailing word":  {doc: `{"a":1}secret`, offset: 7, reason: "follows"},
		"bare word":      {doc: `{"a":secret}`, offset: 5, reason: "not valid"},
		"html":           {doc: `<html>secret</html>`, offset: 0, reason: "not valid"},
		"comma":          {doc: `[1,]`, offset: 2, reason: "not valid"},
		"key":            {doc: `{1:2}`, offset: 1, reason: "not valid"},
		"leading zero":   {doc: `[01]`, offset: 2, reason: "not valid"},
		"control":        {doc: "[\"a\x00b\"]", offset: 3, reason: "not valid"},
		"depth":          {doc: "[[[1]]]", lim: expr.Limits{Depth: 2}, offset: 2, reason: "deeper than 2"},
		"nodes":          {doc: "[1,2,3]", lim: expr.Limits{Nodes: 3}, reason: "more than 3"},
		"depth bomb":     {doc: strings.Repeat("[", 1_000_000), offset: 128, reason: "deeper than 128"},
		"object bomb":    {doc: strings.Repeat(`{"a":`, 1_000_000), reason: "deeper than 128"},
		"depth by limit": {doc: strings.Repeat("[", 1_000_000), lim: expr.Limits{Depth: 1 << 40}, reason: "deeper than 9000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := expr.Decode([]byte(tc.doc), tc.lim)
			var de *expr.DecodeError
			if !errors.As(err, &de) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(de.Reason, tc.reason) {
				t.Errorf("reason %q, want %q", de.Reason, tc.reason)
			}
			if tc.offset != 0 && de.Offset != tc.offset {
				t.Errorf("offset %d, want %d", de.Offset, tc.offset)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows content: %v", err)
			}
		})
	}
}

func TestDecodeMarksDefects(t *testing.T) {
	t.Parallel()
	many := `{"k0":0,"k1":0,"k2":0,"k3":0,"k4":0,"k5":0,"k6":0,"k7":0,"k8":0,"k3":1}`
	for doc, want := range map[string]string{
		`{"a":1,"a":2}`:       "duplicate key",
		`{"a":1,"\u0061":2}`:  "duplicate key",
		many:                  "duplicate key",
		`"\ud800"`:            "invalid UTF-8 or lone surrogate",
		`"\udc00\ud800"`:      "invalid UTF-8 or lone surrogate",
		"\"a\xffb\"":          "invalid UTF-8 or lone surrogate",
		`{"\ud800":1}`:        "invalid UTF-8 or lone surrogate",
		`"\ud83d\ude00"`:      "",
		`"\u0000"`:            "",
		"\"\uFFFD\"":          "",
		`{"a":1,"b":{"a":2}}`: "",
	} {
		page := decode(t, `[{"fine":1}, `+doc+`]`)
		if got := page.Defect(); got != want {
			t.Errorf("%q: defect of the page %q, want %q", doc, got, want)
		}
		if got := page.List()[0].Defect(); got != "" {
			t.Errorf("%q: its neighbour has defect %q", doc, got)
		}
		bad := page.List()[1]
		if bad.Defect() != want || string(bad.Raw()) != doc {
			t.Errorf("%q: defect %q, raw %q", doc, bad.Defect(), bad.Raw())
		}
	}
	v := decode(t, `{"a":1,"a":2}`)
	if _, ok := v.Get("a"); ok {
		t.Error("a member of an object with a duplicate key was given")
	}
	if _, err := decode(t, `"\ud800"`).Text(); err == nil {
		t.Error("a lone surrogate was read as text")
	}
}

func TestValueOfLargeObjects(t *testing.T) {
	t.Parallel()
	v := decode(t, `{"k0":0,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8,"k9":9}`)
	k7, ok := v.Get("k7")
	if !ok || string(k7.Raw()) != "7" {
		t.Errorf("k7: %q, %v", k7.Raw(), ok)
	}
	if _, ok := v.Get("k10"); ok {
		t.Error("a key that is not there was found")
	}
	if v := (expr.Value{}); !v.IsZero() || v.Kind() != expr.None || v.Raw() != nil || v.Defect() != "" || v.List() != nil {
		t.Error("the zero Value is not nothing")
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5,-0,1e3,"x\u0041",null,true]}`, `[]`, ` "\ud800" `, `{"a":1,"a":2}`, "\"\xff\"", `[1] [2]`, `{"a"}`, `[1,]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := expr.Decode(b, expr.Limits{Depth: 50, Nodes: 10_000})
		if err != nil {
			return
		}
		if !json.Valid(b) {
			t.Fatalf("accepted what is no JSON: %q", b)
		}
		checkRaw(t, v)
	})
}

// checkRaw requires every value's raw bytes to be a document that reads as the same value.
func checkRaw(t *testing.T, v expr.Value) {
	t.Helper()
	again, err := expr.Decode(v.Raw(), expr.Limits{})
	if err != nil || again.Kind() != v.Kind() || again.Defect() != v.Defect() || again.Len() != v.Len() {
		t.Fatalf("%q reads as %s with %q, %v", v.Raw(), again.Kind(), again.Defect(), err)
	}
	for _, e := range v.List() {
		checkRaw(t, e)
	}
}
