package local

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable makes text safe for a terminal: what would move the cursor, ring, recolour or reorder is shown as an escape. Payloads,
// ids and details come from strangers.
func Printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += size
	}
	return b.String()
}

// PrintableJSON is the same for a JSON document on one line: what is not printable can only stand inside its strings, and becomes an
// escape that means the same.
func PrintableJSON(doc string) string {
	var b strings.Builder
	for _, r := range doc {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// shortName is how much of the name of a record without an id is shown: enough to be the only one.
const shortName = 1 + 12

// EventWord is how an event id (or an entity) is written on a command line and shown to people: a text without its JSON quotes,
// unless it would then read as another one, and the beginning of the long name that a record without an id has.
func EventWord(id string) string {
	if strings.HasPrefix(id, "!") && len(id) > shortName {
		return id[:shortName]
	}
	var text string
	if json.Unmarshal([]byte(id), &text) != nil || text == "" || text[0] == '!' || json.Valid([]byte(text)) {
		return id
	}
	return text
}

// EventIDs are the ids that a word on a command line may mean, in order of preference: itself as text, then as it stands
// (canonical JSON, or the whole name of a record that has no id).
func EventIDs(word string) []string {
	if strings.HasPrefix(word, "!") {
		return []string{word, quote(word)}
	}
	ids := []string{quote(word)}
	if json.Valid([]byte(word)) {
		ids = append(ids, word)
	}
	return ids
}

// quote is the canonical JSON of a text: no HTML escapes.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return s
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// ShellWord quotes a word for a POSIX shell, so that a command we print can be pasted.
func ShellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
