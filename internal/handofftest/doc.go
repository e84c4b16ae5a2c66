// Package handofftest holds the suites that every store must pass, whatever it is made of.
//
// ExerciseState and ExerciseArchive check each promise of the ports in internal/handoff from outside, through the ports alone. They read
// no wall clock, assume no order of keys beyond plain letters and digits, and take an unknown answer for what it is: the same write
// is made again. A store that passes may stand under the protocol.
package handofftest
