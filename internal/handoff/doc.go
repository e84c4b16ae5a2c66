// Package handoff is the protocol that hands a cursor over safely: a page of events is turned only when everything on it is settled.
//
// It does no I/O of its own, reads no clock and draws no random number: all of that comes through the ports in ports.go. The same
// state, the same answer of the source and the same clock give the same writes.
//
// # States
//
// A stream is one checkpoint. Its version v names the page that is open or would open next:
//
//	           archive, open                    all chunks done
//	fetching ─────────────────▶ PAGE#v is open ─────────────────▶ promoted: version v+1, cursor := next
//	   ▲  │ nothing new            │       ▲                            │
//	   │  └─▶ caught up            │ hold  │ decision                   │ winner sends "poll at v+1"
//	   │  └─▶ halted, waiting      ▼       │                            │
//	   │                        blocked ───┘                            │
//	   └────────────────────────────────────────────────────────────────┘
//	reset (any time): version v+1, cursor := given, closing := v ─▶ events of v superseded ─▶ PAGE#v abandoned
//
// An event on an open page:
//
//	(none) ─▶ applied | ignored | quarantined                     terminal, for ever
//	   │ ───▶ held ──release──▶ released ─▶ judged again          a person decides
//	   │ ───▶ retrying ─(its time)─▶ attempted again              the sink said: later
//	   │ ───▶ claimed ─▶ applied | held: ambiguous                an outside call is under way
//	   └────▶ superseded                                          a reset passed its page
//
// # Invariants
//
// With terminal = {applied, ignored, quarantined}, v = checkpoint.version, c = checkpoint.resume_cursor:
//
//   - I1 Barrier: page p promoted ⇒ ∀ (id, digest) on p: receipt(id, digest).outcome ∈ terminal
//   - I2 Prefix: ∀ event e, position(e) ≤ applied_position (< where shared): outcome(e) ∈ terminal ∪ {late, superseded, conflicting};
//     applied_position never decreases
//   - I3 Fence: c changes ⇒ the write was conditioned on a rev under which (v, c) was read, and v grows
//   - I4 Once: per (stream, id) at most one effect, unless an operator released an unknown attempt
//   - I5 Holds block: held ∉ terminal; no other event's outcome changes that
//   - I6 Terminal is for ever: no write replaces a terminal receipt
//   - I7 Entity order: transactional effects of one entity happen in source order, late events excepted
//   - I8 One page per version is ever opened
//   - I9 Nothing read is lost: an answer is archived before any event of it is acted on or its cursor stored
//   - I10 Progress: with a working source, store and sink and no hold or halt, every crash state reaches the end by itself
//   - I11 Isolation: streams never touch each other
//
// Audit checks what the record can show, while the stream works: audit_words.go lists what it can find.
//
// # Writes
//
// A store knows one condition: an item is absent, or has the rev that was read. Each rule is judged here, in Go, on the value read
// under that rev; a write that is refused is judged again on what stands. Every answer is done, refused (ErrRefused: nothing
// written) or unknown (ErrUnknown: read back by token, then the same conditional write again; see write.go).
//
// # Crash table
//
//	dead after              what is stored                          what happens next
//	1 archive               objects nobody names                    the next poll asks the source again, or adopts the answer
//	2 open                  an open page, nothing sent              the sweep drives its chunks when the lease is over
//	3 send                  an open page, some chunks sent          the same; a chunk that comes twice is harmless
//	4 settle                effect and receipt, both or neither     the chunk comes again: replayed
//	  claim (unsafe)        a receipt that says claimed             after its lease: held, ambiguous
//	5 chunk done            chunks_done has it                      the sweep, or the last chunk, promotes
//	6 promote               version v+1, cursor moved               the next tick polls at v+1
//	7 continuation          everything                              nothing was lost but time
//	8 decision              receipt and audit, both or neither      the next poll drives the chunk
//	  reset                 closing = v                             any poll supersedes v's events
//	  close, half way       some receipts superseded                any poll goes on
package handoff
