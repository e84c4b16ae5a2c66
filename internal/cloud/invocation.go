package cloud

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Invocation is what one invocation of a function did, until End writes it down.
type Invocation struct {
	r     *Recorder
	ctx   context.Context // of this invocation and no other: lines name it
	name  string
	began time.Time
	cold  bool

	class             Class // the first trouble
	failed            int
	polls, deliveries int
	steps             map[string]int
	attrs             []slog.Attr
	service           tally
	streams           map[handoff.Stream]tally
	order             []handoff.Stream
}

// of gives a stream's numbers. The caller holds the lock.
func (i *Invocation) of(s handoff.Stream) tally {
	if i.streams[s] == nil {
		i.streams[s] = tally{}
		i.order = append(i.order, s)
	}
	return i.streams[s]
}

// met keeps the first trouble. The caller holds the lock.
func (i *Invocation) met(c Class) {
	if i.class == ClassNone {
		i.class = c
	}
}

// fail counts a failure. The caller holds the lock.
func (i *Invocation) fail(t tally, c Class) {
	if c == ClassNone {
		return
	}
	i.met(c)
	t.add(groupOf(c), 1)
	t.add(failuresOf(c), 1)
}

// Tick is a scheduled tick that reached its streams: the heartbeat. orphans are streams without a definition.
func (i *Invocation) Tick(streams, orphans int) {
	i.r.mu.Lock()
	defer i.r.mu.Unlock()
	i.service.add(mTicks, 1)
	i.service.set(mOrphans, float64(orphans))
	i.attrs = append(i.attrs, slog.Int("streams", streams), slog.Int("orphans", orphans))
}

// Polled takes in one poll of a stream that has a definition. Where a tick meets a page that it cannot turn, it reads the oldest holds:
// one bounded read that a stream which nothing blocks does not cost.
func (i *Invocation) Polled(holds Holds, set handoff.Settings, m handoff.PollMessage, r handoff.PollReport, err error) {
	var held []handoff.Receipt
	var heldErr error
	look := blockedOnPage(m, r)
	if look {
		held, _, heldErr = holds.HeldReceipts(i.ctx, set.Stream, "", lookedAt)
	}
	if heldErr != nil { // the poll is done; only these gauges are missing
		logStep(i.ctx, i.r.log, handoff.Observation{Step: "holds", Stream: set.Stream, Err: heldErr})
	}
	i.r.mu.Lock()
	defer i.r.mu.Unlock()
	t, now := i.of(set.Stream), i.r.now()
	t.add(mPolls, 1)
	t.add(mEventsReplayed, r.Replays)
	i.polls++
	if i.polls == 1 { // a line tells of the first; the queue hands over one at a time
		i.attrs = append(i.attrs, slog.String("stream", string(set.Stream)), slog.Uint64("version", uint64(r.Version)), slog.String("did", string(r.Did)))
	}
	switch {
	case err != nil:
		i.failed++
		i.fail(t, ClassOf(err))
	case r.Did == handoff.ActWaiting && r.Stands != nil:
		i.fail(t, classOfWait(r.Stands.Checkpoint))
	case r.Did == handoff.ActHalted && r.Stands != nil && r.Stands.Checkpoint.Halt != nil:
		i.met(classOfHalt(r.Stands.Checkpoint.Halt.Reason)) // told at every tick; what it failed at was counted then
	}
	if r.Stands == nil {
		return
	}
	t.gauges(set, r, now, i.r.meter.Slow)
	if look && heldErr == nil {
		t.holds(*r.Stands, held, now, i.r.meter.Slow)
	}
}

// classOfWait is why a stream waits before it asks its source again.
func classOfWait(cp handoff.Checkpoint) Class {
	switch {
	case cp.Failures > 0:
		return ClassOfReading(cp.FailureClass)
	case !cp.RefusedSince.IsZero():
		return ClassSourceRefused
	}
	return ClassArchive // an accepted answer was gone
}

// Applied takes in one delivery of a chunk of a stream that has a definition. What was settled before an error is settled.
func (i *Invocation) Applied(m handoff.ChunkMessage, r handoff.ApplyReport, err error) {
	i.r.mu.Lock()
	defer i.r.mu.Unlock()
	i.deliveries++
	if i.deliveries == 1 { // a batch tells of its first chunk, and of all in its counts
		i.attrs = append(i.attrs, slog.String("stream", string(m.Stream)), slog.Uint64("version", uint64(m.Version)), slog.Int("chunk", m.Chunk))
	}
	t := i.of(m.Stream)
	t.add(mEventsApplied, r.Applied)
	t.add(mEventsIgnored, r.Ignored)
	t.add(mEventsQuarantined, r.Quarantined)
	t.add(mEventsSettled, r.Applied+r.Ignored+r.Quarantined)
	t.add(mEventsHeld, r.Held)
	t.add(mEventsRetrying, r.Retrying)
	t.add(mEventsReplayed, r.Replayed)
	if err != nil {
		i.failed++
		i.fail(t, ClassOf(err))
	}
}

// Failed takes in trouble that belongs to no stream that is known: a message that cannot be read, a definition that is gone.
func (i *Invocation) Failed(err error) {
	i.r.mu.Lock()
	defer i.r.mu.Unlock()
	i.failed++
	i.fail(i.of(""), ClassOf(err))
}

// Tell logs an error that the caller of the function is not told.
func (i *Invocation) Tell(err error) {
	i.r.log.LogAttrs(i.ctx, slog.LevelError, i.name, slog.Any("err", err), slog.String("class", string(ClassOf(err))))
}

// End writes the one Info line, with whatever the handler adds, and the metrics: one line for each stream that was worked on, most often
// one.
func (i *Invocation) End(more ...slog.Attr) {
	i.r.mu.Lock()
	defer i.r.mu.Unlock()
	i.r.current = nil
	now := i.r.now()
	attrs := append([]slog.Attr{slog.Bool("cold", i.cold), slog.Int64("elapsed_ms", now.Sub(i.began).Milliseconds())}, i.attrs...)
	attrs = append(attrs, more...)
	if i.class != ClassNone {
		attrs = append(attrs, slog.String("class", string(i.class)))
	}
	if i.failed > 0 {
		attrs = append(attrs, slog.Int("failed", i.failed))
	}
	attrs = append(attrs, i.counts(), i.stepCounts())
	i.r.log.LogAttrs(i.ctx, slog.LevelInfo, i.name, attrs...)
	i.publish(now)
}

// counts is the sum of what was counted, over the streams; gauges are not for adding up. The caller holds the lock.
func (i *Invocation) counts() slog.Attr {
	sum := tally{}
	for _, t := range i.streams {
		for name, v := range t {
			if !gauge(name) {
				sum[name] += v
			}
		}
	}
	var attrs []any
	for _, name := range sum.names() {
		attrs = append(attrs, slog.Int(snake(name), int(sum[name])))
	}
	return slog.Group("counts", attrs...)
}

func (i *Invocation) stepCounts() slog.Attr {
	var attrs []any
	for _, step := range slices.Sorted(maps.Keys(i.steps)) {
		attrs = append(attrs, slog.Int(step, i.steps[step]))
	}
	return slog.Group("steps", attrs...)
}

// publish writes the metrics. The caller holds the lock.
func (i *Invocation) publish(now time.Time) {
	if i.r.meter.Out == nil {
		return
	}
	line := emfLine{meter: i.r.meter, at: now, requestID: requestID(i.ctx), service: i.service}
	write := func() {
		if err := line.write(i.r.meter.Out); err != nil { // a full pipe: the work is done all the same
			i.r.log.LogAttrs(i.ctx, slog.LevelWarn, "metrics", slog.Any("err", err))
		}
	}
	for _, s := range i.order {
		line.stream, line.streams = s, i.streams[s]
		write()
		line.service = nil
	}
	if len(i.order) == 0 {
		write()
	}
}
