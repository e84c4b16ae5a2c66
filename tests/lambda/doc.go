// Package lambda runs the real function binaries against a local Lambda Runtime API, on an emulated cloud: tick, page, chunks, promote,
// continuation, until the feed is drained. `make test-aws` runs it.
package lambda
