package ddbstate

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// What the design says where things lie, letter by letter: a deployed table must still be found.
func TestKeys(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 3, 1, 13, 0, 0, 5, time.FixedZone("", 3600))
	for _, c := range []struct {
		got    key
		pk, sk string
	}{
		{checkpointKey("shop/eu"), "S#shop/eu", "CHECKPOINT"},
		{entryKey("shop/eu"), "STREAMS", "shop/eu"},
		{pageKey("shop", 42), "S#shop", "PAGE#000000000042"},
		{directoryKey("shop", 42), "S#shop", "PAGE#000000000042#DIR"},
		{startsKey("shop", 42, 7), "S#shop", "PAGE#000000000042#STARTS#007"},
		{spoolKey(handoff.SpoolEntry{Stream: "shop", Version: 3, Walk: 1, N: 2}), "S#shop", "SPOOL#000000000003#00000000000000000001#000000000002"},
		{auditKey("shop", at, "d1"), "S#shop", "AUDIT#2031-03-01T12:00:00.000000005Z#d1"},
		{decisionKey("shop", "d#1"), "S#shop", "DECISION#d%231"},
		{receiptKey("shop", handoff.ReceiptKey{EventID: `"1"`}), `shop#"1"`, "RECEIPT"},
		{receiptKey("shop", handoff.ReceiptKey{EventID: "1", Conflict: "ab"}), "shop#1", "CONFLICT#ab"},
		{receiptKey("a#b", handoff.ReceiptKey{EventID: "50%"}), "a%23b#50%25", "RECEIPT"},
		{docKey("shop", `"customer"`), `shop#"customer"`, "DOC"},
		{docKey("shop", "\xff"), "shop#%FF", "DOC"},
	} {
		if c.got.pk != c.pk || c.got.sk != c.sk {
			t.Errorf("got %q %q, want %q %q", c.got.pk, c.got.sk, c.pk, c.sk)
		}
	}
}

// No two (stream, name) pairs meet, and every key is one that DynamoDB takes.
func TestKeysNeverMeet(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		s1, s2, a, b := handoff.Stream(anyName(r)), handoff.Stream(anyName(r)), anyName(r), anyName(r)
		if r.IntN(4) == 0 {
			s2 = s1 // so that ids alone must differ
		}
		k1, k2 := docKey(s1, a), docKey(s2, b)
		if same := s1 == s2 && a == b; same != (k1 == k2) {
			t.Fatalf("(%q, %q) and (%q, %q) give %q and %q", s1, a, s2, b, k1, k2)
		}
		if p := ledgerPrefix(s1); strings.HasPrefix(k2.pk, p) != (s1 == s2) {
			t.Fatalf("%q is listed under stream %q", k2.pk, s1)
		}
		for _, k := range []key{k1, receiptKey(s1, handoff.ReceiptKey{EventID: a, Conflict: b}), decisionKey(s1, a), auditKey(s1, time.Time{}, a), entryKey("s" + s1)} {
			if err := k.check(); err != nil || !utf8.ValidString(k.pk+k.sk) {
				t.Fatalf("key %q %q: %v", k.pk, k.sk, err)
			}
		}
		held := textOf(item{"held_at": heldAt(handoff.Receipt{ReceiptKey: handoff.ReceiptKey{EventID: a, Conflict: b}})}, "held_at")
		if len(held) > maxSK {
			t.Fatalf("held_at of %d bytes is no key of an index", len(held))
		}
	}
}

// anyName is a short name out of few letters, so that two meet if they can; any bytes; or one about as long as a part may be.
func anyName(r *rand.Rand) string {
	switch r.IntN(8) {
	case 0:
		return strings.Repeat("x", longestPart-1+r.IntN(4))
	case 1:
		return strings.Repeat("#", 5000+r.IntN(4))
	case 2:
		return string([]byte{byte(r.IntN(256)), byte(r.IntN(256))})
	}
	letters := []string{"a", "#", "%", "2", "3", "5", "h", "%23", "é", "\x00", "\xff", "FF", "RECEIPT"}
	name := ""
	for range 1 + r.IntN(4) {
		name += letters[r.IntN(len(letters))]
	}
	return name
}

func TestKeyLimits(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		key key
		ok  bool
	}{
		{key{x(2048), x(1024)}, true}, {key{x(2049), "s"}, false}, {key{"p", x(1025)}, false}, {key{"", "s"}, false}, {key{"p", ""}, false},
	} {
		if err := c.key.check(); (err == nil) != c.ok {
			t.Errorf("%d and %d bytes: got %v", len(c.key.pk), len(c.key.sk), err)
		}
	}
}
