package handoff

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// literal draws a JSON number.
func literal(t *rapid.T, label string) string {
	return rapid.StringMatching(`-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?`).Draw(t, label)
}

func rat(t *rapid.T, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return r
}

// Decimals agree with big.Rat, a slower and independent arithmetic.
func TestDecimalsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := literal(t, "a"), literal(t, "b")
		x, errX := ParseDecimal(a)
		y, errY := ParseDecimal(b)
		if errX != nil || errY != nil {
			t.Fatalf("%s, %s: %v %v", a, b, errX, errY)
		}
		if got, want := x.Cmp(y), rat(t, a).Cmp(rat(t, b)); got != want {
			t.Fatalf("%s against %s: %d, want %d", a, b, got, want)
		}
		sum := x.Add(y).String()
		if want := new(big.Rat).Add(rat(t, a), rat(t, b)); rat(t, sum).Cmp(want) != 0 {
			t.Fatalf("%s + %s = %s, want %s", a, b, sum, want)
		}
		if again, err := ParseDecimal(sum); err != nil || again.String() != sum || !json.Valid([]byte(sum)) {
			t.Fatalf("%s prints as %s, %v", sum, again, err)
		}
	})
}

func TestNumbersThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "-", "1.", ".5", "1e", "0x10", "1e1001", "1e-1001", "1e99999999999999999999", "NaN", "1_000", " 1", strings.Repeat("9", 1001)} {
		if d, err := ParseDecimal(s); err == nil {
			t.Errorf("%.20q was read as %s", s, d)
		}
	}
}

// One order for every kind: numbers by value, instants by instant, texts by bytes, tuples part by part.
func TestPositionsAreOrdered(t *testing.T) {
	t.Parallel()
	number := func(s string) Position {
		p, err := NumberPosition(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	at := func(s string) Position {
		p, err := TimePosition(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ascending := [][]Position{
		{{}, number("-1"), number("0"), number("1.50"), number("1e3"), number("9007199254740992"), number("9007199254740993")},
		{at("2031-03-01T01:00:00+02:00"), at("2031-02-28T23:00:00.000000001Z"), at("2031-03-01T00:00:00Z")},
		{TextPosition("10"), TextPosition("9"), TextPosition("a")},
		{TuplePosition(number("1"), TextPosition("b")), TuplePosition(number("2"), TextPosition("a")), TuplePosition(number("2"), TextPosition("b"))},
		{ArrivalPosition(9, 1), ArrivalPosition(10, 0), ArrivalPosition(10, 2)},
	}
	for _, ps := range ascending {
		for i, p := range ps {
			for j, q := range ps {
				got, err := p.Compare(q)
				if want := compareInts(i, j); err != nil || got != want {
					t.Errorf("%s against %s: %d, %v; want %d", p, q, got, err, want)
				}
			}
			text, err := p.MarshalText()
			var back Position
			if err != nil || back.UnmarshalText(text) != nil || !back.Equal(p) || back.String() != p.String() {
				t.Errorf("%s came back as %s", p, back)
			}
		}
	}
	for _, pair := range [][2]Position{{number("1"), TextPosition("1")}, {number("1"), TuplePosition(number("1"), number("1"))}, {at("2031-03-01T00:00:00Z"), number("1")}} {
		if _, err := pair[0].Compare(pair[1]); err == nil {
			t.Errorf("%s and %s were compared", pair[0], pair[1])
		}
		if below(pair[0], pair[1]) || below(pair[1], pair[0]) {
			t.Errorf("%s and %s: one is below the other", pair[0], pair[1])
		}
	}
	if !at("2031-03-01T00:00:00Z").Equal(at("2031-03-01T00:00:00.000Z")) {
		t.Error("one instant in two precisions is two positions")
	}
}

func compareInts(i, j int) int {
	switch {
	case i < j:
		return -1
	case i > j:
		return 1
	}
	return 0
}

// Whatever the lanes: every event is in one chunk, no lane is split, source order is kept inside a lane, and there are at most MaxChunks.
func TestChunksKeepLanesWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "events")
		lanes := rapid.IntRange(1, 400).Draw(t, "lanes")
		skew := rapid.SampledFrom([]string{"even", "one big", "pairs"}).Draw(t, "skew")
		events := make([]Event, n)
		for i := range events {
			lane := i % lanes
			if skew == "one big" && i%3 > 0 {
				lane = 0
			} else if skew == "pairs" {
				lane = i / 2
			}
			events[i] = Event{ID: fmt.Sprint(i), Entity: fmt.Sprint(lane)}
		}
		size := rapid.IntRange(1, 60).Draw(t, "size")
		chunks := cutChunks(cutLanes(events, LaneEntity), size)
		if len(chunks) > MaxChunks {
			t.Fatalf("%d chunks", len(chunks))
		}
		home, last, seen := map[string]int{}, map[string]int{}, 0
		for k, chunk := range chunks {
			for _, ev := range chunk {
				seen++
				if at, ok := home[ev.Lane]; ok && at != k {
					t.Fatalf("lane %s is in chunks %d and %d", ev.Lane, at, k)
				}
				if prior, ok := last[ev.Lane]; ok && ev.Index <= prior {
					t.Fatalf("lane %s goes from %d to %d", ev.Lane, prior, ev.Index)
				}
				home[ev.Lane], last[ev.Lane] = k, ev.Index
			}
		}
		if seen != n {
			t.Fatalf("%d of %d events are in chunks", seen, n)
		}
	})
}

// Bytes come back as they were: text, invalid UTF-8, line breaks, markup.
func TestEventsArchiveByteForByte(t *testing.T) {
	t.Parallel()
	raws := []string{"{\n \"a\" : 1e3 }", "\xff\xfe not text", `{"x":"</script>\u2028"}`, "", "{\"nul\":\"\x00\"}"}
	var chunks [][]Event
	for i, raw := range raws {
		p, _ := NumberPosition(fmt.Sprint(i))
		chunks = append(chunks, []Event{{ID: fmt.Sprintf("%q", raw), Raw: []byte(raw), Digest: DigestOf([]byte(raw)), Position: p, Index: i, Time: time.Unix(int64(i), 5).UTC()}})
	}
	packed, refs, err := packEvents(chunks)
	if err != nil {
		t.Fatal(err)
	}
	again, _, _ := packEvents(chunks)
	if string(packed) != string(again) {
		t.Error("the same events gave other bytes")
	}
	for k, ref := range refs {
		got, err := unpackEvents(packed[ref.Offset : ref.Offset+ref.Length])
		if err != nil || len(got) != 1 || string(got[0].Raw) != raws[k] || got[0].ID != chunks[k][0].ID || !got[0].Time.Equal(chunks[k][0].Time) {
			t.Errorf("chunk %d came back as %+v, %v", k, got, err)
		}
	}
	whole, err := unpackEvents(packed)
	if err != nil || len(whole) != len(raws) {
		t.Errorf("the object as a whole reads as %d events, %v", len(whole), err)
	}
}

// A document's change means the same for every store.
func TestDocumentsChange(t *testing.T) {
	t.Parallel()
	d := Doc{Entity: "a", Fields: map[string]json.RawMessage{"n": json.RawMessage("12345678901234567890123456789012345678.5"), "s": json.RawMessage(`"x"`)}}
	after, exists, err := d.Apply(DocChange{Entity: "a", Set: map[string]json.RawMessage{"s": json.RawMessage(`[1]`)}, Add: map[string]string{"n": "0.5", "new": "-3"}})
	if err != nil || !exists {
		t.Fatal(exists, err)
	}
	for k, want := range map[string]string{"n": "12345678901234567890123456789012345679", "s": "[1]", "new": "-3"} {
		if got := string(after.Fields[k]); got != want {
			t.Errorf("%s is %s, want %s", k, got, want)
		}
	}
	if string(d.Fields["s"]) != `"x"` {
		t.Error("the document before was changed")
	}
	if _, exists, err := after.Apply(DocChange{Entity: "a", Delete: true}); exists || err != nil {
		t.Errorf("deleted and still there: %v %v", exists, err)
	}
	fresh, exists, err := after.Apply(DocChange{Entity: "a", Delete: true, Add: map[string]string{"n": "1"}})
	if err != nil || !exists || len(fresh.Fields) != 1 || string(fresh.Fields["n"]) != "1" {
		t.Errorf("deleted and begun anew: %v %v %v", fresh.Fields, exists, err)
	}
	for _, c := range []DocChange{{Add: map[string]string{"s": "1"}}, {Add: map[string]string{"n": "many"}}, {Set: map[string]json.RawMessage{"n": json.RawMessage("{")}}} {
		if _, _, err := after.Apply(c); err == nil {
			t.Errorf("%+v was applied", c)
		}
	}
}

func TestChunkSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ks := rapid.SliceOfDistinct(rapid.IntRange(0, MaxChunks-1), rapid.ID[int]).Draw(t, "chunks")
		var s ChunkSet
		for _, k := range ks {
			s = s.With(k).With(k)
		}
		slices.Sort(ks)
		b, err := json.Marshal(s)
		var back ChunkSet
		if err != nil || json.Unmarshal(b, &back) != nil || back != s || s.Len() != len(ks) || fmt.Sprint(s.List()) != fmt.Sprint(ks) {
			t.Fatalf("%v became %v as %s", ks, s.List(), b)
		}
	})
}

func FuzzPositionText(f *testing.F) {
	f.Add(`[["n","1e3"],["s","x"]]`)
	f.Add(`[["t","2031-03-01T00:00:00Z"]]`)
	f.Add(`[["a","12.3"]]`)
	f.Fuzz(func(t *testing.T, s string) {
		var p Position
		if p.UnmarshalText([]byte(s)) != nil {
			return
		}
		text, err := p.MarshalText()
		var back Position
		if err != nil || back.UnmarshalText(text) != nil || !back.Equal(p) {
			t.Fatalf("%q reads as %s and comes back as %s", s, p, back)
		}
	})
}
