package handoff_test

import (
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// A record with a hold, conflicts, resets over an open page and over none, a lost page and an empty one has nothing to tell, however
// deep it is looked at.
func TestAuditOfAHealthyRecord(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	for _, opt := range []handoff.AuditOptions{{}, {Binding: &s.b}, {Binding: &s.b, Deep: true}, {From: 2}, {From: 5}, {Last: 1}, {Last: 3, From: 2}} {
		found, sum := s.audited(&view{}, opt)
		if len(found) > 0 {
			t.Errorf("%+v found %s: %+v", opt, names(found), found)
		}
		whole := handoff.AuditSummary{
			Stream: auditStream, Version: 7, Rev: sum.Rev, Pages: 6, Events: 14, Receipts: 14, Holds: 3, Decisions: 5, Documents: 3,
		}
		if opt.Deep {
			whole.Reread = 5 // all but the lost one
		}
		if opt.From+handoff.Version(opt.Last) == 0 && sum != whole {
			t.Errorf("%+v counted %+v, want %+v", opt, sum, whole)
		}
	}
}
