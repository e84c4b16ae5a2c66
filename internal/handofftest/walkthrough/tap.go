package walkthrough

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// tap stands between the process under test and everything durable. A hook runs right before or after a named operation; its error
// is what the process sees. A dead process does nothing any more.
type tap struct {
	state   handoff.State
	archive handoff.Archive
	queue   handoff.Queue
	before  map[string]func() error
	after   map[string]func() error
	dead    bool
	ops     []string
	// fault strikes the n-th operation (from 1) of this process, and hit says which one that was.
	fault fault
	hit   string
}

// outcome is what becomes of the operation that a fault strikes.
type outcome string

const (
	errorBefore  outcome = "error before"  // not done, and said so badly
	errorAfter   outcome = "error after"   // done, the answer lost
	refusedAfter outcome = "refused after" // done, reported as a failed condition: the echo of a retry
	crashBefore  outcome = "crash before"
	crashAfter   outcome = "crash after"
)

type fault struct {
	n    int
	what outcome
}

// strike carries the fault out.
func (t *tap) strike(op string, do func() error) error {
	t.hit = op
	switch t.fault.what {
	case errorBefore:
		return fmt.Errorf("%s: %w: injected", op, handoff.ErrUnknown)
	case errorAfter, refusedAfter:
		if err := do(); err != nil {
			return err
		}
		if t.fault.what == refusedAfter && !strings.HasPrefix(op, "read-") {
			return fmt.Errorf("%s: %w: injected", op, handoff.ErrRefused)
		}
		return fmt.Errorf("%s: %w: injected", op, handoff.ErrUnknown)
	case crashAfter:
		_ = do() // its answer is lost with the process
	}
	t.dead = true
	return errDead
}

// hook arms a one-shot hook.
func (t *tap) hook(when, op string, f func() error) {
	at := &t.before
	if when == "after" {
		at = &t.after
	}
	if *at == nil {
		*at = map[string]func() error{}
	}
	(*at)[op] = f
}

func (t *tap) run(op string, do func() error) error {
	if t.dead {
		return errDead
	}
	t.ops = append(t.ops, op)
	if len(t.ops) == t.fault.n {
		return t.strike(op, do)
	}
	if f := t.before[op]; f != nil {
		delete(t.before, op)
		if err := f(); err != nil {
			return err
		}
	}
	err := do()
	if f := t.after[op]; f != nil {
		delete(t.after, op)
		if err := f(); err != nil {
			return err
		}
	}
	return err
}

// armed reports hooks that never ran: a story that misses its fault proves nothing.
func (t *tap) armed() string {
	for op := range t.before {
		return "before " + op
	}
	for op := range t.after {
		return "after " + op
	}
	return ""
}

// opOf names a transaction by the step it is.
func opOf(tx handoff.Tx) string {
	switch {
	case tx.Decision != nil:
		return "decide"
	case tx.PagePut != nil && len(tx.Directory.Chunks) > 0:
		return "open"
	case tx.PagePut != nil:
		return "turn"
	case tx.PageMark != nil:
		return "close"
	case tx.Entry != nil:
		return "start"
	case tx.PageAbsent != 0:
		return "halt"
	}
	return "note"
}

func (t *tap) Commit(ctx context.Context, tx handoff.Tx) error {
	op := opOf(tx)
	if op == "note" {
		if cp, err := t.state.Checkpoint(ctx, tx.Stream); err == nil && cp.Version < tx.Checkpoint.Put.Version {
			op = "promote"
		}
	}
	return t.run(op, func() error { return t.state.Commit(ctx, tx) })
}

func (t *tap) Settle(ctx context.Context, s handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	var out []handoff.SettleResult
	err := t.run("settle", func() error { out = t.state.Settle(ctx, s, items); return nil })
	if err != nil {
		out = make([]handoff.SettleResult, len(items))
		for i := range out {
			out[i].Err = err
			if !errors.Is(err, handoff.ErrRefused) {
				out[i].Err = fmt.Errorf("%w: %w", handoff.ErrUnknown, err)
			}
		}
	}
	return out
}

func (t *tap) MarkChunk(ctx context.Context, s handoff.Stream, v handoff.Version, k int) (p handoff.Page, err error) {
	err = t.run("chunk", func() error { p, err = t.state.MarkChunk(ctx, s, v, k); return err })
	return p, err
}

func (t *tap) MarkDriven(ctx context.Context, s handoff.Stream, v handoff.Version, seen, drives int, at time.Time) error {
	return t.run("drive", func() error { return t.state.MarkDriven(ctx, s, v, seen, drives, at) })
}

func (t *tap) AddStart(ctx context.Context, s handoff.Stream, v handoff.Version, k int, st handoff.Start) (all []handoff.Start, err error) {
	err = t.run("start-count", func() error { all, err = t.state.AddStart(ctx, s, v, k, st); return err })
	return all, err
}

func (t *tap) RemoveStart(ctx context.Context, s handoff.Stream, v handoff.Version, k int, token string) error {
	return t.run("start-uncount", func() error { return t.state.RemoveStart(ctx, s, v, k, token) })
}

func (t *tap) PutSpool(ctx context.Context, e handoff.SpoolEntry) error {
	return t.run("spool", func() error { return t.state.PutSpool(ctx, e) })
}

func (t *tap) DropSpool(ctx context.Context, s handoff.Stream, v handoff.Version) error {
	return t.run("unspool", func() error { return t.state.DropSpool(ctx, s, v) })
}

// Reads pass, unless the process is dead.

func (t *tap) Checkpoint(ctx context.Context, s handoff.Stream) (cp handoff.Checkpoint, err error) {
	err = t.run("read-checkpoint", func() error { cp, err = t.state.Checkpoint(ctx, s); return err })
	return cp, err
}

func (t *tap) Streams(ctx context.Context) ([]handoff.StreamEntry, error) {
	return t.state.Streams(ctx)
}

func (t *tap) Page(ctx context.Context, s handoff.Stream, v handoff.Version) (p handoff.Page, err error) {
	err = t.run("read-page", func() error { p, err = t.state.Page(ctx, s, v); return err })
	return p, err
}

func (t *tap) Directory(ctx context.Context, s handoff.Stream, v handoff.Version) (d handoff.Directory, err error) {
	err = t.run("read-directory", func() error { d, err = t.state.Directory(ctx, s, v); return err })
	return d, err
}

func (t *tap) ListPages(ctx context.Context, s handoff.Stream, after handoff.Version, limit int) ([]handoff.Page, error) {
	return t.state.ListPages(ctx, s, after, limit)
}

func (t *tap) Spool(ctx context.Context, s handoff.Stream, v handoff.Version) (es []handoff.SpoolEntry, err error) {
	err = t.run("read-spool", func() error { es, err = t.state.Spool(ctx, s, v); return err })
	return es, err
}

func (t *tap) Receipts(ctx context.Context, s handoff.Stream, keys []handoff.ReceiptKey, proof bool) (rs map[handoff.ReceiptKey]handoff.Receipt, err error) {
	err = t.run("read-receipts", func() error { rs, err = t.state.Receipts(ctx, s, keys, proof); return err })
	return rs, err
}

func (t *tap) HeldReceipts(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	return t.state.HeldReceipts(ctx, s, after, limit)
}

func (t *tap) ListReceipts(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error) {
	return t.state.ListReceipts(ctx, s, after, limit)
}

func (t *tap) Doc(ctx context.Context, s handoff.Stream, entity string) (handoff.Doc, error) {
	return t.state.Doc(ctx, s, entity)
}

func (t *tap) ListDocs(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Doc, string, error) {
	return t.state.ListDocs(ctx, s, after, limit)
}

func (t *tap) Decision(ctx context.Context, s handoff.Stream, id string) (d handoff.DecisionRecord, err error) {
	err = t.run("read-decision", func() error { d, err = t.state.Decision(ctx, s, id); return err })
	return d, err
}

func (t *tap) Audits(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.AuditRecord, string, error) {
	return t.state.Audits(ctx, s, after, limit)
}

// tappedArchive and tappedQueue are the other two doors.
type tappedArchive struct{ t *tap }

func (a tappedArchive) Put(ctx context.Context, key string, body []byte) error {
	return a.t.run("archive", func() error { return a.t.archive.Put(ctx, key, body) })
}

func (a tappedArchive) Get(ctx context.Context, key string) (b []byte, err error) {
	err = a.t.run("read-archive", func() error { b, err = a.t.archive.Get(ctx, key); return err })
	return b, err
}

func (a tappedArchive) GetRange(ctx context.Context, key string, off, n int64) (b []byte, err error) {
	err = a.t.run("read-chunk", func() error { b, err = a.t.archive.GetRange(ctx, key, off, n); return err })
	return b, err
}

func (a tappedArchive) List(ctx context.Context, prefix string, limit int) ([]string, error) {
	return a.t.archive.List(ctx, prefix, limit)
}

func (a tappedArchive) Refresh(ctx context.Context, key string) error {
	return a.t.archive.Refresh(ctx, key)
}

type tappedQueue struct{ t *tap }

func (q tappedQueue) SendChunks(ctx context.Context, ms []handoff.ChunkMessage, delay time.Duration) error {
	return q.t.run("send", func() error { return q.t.queue.SendChunks(ctx, ms, delay) })
}

func (q tappedQueue) SendPoll(ctx context.Context, m handoff.PollMessage, delay time.Duration) error {
	return q.t.run("continue", func() error { return q.t.queue.SendPoll(ctx, m, delay) })
}
