package awsfault

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/turnleaf/turnleaf/internal/fault"
)

// Of strikes a process's AWS calls. A site is the port's site and the operation: "promote PutItem"; outside of any port the operation
// alone. What a service says (throttled, a conflict) and a broken line strike the first attempt, so that the SDK's retry sees it.
func Of(p *fault.Process) *Injector {
	f := faults{p}
	return &Injector{Call: f.call, Attempt: f.attempt}
}

type faults struct{ p *fault.Process }

// plan is what the first attempt of a call meets.
type plan struct {
	outcome fault.Outcome
	items   int // of a transaction
	spent   bool
}

type planKey struct{}

// Site names a call: the port's site, if there is one, and the operation.
func Site(ctx context.Context, op string) string {
	if site := fault.SiteOf(ctx); site != "" {
		return site + " " + op
	}
	return op
}

// conditional are the writes that carry a condition; reads change nothing; many are the calls of which a part may be done.
var (
	conditional = []string{"PutItem", "UpdateItem", "TransactWriteItems", "PutObject"}
	reads       = []string{"GetItem", "BatchGetItem", "Query", "Scan", "GetObject", "ListObjectsV2"}
	many        = []string{"BatchGetItem", "BatchWriteItem", "SendMessageBatch"}
)

// Outcomes lists the outcomes that differ at a call of the operation at the end of a site.
func Outcomes(site string) []fault.Outcome {
	op := site[strings.LastIndexByte(site, ' ')+1:]
	out := []fault.Outcome{fault.ErrorBefore, fault.CrashBefore, fault.Throttled, fault.Frozen, fault.Deadline}
	if !slices.Contains(reads, op) {
		out = append(out, fault.ErrorAfter, fault.CrashAfter)
	}
	if slices.Contains(conditional, op) {
		out = append(out, fault.RefusedAfter, fault.Conflict)
	}
	if slices.Contains(many, op) {
		out = append(out, fault.Unprocessed)
	}
	return out
}

func (f faults) call(ctx context.Context, op string, in any, next func(context.Context, any) (any, error)) (any, error) {
	o, err := f.p.Next(Site(ctx, op), !slices.Contains(reads, op))
	if err != nil {
		return nil, err
	}
	switch o {
	case fault.None:
		return next(ctx, in)
	case fault.CrashBefore:
		return nil, f.p.Crash()
	case fault.CrashAfter:
		_, _ = next(ctx, in) // its answer dies with the process
		return nil, f.p.Crash()
	case fault.Frozen:
		f.p.Freeze()
		return next(ctx, in)
	case fault.Deadline:
		return next(f.p.Expire(ctx), in)
	case fault.RefusedAfter:
		if slices.Contains(conditional, op) {
			return echo(ctx, in, next)
		}
		o = fault.ErrorAfter
	case fault.Unprocessed:
		if some, rest := halve(in); some != nil {
			out, err := next(ctx, some)
			return rest(out), err
		}
		o = fault.ErrorBefore
	}
	p := &plan{outcome: o}
	if tx, ok := in.(*dynamodb.TransactWriteItemsInput); ok {
		p.items = len(tx.TransactItems)
	}
	return next(context.WithValue(ctx, planKey{}, p), in)
}

// echo makes the call, and then again as an SDK's retry does whose first answer was lost: what the service says to the second is what the
// caller hears. A transaction gets another token, as after ten minutes.
func echo(ctx context.Context, in any, next func(context.Context, any) (any, error)) (any, error) {
	if out, err := next(ctx, in); err != nil {
		return out, err
	}
	switch again := in.(type) {
	case *dynamodb.TransactWriteItemsInput:
		fresh := *again
		fresh.ClientRequestToken = aws.String("echo-" + aws.ToString(again.ClientRequestToken)[:min(30, len(aws.ToString(again.ClientRequestToken)))])
		in = &fresh
	case *s3.PutObjectInput:
		if body, ok := again.Body.(io.Seeker); ok {
			if _, err := body.Seek(0, io.SeekStart); err != nil {
				return nil, err
			}
		}
	}
	return next(ctx, in)
}

// attempt carries out what the first attempt of a planned call meets.
func (f faults) attempt(ctx context.Context, op string, _ any, next func() error) error {
	p, ok := ctx.Value(planKey{}).(*plan)
	if !ok || p.spent {
		return next()
	}
	p.spent = true
	switch p.outcome {
	case fault.Throttled:
		return throttle(op)
	case fault.Conflict:
		if err := conflict(op, p.items); err != nil {
			return err
		}
	case fault.ErrorAfter:
		if err := next(); err != nil {
			return err
		}
	}
	return &smithyhttp.RequestSendError{Err: errors.New("connection reset by peer")}
}

func throttle(op string) error {
	switch op {
	case "PutObject", "GetObject", "ListObjectsV2", "CopyObject":
		return &smithy.GenericAPIError{Code: "SlowDown", Message: "Please reduce your request rate."}
	case "SendMessageBatch":
		return &smithy.GenericAPIError{Code: "RequestThrottled", Message: "Request is throttled."}
	}
	return &types.ProvisionedThroughputExceededException{Message: aws.String("throttled")}
}

// conflict is what the service says when another write of the same item is under way; nil where it never does.
func conflict(op string, items int) error {
	switch op {
	case "TransactWriteItems":
		e := &types.TransactionCanceledException{Message: aws.String("Transaction cancelled")}
		for i := range items {
			code := "None"
			if i == items-1 {
				code = "TransactionConflict"
			}
			e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return e
	case "PutItem", "UpdateItem":
		return &types.TransactionConflictException{Message: aws.String("Transaction is ongoing for the item")}
	case "PutObject":
		return &smithy.GenericAPIError{Code: "ConditionalRequestConflict", Message: "A conflicting conditional operation is in progress."}
	}
	return nil
}
