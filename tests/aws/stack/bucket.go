package stack

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Bucket makes a bucket of the test's own, and deletes it and all that is in it after the test.
func (s *Stack) Bucket(t *testing.T) string {
	t.Helper()
	client, name := s.S3(), s.Prefix+"-"+strings.ToLower(rand.Text()[:8])
	in := &s3.CreateBucketInput{Bucket: &name}
	if region := s.Config.Region; region != "us-east-1" {
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(region)}
	}
	if _, err := client.CreateBucket(t.Context(), in); err != nil {
		t.Fatalf("create bucket: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
		defer cancel()
		if err := empty(ctx, client, name); err != nil {
			t.Errorf("empty bucket: %v", err)
		}
		if _, err := client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name}); err != nil {
			t.Errorf("delete bucket: %v", err)
		}
	})
	return name
}

func empty(ctx context.Context, client *s3.Client, bucket string) error {
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		del := &types.Delete{}
		for _, o := range page.Contents {
			del.Objects = append(del.Objects, types.ObjectIdentifier{Key: o.Key})
		}
		if len(del.Objects) == 0 {
			return nil
		}
		if _, err := client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &bucket, Delete: del}); err != nil {
			return err
		}
	}
	return nil
}
