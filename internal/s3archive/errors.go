package s3archive

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// status is the HTTP status of an SDK error, or 0.
func status(err error) int {
	var re *awshttp.ResponseError
	if errors.As(err, &re) {
		return re.HTTPStatusCode()
	}
	return 0
}

// isThere: the condition did not hold, so an object is there.
func isThere(err error) bool { return status(err) == http.StatusPreconditionFailed }

// isConflict: a concurrent conditional write; neither is known to have won.
func isConflict(err error) bool { return status(err) == http.StatusConflict }

// translate is the one place where the SDK's errors on reads become the protocol's.
func translate(op string, err error) error {
	if err == nil {
		return nil
	}
	var api smithy.APIError
	code := ""
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	switch {
	case code == "NoSuchKey" || code == "NotFound" || status(err) == http.StatusNotFound && code != "NoSuchBucket":
		return fmt.Errorf("%s: %w: %w", op, handoff.ErrNotFound, err)
	case status(err) == http.StatusRequestedRangeNotSatisfiable:
		return fmt.Errorf("%s: %w: %w", op, handoff.ErrDigest, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// copySource is bucket and key as the header wants them, each part escaped.
func copySource(bucket, key string) string {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return bucket + "/" + strings.Join(parts, "/")
}
