package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/dirarchive"
	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
)

// The environment of a process to be killed: where its store lies, and its job as TURNLEAF_REPLAY has it.
const (
	victimEnv    = "TURNLEAF_SWEEP_VICTIM"
	victimJobEnv = "TURNLEAF_SWEEP_VICTIM_JOB"
)

// The long story on a file and a folder. A process of its own plays it and kills itself right after its n-th write; another starts on
// what it left. (Dying right before a write is dying right after the one before: nothing durable lies between.)
func TestSIGKILL(t *testing.T) {
	t.Parallel()
	count := newTally()
	if j, ok := asked(t); ok {
		kill(t, j, count)
		return
	}
	t.Run("all", func(t *testing.T) {
		for _, kind := range []handoff.EffectKind{handoff.Transactional, handoff.Unsafe} {
			jobs := kills(t, kind)
			for shard := range shards {
				t.Run(fmt.Sprintf("%s/%d", kind, shard), func(t *testing.T) {
					t.Parallel()
					for i := shard; i < len(jobs); i += shards {
						kill(t, jobs[i], count)
					}
				})
			}
		}
	})
	count.log(t, fmt.Sprintf("real kills, seed %d", seed()))
}

// kills gives a job for each write of the story; an outside effect is played for a fifth of them, unless all are asked for.
func kills(t *testing.T, kind handoff.EffectKind) (jobs []job) {
	t.Helper()
	p, err := job{story: long, kind: kind}.inMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.calls {
		j := job{long, kind, []strike{{n: c.N, outcome: fault.CrashAfter}}}
		if c.Write && (kind == handoff.Transactional || all("TURNLEAF_SWEEP") || sampled(j, 5)) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// kill starts a process that plays the job until it dies, and then plays on in this one.
func kill(t *testing.T, j job, count *tally) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+dir, victimJobEnv+"="+j.String())
	said, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.String() != "signal: killed" {
		t.Fatalf("%s: the process was not killed: %v: %s", j, err, said)
	}
	p, closed, err := onFile(dir, job{story: j.story, kind: j.kind}, "second-")
	if err != nil {
		t.Fatalf("%s: %v", j, err)
	}
	defer closed()
	if err := p.remember(dir); err != nil {
		t.Fatalf("%s: %v", j, err)
	}
	p.clock.advance(48 * time.Hour)
	p.play()
	count.add([]fault.Strike{{Call: fault.Call{Site: strings.TrimSpace(string(said))}, Outcome: fault.CrashAfter}})
	if wrong := p.judge(); len(wrong) > 0 {
		t.Fatalf("%s, killed at %s\t%s\nreplay: %s", j, said, strings.Join(wrong, "\n\t"), j.replay("TestSIGKILL"))
	}
}

// onFile sets a job's stage on a file and a folder.
func onFile(dir string, j job, run string) (*player, func(), error) {
	ctx := context.Background()
	store, err := sqlitestate.Open(ctx, filepath.Join(dir, "state.db"), sqlitestate.Options{})
	if err != nil {
		return nil, nil, err
	}
	folder := filepath.Join(dir, "archive")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	archive, err := dirarchive.Open(folder)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	p := newPlayer(ctx, j)
	p.clock.run = run
	mail := &queue{clock: p.clock}
	p.watch, p.mail = newWatch(store, archive), mail
	p.clean = ports{watched{store, p.watch}, archive, mail}
	p.wire = func(life *fault.Process) ports {
		return ports{life.State(p.clean.state), life.Archive(archive), life.Queue(mail)}
	}
	return p, func() { _, _ = store.Close(), archive.Close() }, nil
}

// victim is the process that dies. Each effect is noted in a file as it takes place, for what is in memory is lost.
func victim(dir string) error {
	j, err := parse(os.Getenv(victimJobEnv))
	if err != nil {
		return err
	}
	p, _, err := onFile(dir, j, "first-")
	if err != nil {
		return err
	}
	notes, err := os.OpenFile(filepath.Join(dir, "effects"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	note := func(e effect) { _, err = fmt.Fprintln(notes, e.Entity, e.ID) }
	p.watch.onEffect, p.sink.onEffect = note, note
	p.onCrash = func(at fault.Strike) {
		fmt.Println(at.Site)
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fmt.Fprintln(os.Stderr, err)
		select {} // the signal is on its way
	}
	p.play()
	return errors.Join(err, errors.New(strings.Join(p.wrong, "; ")))
}

// remember is what the world outside still knows after the process died: which effects took place, and what the store holds.
func (p *player) remember(dir string) error {
	notes, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(notes)) {
		entity, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		e := effect{entity, id}
		if p.sink.kind == handoff.Transactional {
			p.watch.effects = append(p.watch.effects, e)
		} else {
			p.sink.record = append(p.sink.record, e)
		}
	}
	p.story.strays = 0 // that deployment is over
	return p.watch.load(p.ctx, p.stream)
}
