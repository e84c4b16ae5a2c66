package config

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

func whole() map[string]string {
	return map[string]string{
		"TURNLEAF_STREAMS_TABLE": "s", "TURNLEAF_RECEIPTS_TABLE": "r", "TURNLEAF_PROJECTIONS_TABLE": "p", "TURNLEAF_BUCKET": "b",
		"TURNLEAF_CHUNK_QUEUE": "cq", "TURNLEAF_POLL_QUEUE": "pq",
	}
}

func getenv(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func TestDefaults(t *testing.T) {
	t.Parallel()
	m := whole()
	m["LAMBDA_TASK_ROOT"], m["TURNLEAF_ARCHIVE_DAYS"] = "/var/task", "90"
	w, err := ParseWorker(getenv(m))
	if err != nil {
		t.Fatal(err)
	}
	want := Worker{
		Stores: Stores{StreamsTable: "s", ReceiptsTable: "r", ProjectionsTable: "p", Bucket: "b"}, Queues: Queues{Chunks: "cq", Polls: "pq"},
		Times: Times{Function: 30 * time.Second, Visibility: 3 * time.Minute, Tick: time.Minute, Archive: 90 * 24 * time.Hour}, Streams: "/var/task/streams", Log: slog.LevelInfo,
		Metrics: Metrics{Namespace: "Turnleaf", Service: "turnleaf", By: ByStream},
	}
	if w != want {
		t.Errorf("got %+v, want %+v", w, want)
	}
}

// One error names every bad variable, so that a deployment is mended once.
func TestEveryBadVariableIsNamed(t *testing.T) {
	t.Parallel()
	m := map[string]string{
		"TURNLEAF_BUCKET": "b", "TURNLEAF_PREFIX": "no-slash", "TURNLEAF_FUNCTION_SECONDS": "soon", "TURNLEAF_VISIBILITY_SECONDS": "30",
		"TURNLEAF_TICK_SECONDS": "0", "TURNLEAF_LOG": "loud", "TURNLEAF_NAMESPACE": "AWS/SQS", "TURNLEAF_METRICS": "some", "TURNLEAF_ARCHIVE_DAYS": "-1", "TURNLEAF_RECORD_DAYS": "x",
	}
	_, workerErr := ParseWorker(getenv(m))
	_, reviewErr := ParseReview(getenv(m))
	for _, err := range []error{workerErr, reviewErr} {
		if err == nil {
			t.Fatal("a broken environment was taken")
		}
		for _, name := range []string{
			"TURNLEAF_STREAMS_TABLE", "TURNLEAF_RECEIPTS_TABLE", "TURNLEAF_PROJECTIONS_TABLE", "TURNLEAF_PREFIX", "TURNLEAF_CHUNK_QUEUE",
			"TURNLEAF_POLL_QUEUE", "TURNLEAF_FUNCTION_SECONDS", "TURNLEAF_TICK_SECONDS", "TURNLEAF_LOG", "TURNLEAF_NAMESPACE", "TURNLEAF_METRICS", "TURNLEAF_ARCHIVE_DAYS", "TURNLEAF_RECORD_DAYS",
		} {
			if !strings.Contains(err.Error(), name+": ") {
				t.Errorf("%s is not named in:\n%v", name, err)
			}
		}
		if strings.Contains(err.Error(), "TURNLEAF_BUCKET") {
			t.Errorf("a good variable is named:\n%v", err)
		}
	}
}

// AWS asks for six times the function's time-out: less, and a message comes again while its first delivery is at work.
func TestVisibilityOutlivesTheFunction(t *testing.T) {
	t.Parallel()
	m := whole()
	m["TURNLEAF_FUNCTION_SECONDS"] = "60"
	if _, err := ParseWorker(getenv(m)); err == nil || !strings.Contains(err.Error(), "TURNLEAF_VISIBILITY_SECONDS") {
		t.Errorf("180 s of visibility for a function of 60 s: %v", err)
	}
	m["TURNLEAF_VISIBILITY_SECONDS"] = "360"
	if _, err := ParseWorker(getenv(m)); err != nil {
		t.Error(err)
	}
}
