package ddbstate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// key is where an item lies in its table.
type key struct{ pk, sk string }

func (k key) attributes() item { return item{"pk": text(k.pk), "sk": text(k.sk)} }

func keyOf(it item) key { return key{textOf(it, "pk"), textOf(it, "sk")} }

// longestPart is how long a part may be before its hash stands for it. Two parts and a time fit a sort key of 1,024 bytes.
const longestPart = 450

// part makes a name safe between the separators of a key: no two names give one part. The separator, the escape itself and bytes
// that are no UTF-8 (the SDK would replace those without a word) are written %XX; a long name is its SHA-256 behind %h, which no
// escape gives. The item keeps the name whole.
func part(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r == '%' || r == '#' || r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", name[i])
		} else {
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	if b.Len() <= longestPart {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	return "%h" + hex.EncodeToString(sum[:])
}

// The sort keys that stand alone.
const (
	skCheckpoint = "CHECKPOINT"
	skReceipt    = "RECEIPT"
	skDoc        = "DOC"
	pkStreams    = "STREAMS"
	prefixAudit  = "AUDIT#"
	prefixPage   = "PAGE#"
)

// maxVersion is what twelve digits hold: a page a second for 31,000 years.
const maxVersion handoff.Version = 999_999_999_999

func streamPK(s handoff.Stream) string { return "S#" + part(string(s)) }

func checkpointKey(s handoff.Stream) key { return key{streamPK(s), skCheckpoint} }

func entryKey(s handoff.Stream) key { return key{pkStreams, part(string(s))} }

func pageSK(v handoff.Version) string { return fmt.Sprintf(prefixPage+"%012d", uint64(v)) }

func pageKey(s handoff.Stream, v handoff.Version) key { return key{streamPK(s), pageSK(v)} }

func directoryKey(s handoff.Stream, v handoff.Version) key {
	return key{streamPK(s), pageSK(v) + "#DIR"}
}

func startsKey(s handoff.Stream, v handoff.Version, chunk int) key {
	return key{streamPK(s), fmt.Sprintf("%s#STARTS#%03d", pageSK(v), chunk)}
}

func spoolPrefix(v handoff.Version) string { return fmt.Sprintf("SPOOL#%012d#", uint64(v)) }

func spoolKey(e handoff.SpoolEntry) key {
	return key{streamPK(e.Stream), fmt.Sprintf("%s%020d#%012d", spoolPrefix(e.Version), e.Walk, e.N)}
}

// sortable writes an instant so that the order of texts is the order of instants.
func sortable(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

func auditKey(s handoff.Stream, at time.Time, id string) key {
	return key{streamPK(s), prefixAudit + sortable(at) + "#" + part(id)}
}

func decisionKey(s handoff.Stream, id string) key { return key{streamPK(s), "DECISION#" + part(id)} }

// ledgerPrefix begins every partition key of a stream's receipts and documents, and of no other stream's: a part holds no separator.
func ledgerPrefix(s handoff.Stream) string { return part(string(s)) + "#" }

func receiptKey(s handoff.Stream, k handoff.ReceiptKey) key {
	sk := skReceipt
	if k.Conflict != "" {
		sk = "CONFLICT#" + part(k.Conflict)
	}
	return key{ledgerPrefix(s) + part(k.EventID), sk}
}

func docKey(s handoff.Stream, entity string) key { return key{ledgerPrefix(s) + part(entity), skDoc} }

// heldAt orders the index of holds by (time, key).
func heldAt(r handoff.Receipt) types.AttributeValue {
	return text(sortable(r.HeldAt) + "#" + part(r.EventID) + "#" + part(r.Conflict))
}
