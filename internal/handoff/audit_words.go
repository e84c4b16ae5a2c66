package handoff

// FindingKind is the stable word for what an audit found.
type FindingKind string

// What an audit can find, in the order of the invariants.
const (
	FoundUnsettled      FindingKind = "unsettled_event"     // I1: on a promoted page, not terminal
	FoundChunksOpen     FindingKind = "chunks_not_done"     // I1: promoted before every chunk was done
	FoundChunkUnknown   FindingKind = "chunk_unknown"       // I1: chunks_done holds a chunk that the page has not
	FoundLostUndecided  FindingKind = "lost_undecided"      // I1: lost, by nobody's word
	FoundConflictUnheld FindingKind = "conflict_unheld"     // I1: a second content without a receipt of its own
	FoundPassed         FindingKind = "position_passed"     // I2: applied_position went over an event that is not terminal
	FoundAppliedFell    FindingKind = "applied_fell"        // I2: applied_position decreased
	FoundLateUnmarked   FindingKind = "late_unmarked"       // I2: unseen, below applied_position, and not taken for late
	FoundCursorMismatch FindingKind = "cursor_mismatch"     // I3: page and directory name different cursors
	FoundChainBroken    FindingKind = "chain_broken"        // I3: a cursor that is neither the page's before nor a reset's
	FoundResetUnknown   FindingKind = "reset_unrecorded"    // I3: a version was passed, by no page and no reset
	FoundMarkedOpen     FindingKind = "marked_open"         // I3: abandoned or lost, and still the open page
	FoundClosingWrong   FindingKind = "closing_wrong"       // I3: closing names a version that no reset has just passed
	FoundNoAttempt      FindingKind = "claim_without_call"  // I4: claimed without an attempt
	FoundHiddenAttempt  FindingKind = "attempt_superseded"  // I4: superseded over a call whose outcome is unknown
	FoundConflictEffect FindingKind = "conflict_attempted"  // I4: a second content of one id was attempted or applied
	FoundDocument       FindingKind = "document_unknown"    // I4: a document's position is no applied event's
	FoundDoneUnsettled  FindingKind = "done_unsettled"      // I5: a chunk counts as done, and an event on it is not terminal
	FoundUnsuperseded   FindingKind = "not_superseded"      // I5: a reset passed the page, and the event is neither terminal nor listed
	FoundHoldUnlisted   FindingKind = "hold_unlisted"       // I5: held, and not on the list of holds
	FoundHoldStale      FindingKind = "hold_stale"          // I5: on the list of holds, and not held
	FoundHoldReason     FindingKind = "hold_without_reason" // I5
	FoundOpenExpires    FindingKind = "open_expires"        // I5: not terminal, and may be forgotten
	FoundDoneAttempt    FindingKind = "attempt_terminal"    // I6: terminal, and still carries an attempt
	FoundOverturned     FindingKind = "decision_overturned" // I6: an operator's terminal word no longer stands
	FoundOutOfOrder     FindingKind = "out_of_order"        // I7: a lane or a document is not in source order
	FoundAhead          FindingKind = "page_ahead"          // I8: a page above the checkpoint
	FoundOpenClosing    FindingKind = "opened_in_closing"   // I8: a page opened while a reset was closing another
	FoundOpenHalted     FindingKind = "open_and_halted"     // I8: halted over a version that is open
	FoundNoDirectory    FindingKind = "no_directory"        // I8: a page without its directory
	FoundStampAhead     FindingKind = "stamp_ahead"         // I8: a receipt stamped with a page that never opened
	FoundStampUnknown   FindingKind = "stamp_unknown"       // I8: a receipt stamped with a page that is not there
	FoundOrphan         FindingKind = "orphan_receipt"      // I8: a receipt that its page does not name
	FoundCounts         FindingKind = "counts_differ"       // I9: page, directory and archive count differently
	FoundNoCursor       FindingKind = "no_cursor"           // I9: an absent token was stored
	FoundRawGone        FindingKind = "raw_gone"            // I9: the raw answer is gone or damaged
	FoundRawForeign     FindingKind = "raw_foreign"         // I9: the raw answer was given to another cursor
	FoundEventsGone     FindingKind = "events_gone"         // I9: the events object is gone or damaged
	FoundDropped        FindingKind = "event_dropped"       // I9: in the answer, on no page, and no proven replay
	FoundRelaid         FindingKind = "page_differs"        // I9: the page is not what its raw answer says
	FoundUnlisted       FindingKind = "stream_unlisted"     // I10: not on the list of streams
	FoundForeign        FindingKind = "foreign_receipt"     // I11: another stream's
	FoundUnreadable     FindingKind = "unreadable"
	FoundOldSpool       FindingKind = "old_spool"
)

// promiseOf is an invariant in words.
func promiseOf(invariant string) string {
	switch invariant {
	case "I1":
		return "Barrier: a page is turned only when everything on it is settled"
	case "I2":
		return "Prefix: everything at or below the applied position is settled, and that position never falls"
	case "I3":
		return "Fence: the cursor moves only from the page that was turned, or by a recorded reset"
	case "I4":
		return "Once: at most one effect per event, unless an operator released an unknown attempt"
	case "I5":
		return "Holds block: what is not settled never counts as done, and stays in sight"
	case "I6":
		return "Terminal is for ever"
	case "I7":
		return "Entity order: the effects of one entity happen in source order"
	case "I8":
		return "One page per version is ever opened"
	case "I9":
		return "Nothing read is lost: an answer is archived before anything of it is acted on"
	case "I10":
		return "Progress: nobody's help is needed to go on"
	case "I11":
		return "Isolation: streams never touch each other"
	}
	return ""
}

// foundWords are the invariant a finding breaks, and what an operator does about it.
type foundWords struct{ invariant, remedy string }

// What an operator does, where several findings ask for the same.
const (
	doPause   = "pause the stream, keep tables and archive as they are, and report it with this text: a guard of the protocol did not hold"
	doReset   = doPause + "; a reset to the request cursor of this page reads its events again"
	doLook    = "look at the event (`turnleaf show STREAM EVENT`) and at its destination, decide by hand, and report it: a guard of the protocol did not hold"
	doRestore = "restore the object from a backup or an older version of it in the bucket"
)

func (k FindingKind) words() foundWords {
	switch k {
	case FoundUnsettled, FoundConflictUnheld, FoundPassed:
		return foundWords{k.invariant(), doReset}
	case FoundNoAttempt, FoundHiddenAttempt, FoundConflictEffect, FoundUnsuperseded, FoundOverturned, FoundDoneAttempt, FoundOrphan, FoundStampUnknown,
		FoundHoldReason, FoundDoneUnsettled:
		return foundWords{k.invariant(), doLook}
	case FoundDocument, FoundOutOfOrder:
		return foundWords{k.invariant(), "compare the document with its events (`turnleaf docs`, `turnleaf show STREAM EVENT`): a write from outside, or a guard that did not hold; " +
			"a rebuild from the archive sets it right"}
	case FoundHoldUnlisted, FoundHoldStale:
		return foundWords{k.invariant(), "`turnleaf show STREAM EVENT` still finds it; repair the list of holds (on DynamoDB: rebuild the index) and report it"}
	case FoundOpenExpires:
		return foundWords{k.invariant(), "decide the event before its receipt expires, and report it"}
	case FoundRawGone:
		return foundWords{k.invariant(), doRestore + "; while the events object is whole, nothing else is needed"}
	case FoundEventsGone:
		return foundWords{k.invariant(), "an open page lays it out again from its raw answer at the next delivery; else " + doRestore + ", or declare the page `lost`"}
	case FoundDropped, FoundRelaid:
		return foundWords{k.invariant(), "a reset to the request cursor of this page reads it again (`turnleaf reset`); report it"}
	case FoundLostUndecided:
		return foundWords{k.invariant(), "find out who wrote to the table besides Turnleaf: only a decision marks a page lost"}
	case FoundUnlisted:
		return foundWords{k.invariant(), "a stream with a definition is polled all the same; a partition is not: write its line into the list of streams again"}
	case FoundForeign:
		return foundWords{k.invariant(), "find out who wrote to the table besides Turnleaf"}
	case FoundUnreadable:
		return foundWords{k.invariant(), "see that the archive can be reached and read, then audit again"}
	case FoundOldSpool:
		return foundWords{k.invariant(), "nothing: a cached answer of a version that is past is never used, and may be deleted"}
	}
	return foundWords{k.invariant(), doPause}
}

// invariant is the promise that a finding breaks; none for what breaks none.
func (k FindingKind) invariant() string {
	switch k {
	case FoundUnsettled, FoundChunksOpen, FoundChunkUnknown, FoundLostUndecided, FoundConflictUnheld:
		return "I1"
	case FoundPassed, FoundAppliedFell, FoundLateUnmarked:
		return "I2"
	case FoundCursorMismatch, FoundChainBroken, FoundResetUnknown, FoundMarkedOpen, FoundClosingWrong:
		return "I3"
	case FoundNoAttempt, FoundHiddenAttempt, FoundConflictEffect, FoundDocument:
		return "I4"
	case FoundDoneUnsettled, FoundUnsuperseded, FoundHoldUnlisted, FoundHoldStale, FoundHoldReason, FoundOpenExpires:
		return "I5"
	case FoundDoneAttempt, FoundOverturned:
		return "I6"
	case FoundOutOfOrder:
		return "I7"
	case FoundAhead, FoundOpenClosing, FoundOpenHalted, FoundNoDirectory, FoundStampAhead, FoundStampUnknown, FoundOrphan:
		return "I8"
	case FoundCounts, FoundNoCursor, FoundRawGone, FoundRawForeign, FoundEventsGone, FoundDropped, FoundRelaid:
		return "I9"
	case FoundUnlisted:
		return "I10"
	case FoundForeign:
		return "I11"
	case FoundUnreadable, FoundOldSpool:
	}
	return ""
}
