// Package walkthrough holds the walkthroughs of the method: small named stories, each a trace that once went wrong in some consumer
// of paged events, played on a real State and Archive with the test as the scheduler. Any store runs them: see Run.
package walkthrough
