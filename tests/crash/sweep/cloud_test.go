package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/fault/awsfault"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/s3archive"
	"github.com/turnleaf/turnleaf/internal/sqsqueue"
	"github.com/turnleaf/turnleaf/tests/aws/stack"
)

// Single faults on DynamoDB, S3 and SQS, inside the SDK: every site with one outcome at one of its calls, by the seed; with
// TURNLEAF_SWEEP=all with every outcome.
func TestCloud(t *testing.T) {
	t.Parallel()
	cloud, err := stack.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	bucket := cloud.Bucket(t)
	count, met := newTally(), map[string]bool{} // sites, and with TURNLEAF_SWEEP=all each with each outcome
	if j, ok := asked(t); ok {
		onePlay(t, cloud, bucket, j, count)
		return
	}
	t.Run("all", func(t *testing.T) {
		for _, kind := range []handoff.EffectKind{handoff.Transactional, handoff.Unsafe} {
			jobs := clouds(t, cloud, bucket, kind, met)
			for shard := range 2 {
				t.Run(fmt.Sprintf("%s/%d", kind, shard), func(t *testing.T) {
					t.Parallel()
					for i := shard; i < len(jobs); i += 2 {
						onePlay(t, cloud, bucket, jobs[i], count)
					}
				})
			}
		}
	})
	count.log(t, fmt.Sprintf("single faults on AWS, seed %d", seed()))
	count.complete(t)
}

func onePlay(t *testing.T, cloud *stack.Stack, bucket string, j job, count *tally) {
	t.Helper()
	p := onCloud(t, cloud, bucket, j)
	count.add(p.struck)
	if p.broke > 0 {
		t.Logf("%s: the emulator broke %d answers off by itself", j, p.broke)
	}
	if len(p.wrong) > 0 {
		t.Fatalf("%s\n\t%s\nreplay: %s", j, strings.Join(p.wrong, "\n\t"), j.replay("TestCloud"))
	}
}

// clouds plays the story without a fault and gives the jobs for the sites that it met and that were not met before.
func clouds(t *testing.T, cloud *stack.Stack, bucket string, kind handoff.EffectKind, met map[string]bool) (jobs []job) {
	t.Helper()
	p := onCloud(t, cloud, bucket, job{story: long, kind: kind})
	if len(p.wrong) > 0 {
		t.Fatalf("without a fault: %v", p.wrong)
	}
	nth, bySite := map[string]int{}, map[string][]job{}
	for _, c := range p.calls {
		nth[c.Site]++
		for _, o := range cloudOutcomes(c) {
			of := c.Site
			if all("TURNLEAF_SWEEP") {
				of += string(o)
			}
			bySite[of] = append(bySite[of], job{long, kind, []strike{{nth[c.Site], o, c.Site}}})
		}
	}
	for of, some := range bySite {
		if site := some[0].strikes[0].site; !met[of] {
			met[of], met[site] = true, true
			jobs = append(jobs, slices.MinFunc(some, func(a, b job) int { return cmp.Compare(rank(a), rank(b)) }))
		}
	}
	return jobs
}

func cloudOutcomes(c fault.Call) []fault.Outcome {
	if c.Site == "ask" || c.Site == "call" {
		return c.Outcomes()
	}
	return append(awsfault.Outcomes(c.Site), frozenWhile, frozenLong)
}

// onCloud plays a job on tables, queues and a folder of its own. The SDK tries once or thrice, by the job: what its retry heals the adapters
// never see.
func onCloud(t *testing.T, cloud *stack.Stack, bucket string, j job) *player {
	t.Helper()
	ctx := context.Background()
	p := newPlayer(ctx, j)
	tables, mail := cloud.Tables(t), newMailbox(t, cloud, p.clock)
	folder := tables.Streams + "/"
	attempts := 1 + 2*int(rank(j)%2)
	build := func(life *fault.Process) ports {
		install := &awsfault.Injector{}
		if life != nil {
			install = awsfault.Of(life)
		}
		db := cloud.DynamoDB(func(o *dynamodb.Options) {
			o.APIOptions = append(o.APIOptions, install.Install)
			o.RetryMaxAttempts, o.Retryer = attempts, awsfault.Quick{Retryer: o.Retryer}
		})
		objects := cloud.S3(func(o *s3.Options) {
			o.APIOptions = append(o.APIOptions, install.Install)
			o.RetryMaxAttempts, o.Retryer = attempts, awsfault.Quick{Retryer: o.Retryer}
		})
		messages := sqs.NewFromConfig(cloud.Config, func(o *sqs.Options) {
			o.APIOptions = append(o.APIOptions, install.Install)
			o.RetryMaxAttempts, o.Retryer = attempts, awsfault.Quick{Retryer: o.Retryer}
		})
		noWait := func(context.Context, time.Duration) error { return nil }
		return ports{ddbstate.New(db, tables, ddbstate.Options{Wait: noWait}), s3archive.New(objects, bucket, folder), sqsqueue.New(messages, mail.chunks, mail.polls)}
	}
	p.clean, p.mail = build(nil), mail
	p.watch = newWatch(p.clean.state, p.clean.archive)
	p.clean.state = watched{p.clean.state, p.watch}
	p.wire = func(life *fault.Process) ports {
		at, names := build(life), fault.Naming()
		return ports{names.State(watched{at.state, p.watch}), names.Archive(at.archive), names.Queue(at.queue)}
	}
	p.play()
	p.judge()
	return p
}
