package model

// pc is a program counter: the call that a process makes next.
type pc uint8

const (
	idle pc = iota

	// A poll, in the order of internal/handoff/poll.go.
	closePage
	closeDirectory
	closeChunk
	closeReceipts
	closeSettle
	closeWrite
	closeAgain
	sweepPage
	driveBegin
	driveSend
	driveEnd
	prefixDirectory
	prefixChunks
	prefixReceipts
	prefixWrite
	prefixAgain
	readSpool
	readRaw
	ask
	replays
	archiveRaw
	archiveMeta
	archiveEvents
	open
	openPage
	openAgain
	openSend
	lateArchive
	turn
	turnAgain
	turnPage
	unspool

	// A promote, by a poll or by an apply.
	promoteRead
	promoteDirectory
	promoteWrite
	promoteAgain
	promoteContinue

	// A delivery, in the order of internal/handoff/apply.go.
	applyCheckpoint
	applyDirectory
	applyChunk
	recall
	settle
	claim
	claimRead
	call
	settleOwn
	ownCheckpoint
	chunkDone
	sendAgain

	// Decisions, and reading ahead.
	releaseCheckpoint
	decideWrite
	decideContinue
	aheadPut
	aheadDone

	pcs
)

// site gives the name of the call in internal/fault. idle is the first call of each kind of process.
func (p pc) site(who slot) string {
	if p != idle {
		return sites[p]
	}
	switch who {
	case apply1, apply2, ahead:
		return "read/page"
	case desk:
		return "read/receipts"
	}
	return "read/checkpoint"
}

var sites = [pcs]string{
	closePage: "read/page", closeDirectory: "read/directory", closeChunk: "read/chunk", closeReceipts: "read/receipts",
	closeSettle: "close/settle", closeWrite: "close", closeAgain: "read/checkpoint",
	sweepPage: "read/page", driveBegin: "drive", driveSend: "send", driveEnd: "drive",
	prefixDirectory: "read/directory", prefixChunks: "read/chunk", prefixReceipts: "read/receipts", prefixWrite: "note", prefixAgain: "read/checkpoint",
	readSpool: "read/spool", readRaw: "read/raw", ask: "ask", replays: "read/replays",
	archiveRaw: "archive/raw", archiveMeta: "archive/meta", archiveEvents: "archive/events",
	open: "open", openPage: "read/page", openAgain: "read/checkpoint", openSend: "send", lateArchive: "archive/raw",
	turn: "turn", turnAgain: "read/checkpoint", turnPage: "read/page", unspool: "unspool",
	promoteRead: "read/checkpoint", promoteDirectory: "read/directory", promoteWrite: "promote", promoteAgain: "read/checkpoint", promoteContinue: "continue",
	applyCheckpoint: "read/checkpoint", applyDirectory: "read/directory", applyChunk: "read/chunk", recall: "read/receipts",
	settle: "apply/settle", claim: "apply/claim", claimRead: "read/receipts", call: "call", settleOwn: "apply/settle", ownCheckpoint: "read/checkpoint", chunkDone: "chunk", sendAgain: "send",
	releaseCheckpoint: "read/checkpoint", decideWrite: "decide", decideContinue: "continue",
	aheadPut: "spool",
}

// claiming: the process has an attempt under way.
func (p pc) claiming() bool {
	return p == claimRead || p == call || p == settleOwn || p == ownCheckpoint
}

// private calls touch nothing that another process reads or writes in this model: what is written once and read only when named, the
// source, and messages that a tick replaces. Where a process stands at one, nobody else's move matters, so that next explores its
// move (and its death) alone: a persistent set in the sense of partial-order reduction. The invariants do not see the difference.
func (m *model) private(p pc) bool {
	switch p {
	case closeDirectory, closeChunk, driveEnd, prefixDirectory, prefixChunks, readRaw, ask, archiveRaw, archiveMeta, archiveEvents, lateArchive,
		promoteDirectory, promoteContinue, applyDirectory, applyChunk, decideContinue:
		return !m.interleaveAll
	case readSpool:
		return !m.interleaveAll && !m.spool
	}
	return false
}
