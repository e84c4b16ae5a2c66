// Package mutants shows that every guard is load-bearing: each one is removed, by itself, in a copy of the source, and the tests must
// notice.
//
// The guards and their mutants are the files in list/, made to be read; see Parse for their form. All mutants of a list are compiled
// into one test binary, each behind a call mutant("its name") that an environment variable turns on, so that a thousand mutants cost
// one build. The product's own source stays untouched: the copies reach the compiler by its -overlay flag. A snippet that the source
// no longer has exactly once fails the run, so the lists follow the code.
//
// `go test ./tests/mutants` tries the protocol's own guards; `make mutants` tries every list and prints guard, mutant and killer.
package mutants
