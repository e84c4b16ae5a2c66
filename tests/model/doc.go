// Package model is the protocol of internal/handoff as a small explicit-state model, a breadth-first explorer that visits every state of it,
// and what ties the two.
//
// # What it says
//
// For each scope of configs.go (two pages of three events, one event on both; up to two polls, two applies and an operator with two windows;
// crashes anywhere; messages late, again, lost; holds and their decisions, resets, pause, a spool, a source that answers a token
// differently the second time, outside calls) I1 to I9 hold in every state and on every transition, and I10 as "from every state a way
// leads to the end": one without crashes and losses, and without a pause or a reset begun anew, while an operator answers what is held.
//
//	go test ./tests/model                                            small scopes, some seconds
//	TURNLEAF_MODEL=full go test -v -timeout 60m ./tests/model -run 'Scopes|Code'   the large ones: up to 4 GB, some minutes
//
// # How to read it
//
// A process is a program counter that names the call it makes next, and a few bytes of memory (state.go, steps.go). Each call of a port
// is a step of its own: between any two, everybody else may move, and the process may die. poll.go, fetch.go, close.go and apply.go
// follow the files of the code; outside.go is the outside call with its claim; operator.go is everything that is no protocol.
// invariants.go is DESIGN §2.
//
// A rev is not a number here. All that a guard asks of a rev is whether somebody wrote the item since it was read, and that is one bit of
// the reader, cleared by every write (docs/decisions/0002). Time is one transition, after which every lease and every wait is over; a drive
// lease may be over at any time. A tick may come at any time, and so the messages that ask for a poll add nothing.
//
// Two things keep it small, and neither loses anything: steps that touch nothing anybody else touches are not interleaved with others'
// (private, in steps.go; a test compares with every interleaving), and states that differ only by which of two equal processes is which,
// or by what a process remembers in vain, are one (canonical.go). In a trace equal processes may therefore change names.
//
// # What ties it to the code
//
//   - Every step has the name of a site of internal/fault, and every site is a step or has a reason why not (sites_test.go).
//   - Random traces of the model, and the longest of its shortest ones, are played by the real handoff.Engine: each process a goroutine
//     that waits at every port call until the trace lets it go on. After each step it must wait at the very call that the model names, and
//     checkpoint, pages, receipts, effects and messages must be the model's (replay_test.go, walk_test.go).
//   - Each guard taken out of the model breaks an invariant, and the trace that shows it is played too: the code must leave it
//     (breaks_test.go).
//
// # What it leaves out
//
// Unknown answers of a write (the crash after it is there, the read-back is not: tests/crash), halts and accepts, single-use tokens,
// hold-back, late and invalid events, identity conflicts, poison, effects that change, lost archives, expiry, retire, more than one
// stream (I11). A chunk is one lane of at most three events.
package model
