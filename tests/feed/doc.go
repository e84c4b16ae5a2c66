// Package feed runs Turnleaf as a process on a live CouchDB feed that is written while it is read, kills it with SIGKILL at random
// moments, and compares what it made of the feed with what the server and the writer know.
//
// It needs pouchdb-server and bin/turnleaf: `make test-feed` brings both. Settings, from the environment:
//
//	TURNLEAF_SEED   of the writer and of the moments of the kills; printed at the start, random without it
//	TURNLEAF_DOCS   documents inserted; 10000
//	TURNLEAF_KILLS  kills; 25
package feed
