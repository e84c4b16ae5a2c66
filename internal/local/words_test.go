package local

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestPrintableLetsNothingSteerTheTerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain – ünïcode 漢字":   "plain – ünïcode 漢字",
		"\x1b[2Jgone":          `\x1b[2Jgone`,
		"a\nb\rc\td\x07":       `a\x0ab\x0dc\x09d\x07`,
		"evil\u202etxt\u200b":  `evil\u{202e}txt\u{200b}`,
		"\u009b31m":            `\u{9b}31m`,
		"half \xff\xfe a rune": `half \xff\xfe a rune`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestPrintableJSONMeansTheSame(t *testing.T) {
	t.Parallel()
	in := "{\"a\":\"\u009b31m\u202e \U000e0041 漢 <b>\",\"n\":12500000000000000001}"
	out := PrintableJSON(in)
	if want := `{"a":"\u009b31m\u202e \udb40\udc41 漢 <b>","n":12500000000000000001}`; out != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	var a, b struct{ A string }
	if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal([]byte(out), &b) != nil || a != b {
		t.Errorf("%q became %q", a, b)
	}
}

func TestEventWordsReadBackAsTheSameID(t *testing.T) {
	t.Parallel()
	for id, word := range map[string]string{
		`"evt-0137"`: "evt-0137", `42`: "42", `"42"`: `"42"`, `"true"`: `"true"`, `"!x"`: `"!x"`, `["a",1]`: `["a",1]`,
		`!3fa9`: "!3fa9", `"it's"`: "it's", `"a<b"`: "a<b", `""`: `""`,
	} {
		if got := EventWord(id); got != word {
			t.Errorf("word of %s is %s, want %s", id, got, word)
		}
		if !slices.Contains(EventIDs(word), id) {
			t.Errorf("word %s may mean %v, which lacks %s", word, EventIDs(word), id)
		}
	}
	if got := EventWord("!" + strings.Repeat("3f", 32)); got != "!3f3f3f3f3f3f" {
		t.Errorf("a long name is shown as %s", got)
	}
	if got := EventIDs("evt-0137"); !slices.Equal(got, []string{`"evt-0137"`}) {
		t.Errorf("a plain word may mean %v", got)
	}
	if got := EventIDs("42"); !slices.Equal(got, []string{`"42"`, "42"}) {
		t.Errorf("42 may mean %v, want the text first", got)
	}
}

func TestShellWordCanBePasted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"evt-0137": "evt-0137", "!3fa9": "'!3fa9'", "it's": `'it'\''s'`, "a b": "'a b'", "": "''", "$(rm)": "'$(rm)'",
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
