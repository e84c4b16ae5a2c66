package handoff

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// auditLooks is how often something that looks wrong is looked at again before it is told as changing.
const auditLooks = 6

// maxFindings bounds what one look keeps: a page that is wrong in every event says so a hundred times, and counts the rest.
const maxFindings = 100

// sheet is what one look found, and counted on the way.
type sheet struct {
	found []Finding
	more  int // beyond maxFindings

	events, named, documents int
	revs                     uint64   // of the receipts named
	partial, gone, reread    bool     // not all of the page's events were read; due to expire; laid out again
	nameless, expiring       bool     // as in auditTally
	reached                  Position // applied_position is at least this once the page is behind
}

func (s *sheet) put(level Level, kind FindingKind, v Version, key ReceiptKey, detail string) {
	if len(s.found) >= maxFindings {
		s.more++
		return
	}
	w := kind.words()
	s.found = append(s.found, Finding{
		Violation: Violation{w.invariant, v, key.EventID, detail}, Level: level, Kind: kind, Conflict: key.Conflict,
		Promise: promiseOf(w.invariant), Remedy: w.remedy,
	})
}

// broken notes a broken promise of a page, or with version 0 of the stream.
func (s *sheet) broken(kind FindingKind, v Version, format string, args ...any) {
	s.put(Broken, kind, v, ReceiptKey{}, fmt.Sprintf(format, args...))
}

// brokenAt notes a broken promise of one receipt.
func (s *sheet) brokenAt(kind FindingKind, v Version, key ReceiptKey, format string, args ...any) {
	s.put(Broken, kind, v, key, fmt.Sprintf(format, args...))
}

// unread notes what the archive did not give although it may be there.
func (s *sheet) unread(v Version, what string, err error) {
	s.partial = true
	s.put(Unread, FoundUnreadable, v, ReceiptKey{}, fmt.Sprintf("%s: %v", what, err))
}

// lookAt is one thing that can be looked at again and again: it reads what it judges, the checkpoint excepted.
type lookAt func(ctx context.Context, cp Checkpoint, s *sheet) error

// look judges once, and if anything is wrong again until two looks with the same checkpoint before, between and after have said the
// same. What is read of one thing is several reads: others may write between them, and then the first look is wrong and not the stream.
// The sheet is that of the first look, for its counts.
func (a *audit) look(ctx context.Context, f lookAt) (*sheet, error) {
	first, rev := &sheet{}, a.cp.Rev
	if err := f(ctx, a.cp, first); err != nil || len(first.found) == 0 {
		return first, err
	}
	stands, more := first.found, first.more
	for range auditLooks {
		again, err := a.lookAgain(ctx, f)
		if err != nil {
			return first, err
		}
		stands, more = common(stands, again.found), min(more, again.more)
		settled := a.cp.Rev == rev // it only grows: nothing was written since the look before
		if rev = a.cp.Rev; len(stands) == 0 {
			return first, nil
		}
		if settled {
			return first, a.report(withRest(stands, more)...)
		}
	}
	for i := range stands {
		stands[i].Level, stands[i].Remedy = Changed, "it changed while it was looked at: audit again, best while the stream is paused"
	}
	return first, a.report(stands...)
}

// lookAgain looks between two reads of the checkpoint.
func (a *audit) lookAgain(ctx context.Context, f lookAt) (*sheet, error) {
	cp, err := a.State.Checkpoint(ctx, a.stream)
	if err != nil {
		return nil, err
	}
	again := &sheet{}
	if err := f(ctx, cp, again); err != nil {
		return nil, err
	}
	a.cp, err = a.State.Checkpoint(ctx, a.stream)
	return again, err
}

// common are the findings of again that were there before, in their newest words.
func common(before, again []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(again), func(f Finding) bool {
		return !slices.ContainsFunc(before, func(b Finding) bool {
			return b.Kind == f.Kind && b.Level == f.Level && b.Version == f.Version && b.EventID == f.EventID && b.Conflict == f.Conflict
		})
	})
}

// withRest says on the last finding how many like it were not kept.
func withRest(fs []Finding, more int) []Finding {
	if more > 0 {
		fs[len(fs)-1].Detail += fmt.Sprintf(" (and %d more findings here)", more)
	}
	return fs
}

// absent reports that there is no such item.
func absent(err error) bool { return errors.Is(err, ErrNotFound) }

// damaged reports that an object is gone, or is not what was written.
func damaged(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrDigest) }

// damageText says which, in the protocol's words: a store's own name hosts, requests and buckets, and go to whoever asks for an audit.
func damageText(err error) string {
	if errors.Is(err, ErrDigest) {
		return "its bytes are not those that were recorded"
	}
	return "it is gone from the archive"
}
