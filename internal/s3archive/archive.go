// Package s3archive is handoff.Archive on Amazon S3, or whatever speaks its protocol. Objects are written once: If-None-Match lets one
// of two writers win whole, and a later one learns what is there.
package s3archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// API is what this package uses of the SDK.
type API interface {
	PutObject(ctx context.Context, in *s3.PutObjectInput, opts ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	GetObject(ctx context.Context, in *s3.GetObjectInput, opts ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	CopyObject(ctx context.Context, in *s3.CopyObjectInput, opts ...func(*s3.Options)) (*s3.CopyObjectOutput, error)
	ListObjectsV2(ctx context.Context, in *s3.ListObjectsV2Input, opts ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
}

// conflictTries bounds how often a 409 (a concurrent write of the same key) is tried again; conflictWait is the first wait.
const (
	conflictTries = 6
	conflictWait  = 50 * time.Millisecond
)

// maxKey is S3's limit of a key, in bytes.
const maxKey = 1024

// Archive is a bucket, or the part of one below a prefix.
type Archive struct {
	api    API
	bucket string
	prefix string
}

var _ handoff.Archive = (*Archive)(nil)

// New takes a bucket and a prefix, which is empty or ends with a slash.
func New(api API, bucket, prefix string) *Archive { return &Archive{api, bucket, prefix} }

// check refuses keys that S3 would take and no other archive could.
func (a *Archive) check(key string) error {
	if key == "." || !fs.ValidPath(key) || len(a.prefix)+len(key) > maxKey {
		return fmt.Errorf("archive key %.80q of %d bytes: a clean relative path of at most %d", key, len(key), maxKey)
	}
	return nil
}

// contentType names what the bytes are. Content-Encoding is never set: a client or cache would unpack the object, and its digest with it.
func contentType(key string) string {
	switch path.Ext(key) {
	case ".gz":
		return "application/gzip"
	case ".json":
		return "application/json"
	}
	return "application/octet-stream"
}

// Put writes if nothing is there. 412 means that something is: the same bytes are done, others refused. 409 means that somebody is
// writing right now: try again. Anything else is unknown.
func (a *Archive) Put(ctx context.Context, key string, body []byte) error {
	if err := a.check(key); err != nil {
		return err
	}
	for try, wait := 1, conflictWait; ; try, wait = try+1, 2*wait {
		_, err := a.api.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &a.bucket, Key: aws.String(a.prefix + key), Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))),
			ContentType: aws.String(contentType(key)), IfNoneMatch: aws.String("*"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		})
		switch {
		case err == nil:
			return nil
		case isThere(err):
			return a.same(ctx, key, body)
		case !isConflict(err) || try == conflictTries:
			return fmt.Errorf("put %s: %w: %w", key, handoff.ErrUnknown, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("put %s: %w: %w", key, handoff.ErrUnknown, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// same compares with what is there.
func (a *Archive) same(ctx context.Context, key string, body []byte) error {
	have, err := a.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("put %s: compare: %w: %w", key, handoff.ErrUnknown, err)
	}
	if !bytes.Equal(have, body) {
		return fmt.Errorf("put %s: other bytes are there: %w", key, handoff.ErrRefused)
	}
	return nil
}

// Get reads an object whole.
func (a *Archive) Get(ctx context.Context, key string) ([]byte, error) {
	return a.get(ctx, key, nil, -1)
}

// GetRange reads a part of an object. A range that no object can have is not asked for: S3 ignores a header that makes no sense, and
// sends all it has.
func (a *Archive) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	switch {
	case offset < 0 || length < 0:
		return nil, fmt.Errorf("get %s: a range of %d bytes at %d", key, length, offset)
	case length == 0:
		return []byte{}, nil
	case offset > math.MaxInt64-length:
		return nil, fmt.Errorf("get %s: %d bytes at %d: %w", key, length, offset, handoff.ErrDigest)
	}
	return a.get(ctx, key, aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)), length)
}

// get reads; want is the length that must come, or -1.
func (a *Archive) get(ctx context.Context, key string, span *string, want int64) (b []byte, err error) {
	if err := a.check(key); err != nil {
		return nil, err
	}
	out, err := a.api.GetObject(ctx, &s3.GetObjectInput{Bucket: &a.bucket, Key: aws.String(a.prefix + key), Range: span})
	if err != nil {
		return nil, translate("get "+key, err)
	}
	defer func() { err = errors.Join(err, out.Body.Close()) }()
	if b, err = io.ReadAll(out.Body); err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	if want >= 0 && int64(len(b)) != want {
		return nil, fmt.Errorf("get %s: %d bytes of %d: %w", key, len(b), want, handoff.ErrDigest)
	}
	return b, nil
}

// List gives keys with the prefix, ascending, up to limit.
func (a *Archive) List(ctx context.Context, prefix string, limit int) ([]string, error) {
	keys := []string{}
	pages := s3.NewListObjectsV2Paginator(a.api, &s3.ListObjectsV2Input{Bucket: &a.bucket, Prefix: aws.String(a.prefix + prefix)})
	for pages.HasMorePages() && len(keys) < limit {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, translate("list "+prefix, err)
		}
		for _, o := range out.Contents {
			keys = append(keys, aws.ToString(o.Key)[len(a.prefix):])
		}
	}
	return keys[:max(0, min(limit, len(keys)))], nil
}

// Refresh copies an object onto itself, so that a lifecycle rule counts its days from now.
func (a *Archive) Refresh(ctx context.Context, key string) error {
	if err := a.check(key); err != nil {
		return err
	}
	_, err := a.api.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: &a.bucket, Key: aws.String(a.prefix + key), CopySource: aws.String(copySource(a.bucket, a.prefix+key)),
		MetadataDirective: types.MetadataDirectiveReplace, ContentType: aws.String(contentType(key)),
	})
	return translate("refresh "+key, err)
}
