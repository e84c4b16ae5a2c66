package handoff

// maxUnknown bounds how many versions in the middle of a record are kept in mind because their events are not known.
const maxUnknown = 1000

// auditTally holds walks from two sides against each other: what pages name, and what listings show. As long as both count the same nobody
// has to look for what one of them lacks, which costs a read for every receipt.
type auditTally struct {
	begun     Checkpoint // as the audit began
	named     int        // receipts found where the page they are stamped with names them, on pages that were behind when the audit began
	listed    int        // receipts stamped with such pages
	revs      [2]uint64  // of all receipts stamped with later pages: as the pages showed them, and as the listing did
	documents int        // documents whose position is that of an event found on a page
	expiring  bool       // terminal receipts are not kept for ever
	nameless  bool       // an applied event without an entity: only its definition knows its document
	waiting   int        // receipts that belong on the list of holds

	// Versions whose events are not known, because they were lost, forgotten or unreadable: all below one, and some.
	below Version
	some  map[Version]bool
}

// behind reports that a version was behind when the audit began: its receipts are written no more, or leave for a later page.
func (t *auditTally) behind(v Version) bool {
	return v < t.begun.Version && (t.begun.Closing == 0 || v < t.begun.Closing)
}

// unknown remembers a version whose events nobody can name; they are told in ascending order.
func (t *auditTally) unknown(v Version) {
	switch {
	case v <= t.below+1:
		t.below = max(t.below, v)
	case len(t.some) < maxUnknown:
		if t.some == nil {
			t.some = map[Version]bool{}
		}
		t.some[v] = true
	}
}

// knows reports that the events of a version can be named.
func (t *auditTally) knows(v Version) bool { return v > t.below && !t.some[v] }

// page counts what one page named.
func (t *auditTally) page(v Version, s *sheet) {
	switch {
	case s.partial:
		t.unknown(v)
	case t.behind(v):
		t.named += s.named
	default:
		t.revs[0] += s.revs
	}
	t.documents += s.documents
	t.expiring = t.expiring || s.expiring
	t.nameless = t.nameless || s.nameless
}

// receipt counts one of the listing; look says that it has to be looked up on its page, because its page may have changed since it was read.
func (t *auditTally) receipt(r Receipt) (look bool) {
	if r.Listed() {
		t.waiting++
	}
	t.expiring = t.expiring || !r.ExpiresAt.IsZero()
	switch {
	case !t.knows(r.PageVersion):
	case t.behind(r.PageVersion):
		t.listed++
	default:
		t.revs[1] += r.Rev
		return true
	}
	return false
}

// moved reports that the stream worked between the walk over its pages and that over its receipts.
func (t *auditTally) moved(now Checkpoint) bool {
	return now.Rev != t.begun.Rev || t.revs[0] != t.revs[1]
}
