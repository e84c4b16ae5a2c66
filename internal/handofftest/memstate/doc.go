// Package memstate is the ports State and Archive in memory, for tests that play many thousand stories: one mutex, plain maps, and
// every value copied on its way in and out. It is the plainest reading of the contracts in internal/handoff/ports.go, and passes the
// same suites as the stores that ship. A restart of a process is a new engine on the same Store.
package memstate
