package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/turnleaf/turnleaf/localstack/emulator"
)

// Stack is a cloud to test on.
type Stack struct {
	// Config makes clients: region, credentials and endpoint are set.
	Config aws.Config
	// Endpoint is the emulator's address; empty on AWS.
	Endpoint string
	// Prefix begins the name of whatever a test makes, so that two runs on one cloud never meet.
	Prefix   string
	emulator *emulator.Process
}

// Real reports that the stack is AWS itself.
func (s *Stack) Real() bool { return s.Endpoint == "" }

// Open finds or starts a cloud.
func Open(ctx context.Context) (*Stack, error) { return open(ctx, hasTables) }

// OpenObjects is Open for a cloud that needs S3 and SQS only: an emulator without DynamoDB will do.
func OpenObjects(ctx context.Context) (*Stack, error) { return open(ctx, hasBuckets) }

// hasTables and hasBuckets are the first answers that are waited for.
func hasTables(ctx context.Context, s *Stack) error {
	_, err := s.DynamoDB(func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }).ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(1)})
	return err
}

func hasBuckets(ctx context.Context, s *Stack) error {
	_, err := s.S3(func(o *s3.Options) { o.RetryMaxAttempts = 1 }).ListBuckets(ctx, &s3.ListBucketsInput{})
	return err
}

func open(ctx context.Context, answers func(context.Context, *Stack) error) (*Stack, error) {
	s := &Stack{Prefix: "turnleaf-test-" + strings.ToLower(rand.Text()[:8])}
	if os.Getenv("TURNLEAF_AWS_REAL") == "1" {
		return s, s.real(ctx)
	}
	if s.Endpoint = os.Getenv("AWS_ENDPOINT_URL"); s.Endpoint == "" {
		var err error
		if s.emulator, err = emulator.Start(emulator.Options{}); err != nil {
			return nil, err
		}
		s.Endpoint = s.emulator.Endpoint
	}
	s.Config = aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), BaseEndpoint: aws.String(s.Endpoint),
		HTTPClient: steady{awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.DisableKeepAlives = true })},
	}
	if err := s.ready(ctx, answers); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stack) real(ctx context.Context) (err error) {
	if os.Getenv("AWS_ENDPOINT_URL") != "" {
		return errors.New("TURNLEAF_AWS_REAL and AWS_ENDPOINT_URL are both set: unset one")
	}
	if s.Config, err = config.LoadDefaultConfig(ctx); err != nil {
		return fmt.Errorf("load AWS configuration: %w", err)
	}
	if _, err = s.Config.Credentials.Retrieve(ctx); err != nil {
		return fmt.Errorf("TURNLEAF_AWS_REAL=1 needs AWS credentials: %w", err)
	}
	return nil
}

// startWait bounds how long an emulator may take to answer; it takes about three seconds.
const startWait = time.Minute

// ready waits for the first answer.
func (s *Stack) ready(ctx context.Context, answers func(context.Context, *Stack) error) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		err := answers(ctx, s)
		if err == nil {
			return nil
		}
		if s.emulator != nil && s.emulator.Ended() {
			return fmt.Errorf("the emulator ended at once; it said: %s", s.emulator.Said(2000))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nothing answers at %s: %w", s.Endpoint, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// DynamoDB makes a client.
func (s *Stack) DynamoDB(opts ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.NewFromConfig(s.Config, opts...)
}

// S3 makes a client; an emulator has no host name per bucket.
func (s *Stack) S3(opts ...func(*s3.Options)) *s3.Client {
	return s3.NewFromConfig(s.Config, append([]func(*s3.Options){func(o *s3.Options) { o.UsePathStyle, o.DisableLogOutputChecksumValidationSkipped = !s.Real(), true }}, opts...)...)
}

// Close stops what Open started.
func (s *Stack) Close() error {
	if s.emulator == nil {
		return nil
	}
	return s.emulator.Stop()
}
