package s3archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
	"github.com/turnleaf/turnleaf/internal/s3archive"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	_, client := newBucket(t)
	handofftest.ExerciseArchive(t, func(*testing.T) handoff.Archive { return s3archive.New(client, "pages", "archive/") })
}

// What is written says what it is, carries a checksum, and is never marked as encoded: who unpacks it on the way breaks its digest.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	b, client := newBucket(t)
	a := s3archive.New(client, "pages", "p/")
	body := []byte("not really packed")
	sum := sha256.Sum256(body)
	check := func(what, key, kind string, err error) http.Header {
		t.Helper()
		o := b.objects["p/"+key]
		if err != nil || !bytes.Equal(o.body, body) {
			t.Fatalf("%s %s: %v, %q is there", what, key, err, o.body)
		}
		if got, enc := o.header.Get("Content-Type"), o.header.Get("Content-Encoding"); got != kind || enc != "" {
			t.Errorf("%s %s: type %q and encoding %q, want %q and none", what, key, got, enc, kind)
		}
		return o.header
	}
	for key, kind := range map[string]string{
		"a/b.gz": "application/gzip", "a/b.ndjson.gz": "application/gzip", "a/b.json": "application/json", "a/b": "application/octet-stream",
	} {
		header := check("put", key, kind, a.Put(t.Context(), key, body))
		if got := header.Get("X-Amz-Checksum-Sha256"); got != base64.StdEncoding.EncodeToString(sum[:]) {
			t.Errorf("%s: checksum %q", key, got)
		}
		check("refresh", key, kind, a.Refresh(t.Context(), key))
	}
}

// A listing that is cut is read on, and no further than it is wanted.
func TestListPages(t *testing.T) {
	t.Parallel()
	b, client := newBucket(t)
	a := s3archive.New(client, "pages", "p/")
	for _, key := range strings.Split("abcdefgh", "") {
		if err := a.Put(t.Context(), "x/"+key, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ limit, keys, calls int }{{100, 8, 3}, {8, 8, 3}, {7, 7, 3}, {6, 6, 2}, {3, 3, 1}, {1, 1, 1}, {0, 0, 0}, {-1, 0, 0}} {
		b.listed = 0
		keys, err := a.List(t.Context(), "x/", c.limit)
		if err != nil || len(keys) != c.keys || b.listed != c.calls || !slices.IsSorted(keys) {
			t.Errorf("limit %d: %v in %d calls, %v; want %d in %d", c.limit, keys, b.listed, err, c.keys, c.calls)
		}
	}
}

// Keys that only S3 would take are refused before anything is sent.
func TestKeys(t *testing.T) {
	t.Parallel()
	b, client := newBucket(t)
	a := s3archive.New(client, "pages", "p/")
	for _, key := range []string{"", "/a", "a/", "a//b", "./a", "a/../b", "..", "../b", ".", "a\xff", strings.Repeat("k", 1023)} {
		for what, call := range map[string]func() error{
			"put": func() error { return a.Put(t.Context(), key, nil) }, "refresh": func() error { return a.Refresh(t.Context(), key) },
			"get": func() error { _, err := a.Get(t.Context(), key); return err },
		} {
			if call() == nil {
				t.Errorf("%s %.20q passed", what, key)
			}
		}
	}
	if len(b.requests) > 0 {
		t.Errorf("sent %q", b.requests)
	}
	if err := a.Put(t.Context(), strings.Repeat("k", 1022), nil); err != nil {
		t.Errorf("a key of 1,024 bytes with its prefix: %v", err)
	}
}

// Ranges that no object can have are answered here: as a header they would overflow, and S3 would ignore them and send everything.
func TestAbsurdRanges(t *testing.T) {
	t.Parallel()
	b, client := newBucket(t)
	a := s3archive.New(client, "pages", "")
	_, err := a.GetRange(t.Context(), "a", math.MaxInt64-1, 2)
	if !errors.Is(err, handoff.ErrDigest) {
		t.Errorf("beyond every object: %v", err)
	}
	if _, err = a.GetRange(t.Context(), "a", -1, 2); err == nil {
		t.Error("a negative offset passed")
	}
	if _, err = a.GetRange(t.Context(), "a", 0, -1); err == nil {
		t.Error("a negative length passed")
	}
	if len(b.requests) > 0 {
		t.Errorf("sent %q", b.requests)
	}
}

// scripted answers puts with its errors in turn, then lets them through; get replaces what is read.
type scripted struct {
	s3archive.API
	puts  []error
	calls []time.Time
	get   func() (*s3.GetObjectOutput, error)
}

func (s *scripted) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	s.calls = append(s.calls, time.Now())
	if b, err := io.ReadAll(in.Body); err != nil || string(b) != "mine" {
		return nil, errors.New("a try sends other bytes: " + string(b))
	}
	if n := len(s.calls); n <= len(s.puts) {
		return nil, s.puts[n-1]
	}
	return &s3.PutObjectOutput{}, nil
}

func (s *scripted) GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return s.get()
}

func holding(body string) func() (*s3.GetObjectOutput, error) {
	return func() (*s3.GetObjectOutput, error) {
		return &s3.GetObjectOutput{Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func failing(err error) func() (*s3.GetObjectOutput, error) {
	return func() (*s3.GetObjectOutput, error) { return nil, err }
}

// answered is an error as the SDK gives it.
func answered(status int, code string) error {
	return &smithy.OperationError{ServiceID: "S3", OperationName: "Op", Err: &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: &smithy.GenericAPIError{Code: code},
	}}}
}

// Every answer of a conditional put, and what it means. Only other bytes under the key are a refusal.
func TestPutOutcomes(t *testing.T) {
	t.Parallel()
	conflict, there, gone := answered(409, "ConditionalRequestConflict"), answered(412, "PreconditionFailed"), answered(404, "NoSuchKey")
	six := []error{conflict, conflict, conflict, conflict, conflict, conflict}
	for _, c := range []struct {
		name  string
		puts  []error
		get   func() (*s3.GetObjectOutput, error)
		want  error
		tries int
	}{
		{"written", nil, nil, nil, 1},
		{"there, the same", []error{there}, holding("mine"), nil, 1},
		{"there, others", []error{there}, holding("yours"), handoff.ErrRefused, 1},
		{"there, others of the same beginning", []error{there}, holding("mine too"), handoff.ErrRefused, 1},
		{"there, and gone when looked at", []error{there}, failing(gone), handoff.ErrUnknown, 1},
		{"there, and unreadable", []error{there}, failing(answered(500, "InternalError")), handoff.ErrUnknown, 1},
		{"there, and cut off", []error{there}, func() (*s3.GetObjectOutput, error) {
			return &s3.GetObjectOutput{Body: io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("mine"))))}, nil
		}, handoff.ErrUnknown, 1},
		{"one conflict", six[:1], nil, nil, 2},
		{"a conflict, then there", []error{conflict, there}, holding("yours"), handoff.ErrRefused, 2},
		{"five conflicts", six[:5], nil, nil, 6},
		{"conflicts without end", six, nil, handoff.ErrUnknown, 6},
		{"throttled", []error{answered(503, "SlowDown")}, nil, handoff.ErrUnknown, 1},
		{"denied", []error{answered(403, "AccessDenied")}, nil, handoff.ErrUnknown, 1},
		{"no bucket", []error{answered(404, "NoSuchBucket")}, nil, handoff.ErrUnknown, 1},
		{"no answer", []error{context.DeadlineExceeded}, nil, handoff.ErrUnknown, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				api := &scripted{puts: c.puts, get: c.get}
				begun := time.Now()
				err := s3archive.New(api, "pages", "").Put(t.Context(), "a", []byte("mine"))
				if !errors.Is(err, c.want) || len(api.calls) != c.tries {
					t.Errorf("%v after %d tries, want %v after %d", err, len(api.calls), c.want, c.tries)
				}
				for _, other := range []error{handoff.ErrRefused, handoff.ErrUnknown, handoff.ErrNotFound} {
					if !errors.Is(c.want, other) && errors.Is(err, other) && !(c.name == "there, and gone when looked at") {
						t.Errorf("%v is also %v", err, other)
					}
				}
				if waited := time.Since(begun); waited > 2*time.Second || c.tries > 1 && waited < 50*time.Millisecond {
					t.Errorf("waited %s", waited)
				}
			})
		})
	}
}

// A conflict is waited out only as long as the caller lives.
func TestConflictEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		api := &scripted{puts: []error{answered(409, "ConditionalRequestConflict")}}
		err := s3archive.New(api, "pages", "").Put(ctx, "a", []byte("mine"))
		if !errors.Is(err, handoff.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) || len(api.calls) != 1 {
			t.Errorf("%v after %d tries", err, len(api.calls))
		}
	})
}

// What a read that fails means: only an object that is surely not there is not found, and only bytes that are surely wrong are that.
func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	cut := func() (*s3.GetObjectOutput, error) {
		return &s3.GetObjectOutput{Body: io.NopCloser(io.MultiReader(strings.NewReader("mi"), iotest.ErrReader(io.ErrUnexpectedEOF)))}, nil
	}
	for _, c := range []struct {
		name string
		get  func() (*s3.GetObjectOutput, error)
		want error // of ErrNotFound and ErrDigest; nil is neither
	}{
		{"no key", failing(answered(404, "NoSuchKey")), handoff.ErrNotFound},
		{"no key, without words", failing(answered(404, "")), handoff.ErrNotFound},
		{"no bucket", failing(answered(404, "NoSuchBucket")), nil},
		{"denied", failing(answered(403, "AccessDenied")), nil},
		{"down", failing(answered(500, "InternalError")), nil},
		{"no answer", failing(context.DeadlineExceeded), nil},
		{"cut off", cut, nil},
		{"beyond the end", failing(answered(416, "InvalidRange")), handoff.ErrDigest},
		{"beyond the end, without words", failing(answered(416, "")), handoff.ErrDigest},
		{"short", holding("min"), handoff.ErrDigest},
		{"long: a range that was ignored", holding("mine and more"), handoff.ErrDigest},
	} {
		a := s3archive.New(&scripted{get: c.get}, "pages", "")
		got, err := a.GetRange(t.Context(), "a", 0, 4)
		if err == nil || got != nil {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		for _, kind := range []error{handoff.ErrNotFound, handoff.ErrDigest, handoff.ErrRefused} {
			if errors.Is(err, kind) != errors.Is(c.want, kind) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}
