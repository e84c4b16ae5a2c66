package streamdef_test

import (
	"strings"
	"testing"

	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// Each row edits a definition that is right in one place, and expects one problem at one path.
func TestChecks(t *testing.T) {
	t.Parallel()
	if _, err := streamdef.Parse("a.yaml", []byte(base)); err != nil {
		t.Fatal(err)
	}
	const url = "https://api.example.com/events"
	for _, tc := range []struct{ old, new, path, expected, found string }{
		{url, "http://api.example.com/events", "source.url", "https URL", "allow_private"},
		{url, "/events", "source.url", "https URL", "without a host"},
		{url, `"https://:443/events"`, "source.url", "https URL", "without a host"},
		{url, "https://api.example.com/events#top", "source.url", "https URL", "fragment"},
		{url, "https://token@api.example.com/events", "source.url", "https URL", "user"},
		{url, "file://api.example.com/events", "source.url", "https URL", "another scheme"},
		{url, `"https://api.example.com/%zz"`, "source.url", "https URL", "cannot be read"},
		{url, url + "\n  allow_private: true\n  body: {}", "source.body", "method: POST", "GET"},
		{"send: query:c", "send: body:c", "source.cursor.send", "method: POST", "GET"},
		{"send: query:c", `send: "header:a b"`, "source.cursor.send", "query:NAME", "header:a b"},
		{"send: query:c", `send: "header:a(b"`, "source.cursor.send", "HTTP header", "characters"},
		{"query:after: bookmark", "body:after: bookmark", `source.cursor.resume.body:after`, "method: POST", "GET"},
		{"query:after: bookmark", "after: bookmark", "source.cursor.resume.after", "query:NAME", "after"},
		{"query:after: bookmark", "query:after: last", `source.cursor.resume`, "bookmark", "last"},
		{"bookmark: last.id", "bookmark: body.id", "source.cursor.bookmark", "last", "body"},
		{"token: body.next, send: query:c, ", "", "start", "bookmark", "a token"},
		{"position: event.seq", "position: event.seq, position_type: date", "event.position_type", "number, time or text", "date"},
		{"id: event.id", "id: true", "event.id", "text, number or list", "bool"},
		{"\nsource", "\ncontract: {gapless: true, positions: shared}\nsource", "contract.gapless", "unique", "shared positions"},
		{"\nsource", "\ncontract: {hold_back: 1m}\nsource", "contract.hold_back", "event.time", "neither"},
		{"\nsource", "\ncontract: {positions: arrival}\nsource", "event.position", "no position", "one"},
		{"\nsource", "\ncontract: {order: none}\nsource", "event.position", "no position", "one"},
		{"\nsource", "\ncontract: {retention: 30d, receipt_retention: 59d}\nsource", "contract.receipt_retention", "at least 60d", "59d"},
		{"\nsource", "\nevery: 500ms\nsource", "every", "from 1s to 7d", "500ms"},
		{"{seen: true}", `{seen: ""}`, "effect.projection.set.seen", "an expression", "an empty text"},
		{"{set:", "{add: {x: 'true'}, set:", "effect.projection.add.x", "text or number", "bool"},
	} {
		data := "start: \"0\"" + strings.Replace(base, tc.old, tc.new, 1)
		_, err := streamdef.Parse("a.yaml", []byte(data))
		ps := streamdef.Problems(err)
		if len(ps) != 1 || !strings.HasPrefix(strings.ReplaceAll(ps[0].Path, `["`, "."), tc.path) ||
			!strings.Contains(ps[0].Expected, tc.expected) || !strings.Contains(ps[0].Found, tc.found) {
			t.Errorf("%s → %s: %v", tc.old, tc.new, err)
		}
	}
}

func TestChecksOfTheContract(t *testing.T) {
	t.Parallel()
	for edit, want := range map[[2]string]string{
		{"position: event.seq", "position: event.seq, position_type: text"}:   "positions of type text",
		{"position: event.seq", "position: event.seq, position_type: time"}:   "positions of type time",
		{"position: event.seq", "position: event.seq"}:                        "",
		{"position: event.seq", "position: event.seq, position_type: number"}: "",
	} {
		_, err := streamdef.Parse("a.yaml", []byte("contract: {gapless: true}"+strings.Replace(base, edit[0], edit[1], 1)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", edit[1], err)
		}
	}
	once := "contract: {token: once}" + strings.Replace(base, "token: body.next, send: query:c, ", "", 1)
	if _, err := streamdef.Parse("a.yaml", []byte(once)); err == nil || !strings.Contains(err.Error(), "contract.token") {
		t.Errorf("once without a token: %v", err)
	}
	private := strings.Replace(base, "url: https://api.example.com", "allow_private: true\n  url: http://127.0.0.1:8080", 1)
	if _, err := streamdef.Parse("a.yaml", []byte(private)); err != nil {
		t.Errorf("allow_private: %v", err)
	}
	for _, ok := range []string{
		"contract: {retention: 30d, receipt_retention: 60d}", "contract: {retention: 30d}", "contract: {replay_proof: watermark, positions: shared}",
	} {
		if _, err := streamdef.Parse("a.yaml", []byte(ok+base)); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
}
