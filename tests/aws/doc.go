// Package aws runs the suites of every store on the AWS adapters, on whatever cloud package stack finds, and injects what no emulator
// produces.
package aws
