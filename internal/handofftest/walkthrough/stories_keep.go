package walkthrough

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// expiring is an archive with a lifecycle rule: what nobody wrote or refreshed for a whole life is gone.
type expiring struct {
	handoff.Archive
	clock *clock
	life  time.Duration

	mu   sync.Mutex
	born map[string]time.Time // guarded by mu
}

func (a *expiring) gone(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.born[key]
	return ok && a.clock.Now().Sub(at) >= a.life
}

func (a *expiring) touch(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.born[key] = a.clock.Now()
}

func (a *expiring) Put(ctx context.Context, key string, body []byte) error {
	err := a.Archive.Put(ctx, key, body)
	if err == nil {
		a.touch(key)
	}
	return err
}

func (a *expiring) Get(ctx context.Context, key string) ([]byte, error) {
	if a.gone(key) {
		return nil, fmt.Errorf("get %s: %w", key, handoff.ErrNotFound)
	}
	return a.Archive.Get(ctx, key)
}

func (a *expiring) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if a.gone(key) {
		return nil, fmt.Errorf("get %s: %w", key, handoff.ErrNotFound)
	}
	return a.Archive.GetRange(ctx, key, off, n)
}

func (a *expiring) Refresh(ctx context.Context, key string) error {
	if a.gone(key) {
		return fmt.Errorf("refresh %s: %w", key, handoff.ErrNotFound)
	}
	a.touch(key)
	return nil
}

const archiveLife = 30 * 24 * time.Hour

// shortLived gives a world whose archive forgets.
func shortLived(t *testing.T, open func(*testing.T) Backend, edit ...func(*handoff.Settings)) (*world, *expiring) {
	t.Helper()
	var a *expiring
	w := stage(t, func(t *testing.T) Backend {
		b := open(t)
		a = &expiring{Archive: b.Archive, life: archiveLife, born: map[string]time.Time{}, clock: &clock{now: epoch}}
		b.Archive = a
		return b
	}, edit...)
	a.clock = w.clock
	w.engine.Timing.ArchiveLife, w.other.Timing.ArchiveLife = archiveLife, archiveLife
	return w, a
}

// months lets ticks go on for ten lives of an object.
func (w *world) months() {
	w.Helper()
	for range 60 {
		w.clock.advance(archiveLife / 6)
		if _, err := w.poll(w.engine, handoff.PollMessage{}); err != nil {
			w.Fatal(err)
		}
		w.apply()
	}
}

// A hold outlives the rule that empties the archive, and the event can still be released.
func holdOutlivesArchive(t *testing.T, open func(*testing.T) Backend) {
	w, a := shortLived(t, open, func(s *handoff.Settings) { s.Contract.OnceToken = true })
	w.policy["2"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	w.source.page("c0", "c1", evs("a", 1, 2)...)
	w.source.end("c1", "c1")
	w.settleAll()
	w.is("2", handoff.Held)
	w.months()
	w.must(w.decide(handoff.DecideRelease, "2"))
	w.driveNow()
	w.is("2", handoff.Applied)
	w.settleAll()
	w.at(2, "c1")
	w.effects("a", "1 2 < 2")
	w.clean()

	// What is done with is left to the rule.
	w.months()
	_, err := a.Get(w.ctx, mustDirectory(w, 1).Raw.Key)
	if err == nil {
		t.Error("the archive keeps a page that was turned ten lives ago")
	}
}

// The raw answer of a held page lives on too, so that a lost events object is laid out again after ten lives.
func rawOutlivesArchive(t *testing.T, open func(*testing.T) Backend) {
	w, a := shortLived(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	w.source.page("c0", "c1", evs("a", 1)...)
	w.source.end("c1", "c1")
	w.settleAll()
	w.months()
	a.mu.Lock()
	a.born[mustDirectory(w, 1).Object.Key] = epoch.Add(-2 * archiveLife)
	a.mu.Unlock()
	w.must(w.decide(handoff.DecideRelease, "1"))
	w.driveNow()
	w.is("1", handoff.Applied)
}

// The answer that a halt names can still be accepted after ten lives, paused or not; a page that a reset passed can still be closed.
func haltOutlivesArchive(t *testing.T, open func(*testing.T) Backend) {
	w, _ := shortLived(t, open)
	w.source.page("c0", "c1", ev(2, "a"), ev(1, "a"))
	w.source.end("c1", "c1")
	w.tick(handoff.ActHalted)
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	w.months()
	cp := w.checkpoint()
	w.must(w.command(handoff.Decision{Kind: handoff.DecideAccept, Check: handoff.HaltOrderRegression, Answer: cp.Halt.Answer.Digest}))
	w.months()
	delete(w.source.replies, "c0")
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.settleAll()
	w.at(2, "c1")
	w.effects("a", "1 2 < 1")
}

// A stream without a definition has no polls: Keep alone does it. A fetched answer to a single-use token waits out a pause the same way.
func spentTokenOutlivesPause(t *testing.T, open func(*testing.T) Backend) {
	w, _ := shortLived(t, open, func(s *handoff.Settings) { s.Contract.OnceToken = true })
	w.source.page("c0", "c1", evs("a", 1)...)
	w.source.end("c1", "c1")
	w.die("before", "open")
	_, _ = w.poll(w.engine, handoff.PollMessage{}) // dies with the only answer archived
	w.restart()
	w.engine.Timing.ArchiveLife = archiveLife
	w.must(w.command(handoff.Decision{Kind: handoff.DecidePause}))
	for range 60 {
		w.clock.advance(archiveLife / 6)
		w.must(w.engine.Keep(w.ctx, w.b.Stream))
	}
	w.source.replies["c0"] = func() reply { return reply{Kind: handoff.ReadCursorRefused} }
	w.must(w.command(handoff.Decision{Kind: handoff.DecideResume}))
	w.settleAll()
	w.at(2, "c1")
	w.is("1", handoff.Applied)
}

// The spool behind a held page lives as long as the hold, however many versions it reaches ahead.
func spoolOutlivesHold(t *testing.T, open func(*testing.T) Backend) {
	w, a := shortLived(t, open)
	w.policy["1"] = handoff.Ruling{Verdict: handoff.VerdictHold, Rule: "ask"}
	w.source.page("c0", "c1", evs("a", 1)...)
	w.settleAll()
	for v := handoff.Version(2); v < 5; v++ {
		ref := handoff.ObjectRef{Key: fmt.Sprintf("raw/%s/%012d/spooled/x.json", w.b.Stream, v), Digest: "x"}
		w.must(a.Put(w.ctx, ref.Key, []byte("x")))
		w.must(w.inner.State.PutSpool(w.ctx, handoff.SpoolEntry{Stream: w.b.Stream, Version: v, RequestCursor: "c1", Raw: ref, FetchedAt: epoch}))
	}
	w.months()
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, at := range a.born {
		if strings.Contains(key, "spooled") && w.clock.Now().Sub(at) > archiveLife/2+archiveLife/6 {
			t.Errorf("%s was last touched %s ago", key, w.clock.Now().Sub(at))
		}
	}
}

// driveNow is the poll that follows a decision.
func (w *world) driveNow() {
	w.Helper()
	if _, err := w.poll(w.engine, handoff.PollMessage{Drive: true}); err != nil {
		w.Fatal(err)
	}
	w.apply()
}

func mustDirectory(w *world, v handoff.Version) handoff.Directory {
	w.Helper()
	dir, err := w.inner.State.Directory(w.ctx, w.b.Stream, v)
	w.must(err)
	return dir
}
