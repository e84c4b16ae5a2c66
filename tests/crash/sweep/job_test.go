package sweep

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest/memstate"
	"github.com/turnleaf/turnleaf/internal/sqlitestate"
)

// strike is one fault of a job: what becomes of the n-th call, counted over all lives; with a site, of the n-th call of that site.
type strike struct {
	n       int
	outcome fault.Outcome
	site    string
}

func (s strike) String() string {
	if s.site != "" {
		return fmt.Sprintf("%s #%d %s", s.site, s.n, s.outcome)
	}
	return fmt.Sprintf("%d %s", s.n, s.outcome)
}

func parseStrike(text string) (strike, error) {
	site, rest, named := strings.Cut(text, " #")
	if !named {
		site, rest = "", text
	}
	n, outcome, _ := strings.Cut(rest, " ")
	at, err := strconv.Atoi(n)
	if err != nil {
		return strike{}, fmt.Errorf("no call number in %q: %w", text, err)
	}
	return strike{at, fault.Outcome(outcome), site}, nil
}

// job is one run: a story, a kind of effect, and its faults.
type job struct {
	story   func() story
	kind    handoff.EffectKind
	strikes []strike
}

// String is how TURNLEAF_REPLAY names the job.
func (j job) String() string {
	parts := make([]string, len(j.strikes))
	for i, s := range j.strikes {
		parts[i] = s.String()
	}
	return fmt.Sprintf("%s/%s %s", j.story().name, j.kind, strings.Join(parts, ", "))
}

// parse reads what String wrote.
func parse(text string) (job, error) {
	name, faults, _ := strings.Cut(text, " ")
	storyName, kind, _ := strings.Cut(name, "/")
	j := job{kind: handoff.EffectKind(kind)}
	for _, s := range []func() story{long, short} {
		if s().name == storyName {
			j.story = s
		}
	}
	if j.story == nil || !slices.Contains(kinds, j.kind) {
		return j, fmt.Errorf("no story/effect %q", name)
	}
	for part := range strings.SplitSeq(faults, ", ") {
		if part == "" {
			continue
		}
		st, err := parseStrike(part)
		if err != nil {
			return j, err
		}
		j.strikes = append(j.strikes, st)
	}
	return j, nil
}

// replay is the line that plays a job again.
func (j job) replay(test string) string {
	return fmt.Sprintf("TURNLEAF_REPLAY='%s' go test -count=1 -v -run '^%s$' ./tests/crash/sweep", j, test)
}

// kinds are the effects that a story is played with.
var kinds = []handoff.EffectKind{handoff.Transactional, handoff.Idempotent, handoff.Unsafe}

// sinkWindow is how long the idempotent sink remembers a key: two steps of a story, so that some second calls come too late.
const sinkWindow = 10 * time.Minute

// newPlayer sets a job's stage without its stores.
func newPlayer(ctx context.Context, j job) *player {
	s := j.story()
	c := &clock{now: epoch}
	return &player{
		deadlines: slices.ContainsFunc(j.strikes, func(s strike) bool { return s.outcome == fault.Deadline }),
		ctx:       ctx, story: s, stream: "orders", clock: c, tell: func(string, ...any) {}, onCrash: func(fault.Strike) {},
		source: &source{replies: maps.Clone(s.replies), asked: map[handoff.Cursor]int{}},
		sink:   &sink{kind: j.kind, window: sinkWindow, clock: c, later: s.later, mute: s.mute, onEffect: func(effect) {}, keys: map[string]time.Time{}},
		choose: j.choose(),
	}
}

// choose says what becomes of each call.
func (j job) choose() func(fault.Call) fault.Outcome {
	bySite := map[string]int{}
	return func(call fault.Call) fault.Outcome {
		bySite[call.Site]++
		for _, st := range j.strikes {
			if st.site == "" && st.n == call.N || st.site == call.Site && st.n == bySite[call.Site] {
				return st.outcome
			}
		}
		return fault.None
	}
}

// inMemory plays a job on SQLite in memory: a restart is new objects on the same handle.
func (j job) inMemory(tell func(string, ...any)) (*player, error) {
	ctx := context.Background() // one that never ends spares the store a goroutine a query
	store, err := sqlitestate.OpenMemory(ctx)
	if err != nil {
		return nil, err
	}
	p := newPlayer(ctx, j)
	if tell != nil {
		p.tell = tell
	}
	archive, mail := memstate.NewArchive(), &queue{clock: p.clock}
	p.watch, p.mail = newWatch(store, archive), mail
	p.clean = ports{watched{store, p.watch}, archive, mail}
	p.wire = func(life *fault.Process) ports {
		return ports{life.State(p.clean.state), life.Archive(archive), life.Queue(mail)}
	}
	p.play()
	p.judge()
	if len(p.struck) != len(j.strikes) {
		p.failf("%d faults met something, of %d", len(p.struck), len(j.strikes))
	}
	return p, store.Close()
}

// all reports whether an environment variable asks for everything.
func all(name string) bool { return os.Getenv(name) == "all" }

// seed chooses the samples.
func seed() int {
	n, err := strconv.Atoi(os.Getenv("TURNLEAF_SEED"))
	if err != nil {
		return 1
	}
	return n
}

// rank orders jobs at random, always the same way under one seed.
func rank(j job) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, seed(), j) // hash.Hash never fails
	return h.Sum64()
}

// sampled takes one job in n.
func sampled(j job, n uint64) bool { return rank(j)%n == 0 }

// outcomes are those to strike a call with.
func outcomes(c fault.Call) []fault.Outcome {
	out := c.Outcomes()
	if all("TURNLEAF_SWEEP") {
		out = fault.Outcomes()
	}
	if c.Write || all("TURNLEAF_SWEEP") {
		out = append(out, frozenWhile)
	}
	return append(out, frozenLong)
}

// report fails a test over what was wrong with a job, with its trace and the line that replays it.
func (j job) report(t *testing.T, p *player) {
	t.Helper()
	var trace []string
	again, err := j.inMemory(func(format string, args ...any) { trace = append(trace, fmt.Sprintf(format, args...)) })
	if err != nil || !slices.Equal(again.wrong, p.wrong) {
		trace = append(trace, "(a second run was different)")
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	t.Errorf("%s\n\t%s\n%s\nreplay: %s", j, strings.Join(p.wrong, "\n\t"), strings.Join(trace[max(0, len(trace)-150):], "\n"), j.replay(test))
}

// asked gives the job of TURNLEAF_REPLAY, if there is one.
func asked(t *testing.T) (j job, ok bool) {
	t.Helper()
	text := os.Getenv("TURNLEAF_REPLAY")
	if text == "" {
		return job{}, false
	}
	j, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return j, true
}

// replaying plays the job that is asked for, if there is one, and tells all of it.
func replaying(t *testing.T) bool {
	t.Helper()
	j, ok := asked(t)
	if !ok {
		return false
	}
	p, err := j.inMemory(t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range p.wrong {
		t.Error(w)
	}
	return true
}
