// Package sweep plays stories over and over, and strikes another call with another fault each time (DESIGN §6.1): every single fault
// on a long story, pairs of faults on a short one; in memory, on a file with a real SIGKILL, and on emulated AWS. After each, the
// end must be what it is without a fault.
//
//   - TURNLEAF_SWEEP=all strikes every call with every outcome, also on AWS, and also with those that are the same at a port.
//   - TURNLEAF_PAIRS=all plays every pair, not a sample.
//   - TURNLEAF_SEED=n chooses another sample.
//   - TURNLEAF_REPLAY="story/effect 12 crash after, 17 error before" plays one run and tells all of it.
package sweep
