package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// deployed names a deployed stack: by its CloudFormation name, whose outputs say the rest, or part by part. With any of them the commands
// of an operator work on that stack, and the data folder is left alone.
type deployed struct {
	Stack            string `help:"The CloudFormation stack; its outputs name the parts below." env:"TURNLEAF_STACK" placeholder:"NAME" group:"A deployed stack:"`
	StreamsTable     string `help:"DynamoDB table of streams." env:"TURNLEAF_STREAMS_TABLE" placeholder:"TABLE" group:"A deployed stack:"`
	ReceiptsTable    string `help:"DynamoDB table of receipts." env:"TURNLEAF_RECEIPTS_TABLE" placeholder:"TABLE" group:"A deployed stack:"`
	ProjectionsTable string `help:"DynamoDB table of documents." env:"TURNLEAF_PROJECTIONS_TABLE" placeholder:"TABLE" group:"A deployed stack:"`
	Bucket           string `help:"S3 bucket of the archive." env:"TURNLEAF_BUCKET" placeholder:"BUCKET" group:"A deployed stack:"`
	Prefix           string `help:"Where in the bucket; ends with a slash." env:"TURNLEAF_PREFIX" placeholder:"PREFIX/" group:"A deployed stack:"`
	ChunkQueue       string `help:"URL of the chunk queue." env:"TURNLEAF_CHUNK_QUEUE" placeholder:"URL" group:"A deployed stack:"`
	PollQueue        string `help:"URL of the continuation queue." env:"TURNLEAF_POLL_QUEUE" placeholder:"URL" group:"A deployed stack:"`
}

// given reports that the command line or the environment names a deployed stack.
func (d deployed) given() bool { return d != deployed{} }

// flags name the same stack again, for commands that people are told to run.
func (d deployed) flags() (flags []string) {
	for _, f := range []struct{ name, value string }{
		{"--stack", d.Stack}, {"--streams-table", d.StreamsTable}, {"--receipts-table", d.ReceiptsTable}, {"--projections-table", d.ProjectionsTable},
		{"--bucket", d.Bucket}, {"--prefix", d.Prefix}, {"--chunk-queue", d.ChunkQueue}, {"--poll-queue", d.PollQueue},
	} {
		if f.value != "" {
			flags = append(flags, f.name, f.value)
		}
	}
	return flags
}

// outputs are the stack's outputs, as the template names them, and the variables they stand for.
var outputs = map[string]string{
	"StreamsTable": "TURNLEAF_STREAMS_TABLE", "ReceiptsTable": "TURNLEAF_RECEIPTS_TABLE", "ProjectionsTable": "TURNLEAF_PROJECTIONS_TABLE",
	"Bucket": "TURNLEAF_BUCKET", "Prefix": "TURNLEAF_PREFIX", "ChunkQueueUrl": "TURNLEAF_CHUNK_QUEUE", "PollQueueUrl": "TURNLEAF_POLL_QUEUE",
	"FunctionSeconds": "TURNLEAF_FUNCTION_SECONDS", "VisibilitySeconds": "TURNLEAF_VISIBILITY_SECONDS",
	"RecordDays": "TURNLEAF_RECORD_DAYS", "ArchiveDays": "TURNLEAF_ARCHIVE_DAYS",
}

// parts are what is given part by part; these win over outputs.
func (d deployed) parts() map[string]string {
	return map[string]string{
		"TURNLEAF_STREAMS_TABLE": d.StreamsTable, "TURNLEAF_RECEIPTS_TABLE": d.ReceiptsTable, "TURNLEAF_PROJECTIONS_TABLE": d.ProjectionsTable,
		"TURNLEAF_BUCKET": d.Bucket, "TURNLEAF_PREFIX": d.Prefix, "TURNLEAF_CHUNK_QUEUE": d.ChunkQueue, "TURNLEAF_POLL_QUEUE": d.PollQueue,
	}
}

// describer is what this program uses of CloudFormation.
type describer interface {
	DescribeStacks(ctx context.Context, in *cloudformation.DescribeStacksInput, opts ...func(*cloudformation.Options)) (*cloudformation.DescribeStacksOutput, error)
}

// readOutputs asks a stack for its parts.
func readOutputs(ctx context.Context, c describer, stack string) (map[string]string, error) {
	out, err := c.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil {
		return nil, fmt.Errorf("read stack %s: %w", stack, plain(err))
	}
	found := map[string]string{}
	for _, s := range out.Stacks {
		for _, o := range s.Outputs {
			if name, ok := outputs[aws.ToString(o.OutputKey)]; ok {
				found[name] = aws.ToString(o.OutputValue)
			}
		}
	}
	if len(found) == 0 {
		return nil, usagef("stack %s has none of Turnleaf's outputs: is it another one's?", stack)
	}
	return found, nil
}

// plain keeps what AWS said of an error, without the layers around it.
func plain(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		return fmt.Errorf("%s: %s", api.ErrorCode(), api.ErrorMessage())
	}
	return err
}

// settings joins flags, outputs and environment into what the functions are told, and names everything that is missing in one error.
func (d deployed) settings(getenv func(string) string, found map[string]string) (config.Review, error) {
	parts := d.parts()
	c, err := config.ParseReview(func(name string) string {
		for _, v := range []string{parts[name], found[name], getenv(name)} {
			if v != "" {
				return v
			}
		}
		return ""
	})
	if err != nil {
		return c, usagef("the stack is not whole: %s (each is a flag too, and --stack reads all of them from a stack's outputs)",
			strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return c, nil
}

// inCloud is the operator of a deployed stack: the API that its review function serves, in this process.
func (s *session) inCloud() (operator, error) {
	engine, state, err := s.cloudEngine()
	if err != nil {
		return nil, err
	}
	return apiOn(engine, state), nil
}

func apiOn(engine *handoff.Engine, state handoff.State) operator {
	api := reviewapi.New(reviewapi.Config{Engine: engine, State: state, Explain: true})
	return &reviewapi.Client{Base: "http://in.process", HTTP: reviewapi.InProcess(api)}
}

// cloudEngine joins this process to a deployed stack's tables and archive.
func (s *session) cloudEngine() (*handoff.Engine, handoff.State, error) {
	sdk, err := cloud.LoadAWS(s)
	if err != nil {
		return nil, nil, err
	}
	var found map[string]string
	if s.deployed.Stack != "" {
		if found, err = readOutputs(s, cloudformation.NewFromConfig(sdk), s.deployed.Stack); err != nil {
			return nil, nil, err
		}
	}
	c, err := s.deployed.settings(s.getenv, found)
	if err != nil {
		return nil, nil, err
	}
	if _, err := sdk.Credentials.Retrieve(s); err != nil {
		return nil, nil, fmt.Errorf("no AWS credentials: %w", plain(err))
	}
	engine, state := cloud.Engine(sdk, c.Stores, c.Queues, c.Times, nil)
	if _, err := state.Streams(s); err != nil && !errors.Is(err, handoff.ErrNotFound) {
		return nil, nil, fmt.Errorf("table %s: %w", c.StreamsTable, plain(err))
	}
	return engine, state, nil
}
