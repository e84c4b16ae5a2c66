// Package fault breaks ports on purpose: decorators that fail, delay or kill at any call of any port, so that tests can try every
// fault at every call. A call is known by its site, a stable name that logs and docs use too.
package fault

// Outcome is what becomes of a call that a fault strikes.
type Outcome string

// The outcomes. None lets a call pass.
const (
	None        Outcome = ""
	ErrorBefore Outcome = "error before" // not done, and its answer says only: unknown
	ErrorAfter  Outcome = "error after"  // done, the answer lost
	CrashBefore Outcome = "crash before" // the process dies, the call not done
	CrashAfter  Outcome = "crash after"  // the process dies, the call done
	// RefusedAfter: done, and reported as a failed condition: the echo of an SDK's own retry. A call that has no condition answers
	// as ErrorAfter.
	RefusedAfter Outcome = "refused after"
	Conflict     Outcome = "conflict"  // a transaction conflict: not done, unknown
	Throttled    Outcome = "throttled" // not done, unknown
	// Unprocessed: half of a call about many items is done, the rest is not. A call about one item answers as ErrorBefore.
	Unprocessed Outcome = "unprocessed"
	Frozen      Outcome = "frozen"   // the call waits until newer invocations have finished, and then goes on
	Deadline    Outcome = "deadline" // the invocation's context ends right before the call
)

// Outcomes lists every outcome, None apart.
func Outcomes() []Outcome {
	return []Outcome{ErrorBefore, ErrorAfter, RefusedAfter, CrashBefore, CrashAfter, Conflict, Throttled, Unprocessed, Frozen, Deadline}
}

// Crash reports whether the process does not outlive the outcome.
func (o Outcome) Crash() bool { return o == CrashBefore || o == CrashAfter }

// Done reports whether the call that was struck takes effect, as far as it ever would have.
func (o Outcome) Done() bool {
	return o == None || o == ErrorAfter || o == RefusedAfter || o == CrashAfter || o == Frozen
}

// Call is one call of a port.
type Call struct {
	N     int    // from 1, over all calls of its process
	Site  string // see Sites
	Write bool   // it changes something that others see
}

// Outcomes lists the outcomes that differ at this call. The others do at a port exactly what one of these does: a conflict and a throttle
// are an error before, and so is what no condition or no second item makes different.
func (c Call) Outcomes() []Outcome {
	kind := kindOf(c.Site)
	out := []Outcome{ErrorBefore, CrashBefore, Frozen, Deadline}
	if kind&(Write|Outside) != 0 {
		out = append(out, ErrorAfter, CrashAfter)
	}
	if kind&Conditional != 0 {
		out = append(out, RefusedAfter)
	}
	if kind&Many != 0 {
		out = append(out, Unprocessed)
	}
	if kind&(Write|Outside) == Write|Outside {
		out = append(out, Throttled) // a sink's word that it surely did nothing
	}
	return out
}

func kindOf(site string) Kind {
	for _, s := range Sites() {
		if s.Name == site {
			return s.Kind
		}
	}
	return 0
}

// Strike is a call and what became of it.
type Strike struct {
	Call
	Outcome Outcome
}
