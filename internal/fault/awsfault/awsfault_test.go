package awsfault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/fault/awsfault"
)

// service answers DynamoDB's calls with nothing, and keeps the token of each transaction.
type service struct {
	mu     sync.Mutex
	tokens []string
	calls  int
	keys   int
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	var in struct {
		ClientRequestToken string
		RequestItems       map[string]struct{ Keys []any }
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.tokens = append(s.tokens, in.ClientRequestToken)
	for _, t := range in.RequestItems {
		s.keys += len(t.Keys)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_, _ = io.WriteString(w, "{}") // a client that went away is not our matter
}

// bench is a client whose calls a process's faults strike, and the service behind it.
func bench(t *testing.T, tries int, o fault.Outcome) (*dynamodb.Client, *service, *fault.Process) {
	t.Helper()
	s := &service{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	p := fault.New(func(fault.Call) fault.Outcome { return o })
	config := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), BaseEndpoint: &server.URL}
	return dynamodb.NewFromConfig(config, func(opts *dynamodb.Options) {
		opts.APIOptions = append(opts.APIOptions, awsfault.Of(p).Install)
		opts.RetryMaxAttempts, opts.Retryer = tries, awsfault.Quick{Retryer: opts.Retryer}
	}), s, p
}

func transact(ctx context.Context, c *dynamodb.Client) error {
	put := &types.Put{TableName: aws.String("t"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "k"}}}
	_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("mine"), TransactItems: []types.TransactWriteItem{{Put: put}, {Put: put}}})
	return err
}

// How often each outcome lets a transaction through, with one try of the SDK and with two, and what the caller hears.
func TestOutcomesOfATransaction(t *testing.T) {
	t.Parallel()
	var throttled *types.ProvisionedThroughputExceededException
	var cancelled *types.TransactionCanceledException
	for _, c := range []struct {
		outcome    fault.Outcome
		tries      int
		calls      int
		hears      func(error) bool
		lastTokens []string
	}{
		{fault.None, 1, 1, isNil, []string{"mine"}},
		{fault.ErrorBefore, 1, 0, notNil, nil},
		{fault.ErrorBefore, 2, 1, isNil, []string{"mine"}},
		{fault.ErrorAfter, 1, 1, notNil, []string{"mine"}},
		{fault.ErrorAfter, 2, 2, isNil, []string{"mine", "mine"}},
		{fault.RefusedAfter, 1, 2, isNil, []string{"mine", "echo-mine"}}, // this service has no conditions
		{fault.CrashBefore, 2, 0, isDead, nil},
		{fault.CrashAfter, 2, 1, isDead, []string{"mine"}},
		{fault.Throttled, 1, 0, func(err error) bool { return errors.As(err, &throttled) }, nil},
		{fault.Throttled, 2, 1, isNil, []string{"mine"}},
		{fault.Conflict, 2, 0, func(err error) bool {
			return errors.As(err, &cancelled) && len(cancelled.CancellationReasons) == 2 && *cancelled.CancellationReasons[1].Code == "TransactionConflict"
		}, nil},
		{fault.Unprocessed, 1, 0, notNil, nil},
		{fault.Frozen, 1, 1, isNil, []string{"mine"}},
		{fault.Deadline, 2, 0, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, nil},
	} {
		t.Run(fmt.Sprint(c.outcome, c.tries), func(t *testing.T) {
			t.Parallel()
			client, service, p := bench(t, c.tries, c.outcome)
			if err := transact(t.Context(), client); !c.hears(err) {
				t.Errorf("heard %v", err)
			}
			if service.calls != c.calls || !slices.Equal(service.tokens, c.lastTokens) {
				t.Errorf("%d calls, tokens %v; want %d, %v", service.calls, service.tokens, c.calls, c.lastTokens)
			}
			if got := p.Calls(); len(got) != 1 || got[0].Site != "TransactWriteItems" || !got[0].Write || p.Dead() != c.outcome.Crash() {
				t.Errorf("calls %v, dead %v", got, p.Dead())
			}
		})
	}
}

func isNil(err error) bool  { return err == nil }
func notNil(err error) bool { return err != nil }
func isDead(err error) bool { return errors.Is(err, fault.ErrDead) }

// After a crash nothing more is sent.
func TestTheDeadSendNothing(t *testing.T) {
	t.Parallel()
	client, service, p := bench(t, 2, fault.None)
	p.Kill()
	if err := transact(t.Context(), client); !isDead(err) || service.calls != 0 {
		t.Errorf("heard %v after %d calls", err, service.calls)
	}
}

// Half of the keys are read, the others come back as unprocessed.
func TestUnprocessedKeys(t *testing.T) {
	t.Parallel()
	client, service, _ := bench(t, 1, fault.Unprocessed)
	var keys []map[string]types.AttributeValue
	for _, k := range []string{"a", "b", "c", "d", "e"} {
		keys = append(keys, map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: k}})
	}
	in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"t": {Keys: keys}}}
	out, err := client.BatchGetItem(t.Context(), in)
	if err != nil || service.keys != 2 || len(out.UnprocessedKeys["t"].Keys) != 3 || len(in.RequestItems["t"].Keys) != 5 {
		t.Errorf("%v: %d keys read, %v", err, service.keys, out)
	}
}

// A site is the port's and the operation.
func TestSites(t *testing.T) {
	t.Parallel()
	if got := awsfault.Site(t.Context(), "PutItem"); got != "PutItem" {
		t.Errorf("outside of any port: %q", got)
	}
	for site, want := range map[string]bool{"read/page GetItem": false, "promote PutItem": true, "send SendMessageBatch": false} {
		if got := slices.Contains(awsfault.Outcomes(site), fault.RefusedAfter); got != want {
			t.Errorf("%s can be refused: %v", site, got)
		}
	}
}
