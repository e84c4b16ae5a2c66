package deploy

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/turnleaf/turnleaf/localstack/emulator"
)

// Config makes clients of an emulated cloud.
func Config(endpoint string) aws.Config {
	return aws.Config{
		Region: Region, Credentials: credentials.NewStaticCredentialsProvider(Key, Secret, ""), BaseEndpoint: aws.String(endpoint),
		HTTPClient: &http.Client{Timeout: callTimeout},
	}
}

// Outputs reads what a stack says of itself, by the names of the template's outputs.
func Outputs(ctx context.Context, c aws.Config, stack string) (map[string]string, error) {
	out, err := cloudformation.NewFromConfig(c).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil {
		return nil, fmt.Errorf("read stack %s: %w", stack, err)
	}
	found := map[string]string{}
	for _, s := range out.Stacks {
		for _, o := range s.Outputs {
			found[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		}
	}
	return found, nil
}

// Tick invokes poll as the schedule does, and does not wait for what it does.
func Tick(ctx context.Context, endpoint, pollFunction string) error {
	if err := call(ctx, http.MethodPost, endpoint+"/2015-03-31/functions/"+pollFunction+"/invocations", struct{}{}, nil); err != nil {
		return fmt.Errorf("invoke %s: %w", pollFunction, err)
	}
	return nil
}

// startWait bounds how long an emulator may take to answer; it takes about three seconds.
const startWait = time.Minute

// Ready waits until the emulator answers.
func Ready(ctx context.Context, p *emulator.Process) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		err := call(ctx, http.MethodGet, p.Endpoint+"/2015-03-31/functions/", nil, nil)
		if err == nil {
			return nil
		}
		if p.Ended() {
			return fmt.Errorf("the emulator ended at once; it said: %s", p.Said(2000))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the emulator does not answer at %s: %w", p.Endpoint, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
