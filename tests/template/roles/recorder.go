package roles

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Recorder notes every call of the SDK by the function that would have made it, and by its resource in the template.
type Recorder struct {
	names map[string]string // what a table or bucket is called here, to its logical id

	mu   sync.Mutex
	seen map[Function]map[Grant]bool // guarded by mu
	lost map[string]bool             // guarded by mu; calls that nobody made, or that need nobody knows what
}

// NewRecorder takes the logical id of each table and bucket, by the name it has here.
func NewRecorder(names map[string]string) *Recorder {
	return &Recorder{names: names, seen: map[Function]map[Grant]bool{}, lost: map[string]bool{}}
}

// DynamoDB and S3 are options of a client: its calls are recorded.
func (r *Recorder) DynamoDB(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, r.install) }

// S3 records the calls of a client.
func (r *Recorder) S3(o *s3.Options) { o.APIOptions = append(o.APIOptions, r.install) }

func (r *Recorder) install(s *middleware.Stack) error {
	return s.Initialize.Add(middleware.InitializeMiddlewareFunc("Roles", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		r.note(ctx, in.Parameters)
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// Seen is what a function did.
func (r *Recorder) Seen(f Function) map[Grant]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[f]
}

// Lost are calls that could not be told; there should be none.
func (r *Recorder) Lost() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.lost {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

func (r *Recorder) note(ctx context.Context, params any) {
	f, mine := caller(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	uses, known := usesOf(params)
	switch {
	case f == "" && mine:
		return // the test itself looks
	case f == "" || !known:
		r.lost[fmt.Sprintf("%T by %q", params, f)] = true
		return
	}
	if r.seen[f] == nil {
		r.seen[f] = map[Grant]bool{}
	}
	for _, u := range uses {
		id, ok := r.names[u.name]
		if !ok {
			r.lost[u.action+" on "+u.name] = true
		}
		resource := "${" + id + ".Arn}"
		switch {
		case u.index == everyKey:
			resource += "/archive/*"
		case u.index != "":
			resource += "/index/" + u.index
		}
		r.seen[f][Grant{u.action, resource}] = true
	}
}

// entries are the doors of the protocol, and the function that goes through each.
var entries = map[string]Function{
	"handoff.(*Engine).Poll": Poll, "handoff.(*Engine).Enlist": Poll, "handoff.(*Engine).Keep": Poll, "handoff.(*Engine).Apply": Apply,
	"handoff.(*Engine).Decide": Review, "handoff.(*Engine).DriveNow": Review, "handoff.(*Engine).Status": Review,
	"handoff.(*Engine).EventOf": Review, "handoff.(*Engine).CheckInvariants": Review, "reviewapi.(*api).": Review,
}

// caller finds the door on the stack, or what State noted; mine says that the test itself called, through no door. A story's hook runs
// inside a call: what it does then is the hook's own, so the search ends at the story.
func caller(ctx context.Context) (f Function, mine bool) {
	if f, ok := ctx.Value(key{}).(Function); ok {
		return f, true
	}
	var pcs [256]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		_, name, _ := strings.Cut(frame.Function, "/internal/")
		for door, by := range entries {
			if strings.HasPrefix(name, door) && (strings.HasSuffix(door, ".") || name == door) {
				f = by // one door may lead through another: the last is the first that was opened
			}
		}
		story := strings.HasPrefix(name, "handofftest/walkthrough.") && !decorates(name)
		if story || !more || frame.Function == "testing.tRunner" {
			return f, story || frame.Function == "testing.tRunner"
		}
	}
}

// decorates tells the stories' own archives, which only pass a call on.
func decorates(frame string) bool {
	return slices.Contains([]string{"Put", "Get", "GetRange", "List", "Refresh"}, frame[strings.LastIndex(frame, ".")+1:])
}

type key struct{}

// As says which function a call stands for.
func As(ctx context.Context, f Function) context.Context { return context.WithValue(ctx, key{}, f) }

// State notes the caller before a store goes on in goroutines of its own, whose stacks do not show it.
func (r *Recorder) State(s handoff.State) handoff.State { return state{s} }

type state struct{ handoff.State }

func (s state) Settle(ctx context.Context, name handoff.Stream, items []handoff.Settlement) []handoff.SettleResult {
	if f, _ := caller(ctx); f != "" {
		ctx = As(ctx, f)
	}
	return s.State.Settle(ctx, name, items)
}
