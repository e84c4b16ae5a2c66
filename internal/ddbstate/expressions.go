package ddbstate

import (
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Every condition, update, key condition and filter of this package is in this file. An attribute is always written #name, because
// many a plain word is reserved; named gives the names that go with a text.
const (
	// absent: no item lies under this key.
	absent = "attribute_not_exists(#pk)"
	// exists: an item lies under this key.
	exists = "attribute_exists(#pk)"
	// atRev: exactly the item that was read. No item has no rev, so this also says that there is one.
	atRev = "#rev = :rev"
	// atDoc: exactly the document that was read, also if it was deleted and made again since.
	atDoc = "#rev = :rev AND #written_by = :by"
	// atDrives: nobody moved the drive lease since.
	atDrives = "#drives = :seen"

	addChunk    = "ADD #chunks_done :k"
	setDriven   = "SET #drives = :drives, #driven_at = :at"
	touch       = "SET #format = :format"
	alsoAbandon = ", #abandoned = :true"
	alsoLose    = ", #lost = :true"
	alsoExpire  = ", #expires_at = :expires"
	addStart    = "SET #format = :format, #start = if_not_exists(#start, :at)"
	removeStart = "REMOVE #start"

	// inPartition, between and under choose what a query reads.
	inPartition = "#pk = :pk"
	between     = "#pk = :pk AND #sk BETWEEN :low AND :high"
	under       = "#pk = :pk AND begins_with(#sk, :prefix)"
	heldBy      = "#held_stream = :held"

	// onlyPages leaves directories and starts, which lie between the pages, out of an answer.
	onlyPages = "attribute_exists(#drives)"
	// ofStream leaves other streams out of a scan (a query refuses a filter on a key, a scan does not).
	ofStream = "begins_with(#pk, :prefix)"
)

// values are what the :names of an expression stand for.
type values = map[string]types.AttributeValue

// condition is what a write requires of the item under its key. The zero condition requires nothing.
type condition struct {
	text   string
	values values
}

func guarded(g handoff.Guard) condition {
	if g.Absent {
		return condition{text: absent}
	}
	return condition{atRev, values{":rev": number(g.Rev)}}
}

// update is a change of single attributes.
type update struct {
	text   string
	values values
	start  string // what #start stands for
}

func chunkDone(k int) update { return update{text: addChunk, values: values{":k": numberSet(k)}} }

func driven(drives int, at time.Time) update {
	return update{text: setDriven, values: values{":drives": number(drives), ":at": instant(at)}}
}

// marked sets what the mark sets, and takes nothing back.
func marked(m handoff.PageMark) update {
	u := update{text: touch, values: values{":format": number(format)}}
	if m.Abandoned {
		u.text += alsoAbandon
		u.values[":true"] = flag()
	}
	if m.Lost {
		u.text += alsoLose
		u.values[":true"] = flag()
	}
	if !m.ExpiresAt.IsZero() {
		u.text += alsoExpire
		u.values[":expires"] = second(m.ExpiresAt)
	}
	return u
}

// expiring lets an item go at its time.
func expiring(at time.Time) update {
	return update{text: touch + alsoExpire, values: values{":format": number(format), ":expires": second(at)}}
}

// started keeps each start in an attribute of its own, so that two deliveries never undo each other's.
func started(st handoff.Start) update {
	return update{text: addStart, values: values{":format": number(format), ":at": text(sortable(st.At))}, start: startPrefix + st.Token}
}

func unstarted(token string) update { return update{text: removeStart, start: startPrefix + token} }

// startPrefix keeps tokens apart from the other attributes of a STARTS item.
const startPrefix = "start:"

// named gives the names of a request: every #word of its texts.
func named(start string, texts ...string) map[string]string {
	names := map[string]string{}
	for _, t := range texts {
		for i := 0; i < len(t); i++ {
			if t[i] != '#' {
				continue
			}
			end := i + 1
			for end < len(t) && (t[end] == '_' || 'a' <= t[end] && t[end] <= 'z') {
				end++
			}
			names[t[i:end]] = t[i+1 : end]
		}
	}
	if _, ok := names["#start"]; ok {
		names["#start"] = start
	}
	if len(names) == 0 {
		return nil // an empty map is refused
	}
	return names
}

// merged joins the values of a request's expressions.
func merged(a, b values) values {
	if len(a)+len(b) == 0 {
		return nil // an empty map is refused
	}
	out := maps.Clone(a)
	if out == nil {
		out = values{}
	}
	maps.Copy(out, b)
	return out
}
