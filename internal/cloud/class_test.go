package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// sentinels are the errors of the protocol: a new one that has no class here fails TestEveryErrorHasAClass.
var sentinels = map[string]struct {
	err  error
	want Class
}{
	"ErrRefused": {handoff.ErrRefused, ClassRefused}, "ErrUnknown": {handoff.ErrUnknown, ClassStoreUnknown}, "ErrNotFound": {handoff.ErrNotFound, ClassNotFound},
	"ErrTooLarge": {handoff.ErrTooLarge, ClassSinkRefused}, "ErrDigest": {handoff.ErrDigest, ClassArchive}, "ErrConfig": {handoff.ErrConfig, ClassConfig},
	"EffectError": {&handoff.EffectError{Entity: "e"}, ClassSinkRefused}, "ConflictError": {&handoff.ConflictError{Reason: "r"}, ClassRefused},
	"ErrIncomparable": {handoff.ErrIncomparable, ClassUnreadable}, "InvalidError": {&handoff.InvalidError{Reason: "r"}, ClassInvalid},
}

func TestEveryErrorHasAClass(t *testing.T) {
	t.Parallel()
	var declared []string
	for _, f := range parsed(t, "../handoff") {
		ast.Inspect(f, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.ValueSpec:
				for _, id := range d.Names {
					if strings.HasPrefix(id.Name, "Err") {
						declared = append(declared, id.Name)
					}
				}
			case *ast.TypeSpec:
				if d.Name.IsExported() && strings.HasSuffix(d.Name.Name, "Error") {
					declared = append(declared, d.Name.Name)
				}
			}
			return true
		})
	}
	if len(declared) != len(sentinels) {
		t.Errorf("the protocol has the errors %q, the table %d", declared, len(sentinels))
	}
	for _, name := range declared {
		c, ok := sentinels[name]
		if !ok {
			t.Errorf("%s has no class", name)
			continue
		}
		if got := ClassOf(fmt.Errorf("poll s: %w", c.err)); got != c.want {
			t.Errorf("%s is %q, want %q", name, got, c.want)
		}
	}
}

// service is an error as an SDK call ends with it.
func service(name, code string) error {
	return &smithy.OperationError{ServiceID: name, OperationName: "Op", Err: &smithy.GenericAPIError{Code: code}}
}

func TestClassOf(t *testing.T) {
	t.Parallel()
	cancelled := func(codes ...string) error {
		e := &types.TransactionCanceledException{}
		for _, c := range codes {
			e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: aws.String(c)})
		}
		return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "TransactWriteItems", Err: e}
	}
	for i, c := range []struct {
		err  error
		want Class
	}{
		{nil, ClassNone}, {errors.New("what nobody named"), ClassInternal},
		{service("DynamoDB", "ThrottlingException"), ClassStoreThrottled}, {service("DynamoDB", "ProvisionedThroughputExceededException"), ClassStoreThrottled},
		{service("DynamoDB", "InternalServerError"), ClassStoreUnknown}, {service("DynamoDB", "ResourceNotFoundException"), ClassStoreUnknown},
		{cancelled("None", "ThrottlingError"), ClassStoreThrottled}, {cancelled("TransactionConflict"), ClassStoreUnknown},
		{fmt.Errorf("%w: %w", handoff.ErrRefused, cancelled("ConditionalCheckFailed")), ClassRefused},
		{fmt.Errorf("%w: %w: %w", handoff.ErrUnknown, handoff.ErrRefused, cancelled("ConditionalCheckFailed")), ClassStoreUnknown},
		{fmt.Errorf("%w: %w", handoff.ErrUnknown, service("DynamoDB", "ThrottlingException")), ClassStoreThrottled},
		{service("S3", "SlowDown"), ClassArchive}, {service("S3", "AccessDenied"), ClassArchive},
		{fmt.Errorf("get: %w: %w", handoff.ErrNotFound, service("S3", "NoSuchKey")), ClassNotFound},
		{fmt.Errorf("send: %w: %w", handoff.ErrUnknown, service("SQS", "RequestThrottled")), ClassQueue},
		{service("SSM", "ParameterNotFound"), ClassConfig}, {service("Secrets Manager", "AccessDeniedException"), ClassConfig}, {service("STS", "X"), ClassInternal},
		{fmt.Errorf("settle: %w: %w", handoff.ErrUnknown, context.DeadlineExceeded), ClassDeadline}, {context.Canceled, ClassDeadline},
		{json.Unmarshal([]byte("{"), &struct{}{}), ClassInvalid}, {json.Unmarshal([]byte(`{"A":"x"}`), &struct{ A int }{}), ClassInvalid},
	} {
		if got := ClassOf(c.err); got != c.want {
			t.Errorf("%d: %v is %q, want %q", i, c.err, got, c.want)
		}
	}
}

// Every word that a source or the protocol gives an answer has a class; a new one that nobody placed fails here.
func TestEveryReadingHasAClass(t *testing.T) {
	t.Parallel()
	words := readingWords(t)
	for _, must := range []string{"html", "truncated", "contradiction", "unreachable", "throttled", "cursor"} { // the search still finds them
		if !slices.Contains(words, must) {
			t.Errorf("%q was not found among %q", must, words)
		}
	}
	for _, w := range words {
		if got := ClassOfReading(w); got == ClassInternal || got == ClassNone {
			t.Errorf("the word %q of a reading has no class", w)
		}
	}
	for word, want := range map[string]Class{
		"": ClassNone, "unheard_of": ClassInternal, "http_": ClassInternal, "503": ClassInternal, "http_500": ClassSourceUnavailable, "http_503": ClassSourceUnavailable, "http_408": ClassSourceUnavailable,
		"http_429": ClassSourceThrottled, "throttled": ClassSourceThrottled, "http_401": ClassSourceRefused, "http_403": ClassSourceRefused, "http_410": ClassSourceRefused,
		"http_404": ClassUnreadable, "http_400": ClassUnreadable, "http_204": ClassUnreadable, "html": ClassUnreadable, "unreachable": ClassSourceUnavailable, "cursor": ClassConfig,
	} {
		if got := ClassOfReading(word); got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
}

// readingWords finds the words in the code of the source and of the protocol: the literals that become a class.
func readingWords(t *testing.T) (words []string) {
	t.Helper()
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			w, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			words = append(words, w)
		}
	}
	calls := map[string]int{"unreadable": 0, "unavailable": 0, "wait": 2} // the argument that is the word
	for _, f := range append(parsed(t, "../httpsource"), parsed(t, "../handoff")...) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				name := ""
				switch fun := x.Fun.(type) {
				case *ast.Ident:
					name = fun.Name
				case *ast.SelectorExpr:
					name = fun.Sel.Name
				}
				if at, ok := calls[name]; ok && at < len(x.Args) {
					add(x.Args[at])
				}
			case *ast.CompositeLit:
				if id, ok := x.Type.(*ast.Ident); ok && id.Name == "failure" && len(x.Elts) == 3 {
					add(x.Elts[1])
				}
			case *ast.KeyValueExpr:
				if id, ok := x.Key.(*ast.Ident); ok && (id.Name == "Class" || id.Name == "class") {
					add(x.Value)
				}
			}
			return true
		})
	}
	return words
}

func TestEveryHaltHasAClass(t *testing.T) {
	t.Parallel()
	for why, want := range map[handoff.HaltReason]Class{
		handoff.HaltCursorRejected: ClassSourceRefused, handoff.HaltConfig: ClassConfig, handoff.HaltPageUnreadable: ClassUnreadable, handoff.HaltGap: ClassUnreadable,
	} {
		if got := classOfHalt(why); got != want {
			t.Errorf("%s is %q, want %q", why, got, want)
		}
	}
}

// The list of classes is the whole set: every constant is on it, once.
func TestClassesAreListed(t *testing.T) {
	t.Parallel()
	n := 0
	for _, f := range parsed(t, ".") {
		ast.Inspect(f, func(node ast.Node) bool {
			if s, ok := node.(*ast.ValueSpec); ok {
				if id, ok := s.Type.(*ast.Ident); ok && id.Name == "Class" {
					n += len(s.Names)
				}
			}
			return true
		})
	}
	list := Classes()
	if sorted := slices.Compact(slices.Sorted(slices.Values(list))); len(sorted) != len(list) || n != len(list)+1 || slices.Contains(list, ClassNone) {
		t.Errorf("%d constants, %d on the list, %d of them different", n, len(list), len(sorted))
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	want := map[Class]string{
		ClassSourceUnavailable: "SourceFailures", ClassSourceThrottled: "SourceFailures", ClassSourceRefused: "SourceRefusals", ClassUnreadable: "SourceRefusals",
		ClassConfig: "SourceRefusals",
	}
	for _, c := range Classes() {
		group, ok := want[c]
		if !ok {
			group = "OwnFailures"
		}
		if got := groupOf(c); got != group {
			t.Errorf("%s counts for %s, want %s", c, got, group)
		}
	}
}

// parsed gives the shipped files of a package.
func parsed(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", folder, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
