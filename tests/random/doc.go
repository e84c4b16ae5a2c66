// Package random runs the protocol at random: several processes over one store, stopped at every port call, messages that come late,
// twice, out of order or never, a source that breaks every promise, an operator who decides at any moment, and crashes anywhere.
//
// A run is a script: a setup and a list of steps. The same script gives the same run, call for call; rapid draws scripts and
// shrinks those that fail. A model that shares no code with the protocol watches every write that is really done (I1–I9, I11); at the
// end faults stop, and a plain schedule must bring the stream to rest at the end of its source (I10).
//
//	go test ./tests/random                                            2,000 runs, always the same ones
//	go test ./tests/random -run TestRandom -rapid.checks=N -rapid.seed=S   a long run
//	go test ./tests/random -run TestReplay -script '…' -v             one script, with its trace
//
// Scripts that once failed are kept in testdata/ and run first.
package random
