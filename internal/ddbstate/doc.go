// Package ddbstate is handoff.State on DynamoDB: the store of a deployed stack.
//
// Three tables (tables.go): Streams holds what says where a stream stands, Receipts the outcome of every event, Projections the
// documents of the projection effect. Where to look:
//
//   - keys.go says where an item lies, items.go what is in it, expressions.go what every write requires and changes;
//   - limits.go refuses, before the write, what DynamoDB would refuse and emulators let pass;
//   - errors.go says what the SDK's errors mean: done, refused or unknown, and nothing else does.
//
// An item is one JSON text, with the number of its format beside it. Only what a condition, an index or a small update needs is an
// attribute of its own. Every read is strongly consistent, except those whose caller allows less.
//
// Documents are read, changed by handoff.Doc.Apply, and written whole in the transaction of their receipt, under a guard on what was
// read. Numbers stay JSON text: DynamoDB's own ADD keeps 38 digits and forgets how a number was written. A document that many events
// add to (a total) is written once per transaction, for all events in it; ADD would not spare that document its conflicts, since
// two transactions on one item conflict whatever they do to it.
//
// One region only: a global table that lets the last writer win breaks every compare-and-swap in here.
package ddbstate
