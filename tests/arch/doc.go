// Package arch checks the shape of the code: who may import whom, what the protocol may call, how long a file may be and what
// must carry a comment. A rule is a function from the parsed module to findings, so that each has a test that feeds it a small
// offending sample; arch_test.go then runs all of them on this module.
package arch
