// Package config reads what a function is told by its environment: one struct a function, parsed once, and one error that names every
// bad variable.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// Stores name where state and archive are.
type Stores struct {
	StreamsTable     string // TURNLEAF_STREAMS_TABLE
	ReceiptsTable    string // TURNLEAF_RECEIPTS_TABLE
	ProjectionsTable string // TURNLEAF_PROJECTIONS_TABLE
	Bucket           string // TURNLEAF_BUCKET
	Prefix           string // TURNLEAF_PREFIX: below it in the bucket; empty, or ends with a slash
}

// Queues are the URLs of the two queues.
type Queues struct {
	Chunks string // TURNLEAF_CHUNK_QUEUE
	Polls  string // TURNLEAF_POLL_QUEUE
}

// Times are what the deployment promises; see handoff.Timing.
type Times struct {
	Function   time.Duration // TURNLEAF_FUNCTION_SECONDS: the longest an invocation of any function can live
	Visibility time.Duration // TURNLEAF_VISIBILITY_SECONDS: of the chunk queue
	Tick       time.Duration // TURNLEAF_TICK_SECONDS: between scheduled polls
	Records    time.Duration // TURNLEAF_RECORD_DAYS: for which promoted pages, decisions and audit lines are kept; 0 is for ever
	Archive    time.Duration // TURNLEAF_ARCHIVE_DAYS: after which the bucket's lifecycle rule removes an object; 0 is never
}

// MetricsBy says how fine a function's numbers are.
type MetricsBy string

// The values of TURNLEAF_METRICS.
const (
	ByStream  MetricsBy = "stream"  // one set of metrics for the whole stack, and one for every stream
	ByService MetricsBy = "service" // the first alone: CloudWatch bills by the metric
	Off       MetricsBy = "off"
)

// Metrics say under which names a function's numbers are published.
type Metrics struct {
	Namespace string    // TURNLEAF_NAMESPACE: CloudWatch's; default Turnleaf
	Service   string    // TURNLEAF_SERVICE: the dimension that keeps several stacks apart; default turnleaf
	By        MetricsBy // TURNLEAF_METRICS: stream, service or off; default stream
}

// Worker is the configuration of poll and apply.
type Worker struct {
	Stores
	Queues
	Times
	Metrics
	Streams string // TURNLEAF_STREAMS: the folder of stream definitions; default: streams beside the binary
	Log     slog.Level
}

// Review is the configuration of review: it knows no definitions.
type Review struct {
	Stores
	Queues
	Times
	Metrics
	Log slog.Level
}

// maxDays is a century: more is a slip of the finger.
const maxDays = 36500

// env collects errors while it reads.
type env struct {
	get  func(string) string
	errs []error
}

func (e *env) fail(name, format string, args ...any) {
	e.errs = append(e.errs, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
}

// must reads a variable that has no default. Empty counts as unset.
func (e *env) must(name string) string {
	v := e.get(name)
	if v == "" {
		e.fail(name, "is not set")
	}
	return v
}

func (e *env) days(name string) time.Duration {
	text := e.get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxDays {
		e.fail(name, "is %.20q: a number of days from 0 to %d", text, maxDays)
	}
	return time.Duration(n) * 24 * time.Hour
}

func (e *env) seconds(name string, fallback, least, most int) time.Duration {
	n, text := fallback, e.get(name)
	if text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < least || n > most {
			e.fail(name, "is %.20q: a number of seconds from %d to %d", text, least, most)
		}
	}
	return time.Duration(n) * time.Second
}

func (e *env) stores() Stores {
	s := Stores{
		StreamsTable: e.must("TURNLEAF_STREAMS_TABLE"), ReceiptsTable: e.must("TURNLEAF_RECEIPTS_TABLE"),
		ProjectionsTable: e.must("TURNLEAF_PROJECTIONS_TABLE"), Bucket: e.must("TURNLEAF_BUCKET"), Prefix: e.get("TURNLEAF_PREFIX"),
	}
	if s.Prefix != "" && !strings.HasSuffix(s.Prefix, "/") {
		e.fail("TURNLEAF_PREFIX", "must end with a slash")
	}
	return s
}

func (e *env) queues() Queues {
	return Queues{Chunks: e.must("TURNLEAF_CHUNK_QUEUE"), Polls: e.must("TURNLEAF_POLL_QUEUE")}
}

// times: the visibility time must outlive an invocation six times over, as AWS asks of queues that functions read.
func (e *env) times() Times {
	t := Times{
		Function: e.seconds("TURNLEAF_FUNCTION_SECONDS", 30, 1, 900), Visibility: e.seconds("TURNLEAF_VISIBILITY_SECONDS", 180, 6, 43200),
		Tick: e.seconds("TURNLEAF_TICK_SECONDS", 60, 1, 3600), Archive: e.days("TURNLEAF_ARCHIVE_DAYS"),
		Records: e.days("TURNLEAF_RECORD_DAYS"),
	}
	if t.Visibility < 6*t.Function {
		e.fail("TURNLEAF_VISIBILITY_SECONDS", "is %s: at least six times TURNLEAF_FUNCTION_SECONDS, %s", t.Visibility, 6*t.Function)
	}
	return t
}

// or reads a variable that has a default.
func (e *env) or(name, fallback string) string {
	if v := e.get(name); v != "" {
		return v
	}
	return fallback
}

// metrics: a namespace is CloudWatch's to judge, but for its own, which takes nobody else's numbers.
func (e *env) metrics() Metrics {
	m := Metrics{
		Namespace: e.or("TURNLEAF_NAMESPACE", "Turnleaf"), Service: e.or("TURNLEAF_SERVICE", "turnleaf"),
		By: MetricsBy(e.or("TURNLEAF_METRICS", string(ByStream))),
	}
	if strings.HasPrefix(m.Namespace, "AWS/") {
		e.fail("TURNLEAF_NAMESPACE", "begins with AWS/, which is CloudWatch's own")
	}
	switch m.By {
	case ByStream, ByService, Off:
	default:
		e.fail("TURNLEAF_METRICS", "is %.20q: stream, service or off", m.By)
	}
	return m
}

func (e *env) level() (l slog.Level) {
	text := e.get("TURNLEAF_LOG")
	if text == "" {
		return slog.LevelInfo
	}
	if err := l.UnmarshalText([]byte(text)); err != nil {
		e.fail("TURNLEAF_LOG", "is %.20q: debug, info, warn or error", text)
	}
	return l
}

// ParseWorker reads the configuration of poll and apply.
func ParseWorker(getenv func(string) string) (Worker, error) {
	e := &env{get: getenv}
	w := Worker{Stores: e.stores(), Queues: e.queues(), Times: e.times(), Metrics: e.metrics(), Log: e.level(), Streams: getenv("TURNLEAF_STREAMS")}
	if w.Streams == "" {
		w.Streams = "streams"
		if root := getenv("LAMBDA_TASK_ROOT"); root != "" {
			w.Streams = root + "/streams"
		}
	}
	return w, errors.Join(e.errs...)
}

// ParseReview reads the configuration of review.
func ParseReview(getenv func(string) string) (Review, error) {
	e := &env{get: getenv}
	return Review{Stores: e.stores(), Queues: e.queues(), Times: e.times(), Metrics: e.metrics(), Log: e.level()}, errors.Join(e.errs...)
}
