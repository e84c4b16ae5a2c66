// Package awsfault breaks AWS calls on purpose, inside the SDK's own stack: what it injects, the SDK and the adapters treat as they would
// the service's own answer.
package awsfault

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// Injector sits around each call, before the SDK's retries, and around each attempt, below them. A nil hook lets all pass.
type Injector struct {
	// Call sees a call's operation and input, and answers it, by next or by itself.
	Call func(ctx context.Context, op string, in any, next func(context.Context, any) (any, error)) (any, error)
	// Attempt goes around one attempt; request is what goes over the wire.
	Attempt func(ctx context.Context, op string, request any, next func() error) error
}

// Install is an APIOption of any client.
func (j *Injector) Install(s *middleware.Stack) error {
	// After what fills the input in: the injected answer must look like a whole call's.
	if err := s.Initialize.Add(middleware.InitializeMiddlewareFunc("InjectCall", j.aroundCall), middleware.After); err != nil {
		return err
	}
	return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("InjectAttempt", j.aroundAttempt), "Retry", middleware.After)
}

func (j *Injector) aroundCall(ctx context.Context, in middleware.InitializeInput, h middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	if j.Call == nil {
		return h.HandleInitialize(ctx, in)
	}
	var meta middleware.Metadata
	next := func(ctx context.Context, params any) (any, error) {
		out, m, err := h.HandleInitialize(ctx, middleware.InitializeInput{Parameters: params})
		meta = m
		return out.Result, err
	}
	out, err := j.Call(ctx, middleware.GetOperationName(ctx), in.Parameters, next)
	return middleware.InitializeOutput{Result: out}, meta, err
}

func (j *Injector) aroundAttempt(ctx context.Context, in middleware.FinalizeInput, h middleware.FinalizeHandler) (out middleware.FinalizeOutput, meta middleware.Metadata, err error) {
	next := func() error {
		out, meta, err = h.HandleFinalize(ctx, in)
		return err
	}
	if j.Attempt == nil {
		return out, meta, next()
	}
	err = j.Attempt(ctx, middleware.GetOperationName(ctx), in.Request, next)
	return out, meta, err
}

// Quick retries as its Retryer does, without the waits.
type Quick struct{ aws.Retryer }

// RetryDelay is none.
func (Quick) RetryDelay(int, error) (time.Duration, error) { return 0, nil }
