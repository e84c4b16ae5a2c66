package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Class is what kind of trouble an invocation met: a closed set of words for log lines, metrics and alarms. Which of them a person
// must look at, and which heal by themselves, is in docs/operations.md.
type Class string

// The classes. ClassNone is a good end.
const (
	ClassNone              Class = ""
	ClassSourceUnavailable Class = "source_unavailable" // no answer, a 5xx, a request to come later
	ClassSourceThrottled   Class = "source_throttled"   // the source said: too many requests
	ClassSourceRefused     Class = "source_refused"     // it takes our credentials or our cursor no more
	ClassUnreadable        Class = "unreadable"         // an answer that is not what the definition describes
	ClassStoreUnknown      Class = "store_unknown"      // DynamoDB did not say what became of a call
	ClassStoreThrottled    Class = "store_throttled"    // DynamoDB gave us less than we asked for
	ClassRefused           Class = "refused"            // a condition did not hold: somebody was faster
	ClassArchive           Class = "archive"            // S3 failed, or holds other bytes than were recorded
	ClassQueue             Class = "queue"              // SQS took not every message
	ClassSinkRetry         Class = "sink_retry"         // the sink said later, or did not say
	ClassSinkRefused       Class = "sink_refused"       // the sink or the projection will never take it
	ClassConfig            Class = "config"             // the definition, or a secret of it, cannot work as deployed
	ClassInvalid           Class = "invalid"            // a message or a request that nobody can carry out
	ClassNotFound          Class = "not_found"          // what was asked for does not exist
	ClassDeadline          Class = "deadline"           // the invocation ran out of time
	ClassInternal          Class = "internal"           // anything else: a fault of ours
)

// Classes lists them all, ClassNone left out.
func Classes() []Class {
	return []Class{
		ClassSourceUnavailable, ClassSourceThrottled, ClassSourceRefused, ClassUnreadable, ClassStoreUnknown, ClassStoreThrottled, ClassRefused, ClassArchive, ClassQueue, ClassSinkRetry,
		ClassSinkRefused, ClassConfig, ClassInvalid, ClassNotFound, ClassDeadline, ClassInternal,
	}
}

// ClassOf finds an error's class. What an AWS service said comes first: the protocol wraps it in words of its own. An error that
// nobody named is ClassInternal.
func ClassOf(err error) Class {
	if err == nil {
		return ClassNone
	}
	if c := classOfService(err); c != ClassNone {
		return c
	}
	var effect *handoff.EffectError
	var invalid *handoff.InvalidError
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.Is(err, handoff.ErrIncomparable):
		return ClassUnreadable
	case errors.Is(err, handoff.ErrConfig):
		return ClassConfig
	case errors.Is(err, handoff.ErrDigest):
		return ClassArchive
	case errors.As(err, &effect), errors.Is(err, handoff.ErrTooLarge):
		return ClassSinkRefused
	case errors.As(err, &invalid), errors.As(err, &syntax), errors.As(err, &mismatch):
		return ClassInvalid
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ClassDeadline
	case errors.Is(err, handoff.ErrUnknown): // before refused: what was refused and not read back is unknown
		return ClassStoreUnknown
	case errors.Is(err, handoff.ErrRefused): // a ConflictError is one
		return ClassRefused
	case errors.Is(err, handoff.ErrNotFound):
		return ClassNotFound
	}
	return ClassInternal
}

// throttles are the codes by which DynamoDB says: slower.
var throttles = []string{
	"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded", "LimitExceededException", "ThrottlingError",
	"ProvisionedThroughputExceeded",
}

// classOfService is the class of an error that an AWS call ended with; ClassNone if there was none.
func classOfService(err error) Class {
	var call *smithy.OperationError
	if !errors.As(err, &call) {
		return ClassNone
	}
	switch call.Service() {
	case "DynamoDB":
		return classOfStore(err)
	case "S3":
		if errors.Is(err, handoff.ErrNotFound) {
			return ClassNotFound
		}
		return ClassArchive
	case "SQS":
		return ClassQueue
	case "SSM", "Secrets Manager":
		return ClassConfig
	}
	return ClassInternal
}

func classOfStore(err error) Class {
	var api smithy.APIError
	var cancelled *types.TransactionCanceledException
	switch {
	case errors.Is(err, handoff.ErrRefused) && !errors.Is(err, handoff.ErrUnknown):
		return ClassRefused
	case errors.As(err, &cancelled) && slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
		return r.Code != nil && slices.Contains(throttles, *r.Code)
	}):
		return ClassStoreThrottled
	case errors.As(err, &api) && slices.Contains(throttles, api.ErrorCode()):
		return ClassStoreThrottled
	}
	return ClassStoreUnknown
}

// ClassOfReading finds the class of the word that a Reading, and with it a checkpoint's failure, carries. A word that nobody placed is
// ClassInternal.
func ClassOfReading(word string) Class {
	switch word {
	case "":
		return ClassNone
	case "unreachable":
		return ClassSourceUnavailable
	case "throttled":
		return ClassSourceThrottled
	case "html", "encoding", "json", "schema", "success", "redirect", "contradiction", "origin", "token", "events", "truncated":
		return ClassUnreadable
	case "cursor":
		return ClassConfig
	}
	status, err := strconv.Atoi(strings.TrimPrefix(word, "http_"))
	switch {
	case err != nil || !strings.HasPrefix(word, "http_"):
		return ClassInternal
	case status == 429:
		return ClassSourceThrottled
	case status == 401 || status == 403 || status == 407 || status == 410:
		return ClassSourceRefused
	case status >= 500 || status == 408 || status == 425:
		return ClassSourceUnavailable
	}
	return ClassUnreadable
}

// classOfHalt finds the class of a halt.
func classOfHalt(why handoff.HaltReason) Class {
	switch why {
	case handoff.HaltCursorRejected:
		return ClassSourceRefused
	case handoff.HaltConfig:
		return ClassConfig
	}
	return ClassUnreadable // the source broke its contract
}
