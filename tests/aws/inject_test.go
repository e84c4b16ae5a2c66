package aws

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/fault/awsfault"
)

// injector sits around each call and each attempt of the SDK (see awsfault), and counts them.
type injector struct {
	mu sync.Mutex
	// call sees a call's input and answers it, by next or by itself.
	call func(op string, in any, next func(in any) (any, error)) (any, error)
	// attempt goes around one attempt.
	attempt func(op string, next func() error) error
	calls   map[string]int
	// attempts counts them by operation, and tokens lists the ClientRequestToken of each.
	attempts map[string]int
	tokens   []string
}

func (j *injector) install(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, (&awsfault.Injector{Call: j.aroundCall, Attempt: j.aroundAttempt}).Install)
}

func (j *injector) aroundCall(ctx context.Context, op string, in any, next func(context.Context, any) (any, error)) (any, error) {
	j.mu.Lock()
	j.calls[op]++
	j.mu.Unlock()
	if j.call == nil {
		return next(ctx, in)
	}
	return j.call(op, in, func(in any) (any, error) { return next(ctx, in) })
}

func (j *injector) aroundAttempt(_ context.Context, op string, request any, next func() error) error {
	j.mu.Lock()
	j.attempts[op]++
	if op == "TransactWriteItems" {
		j.tokens = append(j.tokens, requestToken(request))
	}
	j.mu.Unlock()
	if j.attempt == nil {
		return next()
	}
	return j.attempt(op, next)
}

// requestToken reads a request's ClientRequestToken as it goes over the wire.
func requestToken(request any) string {
	req, ok := request.(*smithyhttp.Request)
	if !ok {
		return ""
	}
	body, _ := io.ReadAll(req.GetStream()) // a body in memory
	if err := req.RewindStream(); err != nil {
		return err.Error()
	}
	var in struct{ ClientRequestToken string }
	if err := json.Unmarshal(body, &in); err != nil {
		return err.Error()
	}
	return in.ClientRequestToken
}

// count is how many calls, or attempts, of an operation there were.
func (j *injector) count(m map[string]int, op string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return m[op]
}

// bench is a store with an injector in its client, and the same tables seen without.
type bench struct {
	*testing.T
	*injector
	store, clean *ddbstate.Store
	waits        int
}

// rigged makes a bench on tables of its own; retries is how often the SDK tries, 1 for no retry.
func rigged(t *testing.T, retries int) *bench {
	t.Helper()
	b := &bench{T: t, injector: &injector{calls: map[string]int{}, attempts: map[string]int{}}}
	tables := cloud.Tables(t)
	client := cloud.DynamoDB(b.install, func(o *dynamodb.Options) {
		o.RetryMaxAttempts = retries
		o.Retryer = awsfault.Quick{Retryer: o.Retryer}
	})
	wait := func(context.Context, time.Duration) error { b.waits++; return nil }
	b.store = ddbstate.New(client, tables, ddbstate.Options{Wait: wait})
	b.clean = ddbstate.New(cloud.DynamoDB(), tables, ddbstate.Options{})
	return b
}

// on makes an attempt hook: the n-th attempts of op (from 1) get do, all others pass.
func on(op string, do func(n int, next func() error) error) func(string, func() error) error {
	var mu sync.Mutex
	n := 0
	return func(got string, next func() error) error {
		if got != op {
			return next()
		}
		mu.Lock()
		n++
		mine := n
		mu.Unlock()
		return do(mine, next)
	}
}

// always fails every attempt of op with err; once fails the first.
func always(op string, err error) func(string, func() error) error {
	return on(op, func(int, func() error) error { return err })
}

func once(op string, err error) func(string, func() error) error {
	return on(op, func(n int, next func() error) error {
		if n == 1 {
			return err
		}
		return next()
	})
}

// lost makes the first attempt of op happen and its answer vanish on the way.
func lost(op string) func(string, func() error) error {
	return on(op, func(n int, next func() error) error {
		err := next()
		if n == 1 && err == nil {
			return &smithyhttp.RequestSendError{Err: errors.New("connection reset by peer")}
		}
		return err
	})
}

// cancelled is a cancelled transaction with a code per item.
func cancelled(codes ...string) error {
	e := &types.TransactionCanceledException{Message: aws.String("cancelled")}
	for _, c := range codes {
		e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(c)})
	}
	return e
}

// faults are what the service answers when it is busy or broken: none of them says anything about a condition.
func faults() map[string]error {
	return map[string]error{
		"ProvisionedThroughputExceeded": &types.ProvisionedThroughputExceededException{},
		"RequestLimitExceeded":          &types.RequestLimitExceeded{},
		"Throttling":                    &types.ThrottlingException{},
		"InternalServerError":           &types.InternalServerError{},
		"TransactionInProgress":         &types.TransactionInProgressException{},
		"IdempotentParameterMismatch":   &types.IdempotentParameterMismatchException{},
		"TransactionConflict":           &types.TransactionConflictException{},
		"TimeOut":                       context.DeadlineExceeded,
	}
}
