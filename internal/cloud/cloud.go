// Package cloud joins the AWS adapters to one engine: what the functions share, and what the command line uses against a deployed
// stack. Clients are made once a process, and used by every invocation.
package cloud

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/s3archive"
	"github.com/turnleaf/turnleaf/internal/sqsqueue"
)

// Retries of one SDK call. Three tries ride out a blip; more would only hide a throttle from the protocol, which has its own waits and
// its own sense of what is unknown. The longest pause stays far below a function's life.
const (
	maxTries   = 3
	maxBackoff = 2 * time.Second
)

// callTimeout bounds one HTTP request: a connection that died is noticed while there is time for another try.
const callTimeout = 5 * time.Second

// marginOf is what an invocation keeps to end in order: a tenth of its life, from half a second to five.
func marginOf(life time.Duration) time.Duration {
	return min(max(life/10, 500*time.Millisecond), 5*time.Second)
}

// LoadAWS reads region, credentials and endpoints from the environment (AWS_ENDPOINT_URL points it at an emulator).
func LoadAWS(ctx context.Context) (aws.Config, error) {
	client := awshttp.NewBuildableClient().WithTimeout(callTimeout).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = 64 // one function settles several lanes' chunks over few connections, and keeps them
	})
	c, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithHTTPClient(client), awsconfig.WithRetryer(func() aws.Retryer {
		return retry.AddWithMaxBackoffDelay(retry.AddWithMaxAttempts(retry.NewStandard(), maxTries), maxBackoff)
	}))
	if err != nil {
		return c, fmt.Errorf("load AWS configuration: %w", err)
	}
	return c, nil
}

// Stores makes state and archive.
func Stores(c aws.Config, s config.Stores) (*ddbstate.Store, *s3archive.Archive) {
	tables := ddbstate.Tables{Streams: s.StreamsTable, Receipts: s.ReceiptsTable, Projections: s.ProjectionsTable}
	state := ddbstate.New(dynamodb.NewFromConfig(c), tables, ddbstate.Options{})
	bucket := s3.NewFromConfig(c, func(o *s3.Options) {
		o.UsePathStyle = c.BaseEndpoint != nil // emulators have no names for buckets
		// Parts of objects have no checksum of S3's, and the SDK would print a line for every one. The protocol checks its own digests.
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	return state, s3archive.New(bucket, s.Bucket, s.Prefix)
}

// Timing translates what the deployment promises. The drive lease outlives the visibility time: before that a message may still come
// back by itself.
func Timing(t config.Times) handoff.Timing {
	out := handoff.DefaultTiming()
	out.Tick, out.FunctionLife, out.Margin, out.ArchiveLife = t.Tick, t.Function, marginOf(t.Function), t.Archive
	out.RecordLife = t.Records
	out.DriveLease = t.Visibility + t.Visibility/9
	out.MaxDriveLease = max(out.MaxDriveLease, out.DriveLease)
	return out
}

// Engine joins everything.
func Engine(c aws.Config, s config.Stores, q config.Queues, t config.Times, o handoff.Observer) (*handoff.Engine, *ddbstate.Store) {
	state, archive := Stores(c, s)
	return handoff.New(handoff.Deps{
		State: state, Archive: archive, Queue: sqsqueue.New(sqs.NewFromConfig(c), q.Chunks, q.Polls),
		Clock: wallClock{}, IDs: randomIDs{}, Observer: o, Timing: Timing(t),
	}), state
}

// MeterOf is where a function's numbers go, and under which names.
func MeterOf(out io.Writer, m config.Metrics, t handoff.Timing) Meter {
	meter := Meter{Out: out, Namespace: m.Namespace, Service: m.Service, ByStream: m.By == config.ByStream, Slow: t.DriveLease}
	if m.By == config.Off {
		meter.Out = nil
	}
	return meter
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now().UTC() }

// randomIDs gives 128 random bits as text.
type randomIDs struct{}

func (randomIDs) New() string { return rand.Text() }
