package ddbstate

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// API is what this package asks of DynamoDB; *dynamodb.Client has it. Time-outs, retries and the endpoint are the client's.
type API interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(ctx context.Context, in *dynamodb.ScanInput, opts ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Tables names the three tables.
type Tables struct{ Streams, Receipts, Projections string }

// Options change how a store waits; the zero value is right.
type Options struct {
	// Wait sleeps between the tries of one call, or returns the context's error.
	Wait func(ctx context.Context, d time.Duration) error
	// Random gives a number in [0, 1), so that those who met once do not meet again.
	Random func() float64
}

// Store is the three tables. Its methods may be called concurrently and from any number of processes.
type Store struct {
	api    API
	tables Tables
	wait   func(ctx context.Context, d time.Duration) error
	random func() float64
}

var _ handoff.State = (*Store)(nil)

// New makes a store of tables that exist.
func New(api API, t Tables, o Options) *Store {
	s := &Store{api: api, tables: t, wait: o.Wait, random: o.Random}
	if s.wait == nil {
		s.wait = sleep
	}
	if s.random == nil {
		s.random = rand.Float64
	}
	return s
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// tries bounds the tries of one call over what the SDK does not retry: keys that came back unprocessed, and documents that others
// were writing.
const tries = 8

// pause waits before another try: up to 10 ms, 20 ms, … 640 ms, at random.
func (s *Store) pause(ctx context.Context, try int) error {
	if try == tries-1 {
		return nil // there is no other
	}
	return s.wait(ctx, time.Duration(s.random()*float64(10*time.Millisecond<<try)))
}
