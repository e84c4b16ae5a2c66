// Package sqlitestate is handoff.State on SQLite: the embedded default, durable, for one machine.
//
// A store is one file in WAL mode with synchronous=FULL: an answer of done survives a power cut. There is one writer; every write is
// one immediate transaction, so what it reads cannot change before it commits. A lock file keeps a second process out: two pollers
// on one file would be safe (every write is a compare-and-swap), but two schedules are never what somebody meant.
package sqlitestate
