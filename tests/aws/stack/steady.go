package stack

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// readTries bounds how often a read is asked again.
const readTries = 4

// steady asks a read again whose answer broke off. MiniStack 1.5.33 now and then breaks a connection in the middle of an answer, and the
// faults that a test asks for are to be the only ones it meets. A write is never repeated here: that is what is under test.
type steady struct{ aws.HTTPClient }

// reads are the calls that change nothing.
var reads = []string{".GetItem", ".BatchGetItem", ".Query", ".Scan", ".ListTables", ".DescribeTable"}

func isRead(r *http.Request) bool {
	target := r.Header.Get("X-Amz-Target")
	for _, name := range reads {
		if strings.HasSuffix(target, name) {
			return true
		}
	}
	return false
}

// Do buffers the whole answer, so that a broken one is noticed here.
func (s steady) Do(r *http.Request) (*http.Response, error) {
	if !isRead(r) || r.Body == nil {
		return s.HTTPClient.Do(r)
	}
	question, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("buffer request: %w", err)
	}
	for try := 1; ; try++ {
		r.Body = io.NopCloser(bytes.NewReader(question))
		resp, err := s.HTTPClient.Do(r)
		if err == nil {
			var answer []byte
			answer, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close() // read, or broken
			resp.Body = io.NopCloser(bytes.NewReader(answer))
		}
		if err == nil || try == readTries || r.Context().Err() != nil {
			return resp, err
		}
	}
}
