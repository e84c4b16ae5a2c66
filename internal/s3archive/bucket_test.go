package s3archive_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// object is what a bucket keeps.
type object struct {
	body   []byte
	header http.Header // of the write
}

// bucket is as much of S3 as the archive needs, over HTTP, so that what is tested is what goes over the wire.
type bucket struct {
	name string
	page int // keys in one answer of a listing

	mu       sync.Mutex
	objects  map[string]object
	requests []string // method and key
	listed   int
}

func newBucket(t *testing.T) (*bucket, *s3.Client) {
	t.Helper()
	b := &bucket{name: "pages", page: 3, objects: map[string]object{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return b, s3.New(s3.Options{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), BaseEndpoint: aws.String(server.URL),
		UsePathStyle: true, RetryMaxAttempts: 1,
	})
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = append(b.requests, r.Method+" "+key)
	switch {
	case name != b.name:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") != "":
		b.copy(w, key, r.Header)
	case r.Method == http.MethodPut:
		b.put(w, key, r.Header, body)
	case key == "":
		b.list(w, r.URL.Query())
	default:
		b.get(w, r, key)
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

func (b *bucket) put(w http.ResponseWriter, key string, header http.Header, body []byte) {
	if _, ok := b.objects[key]; ok && header.Get("If-None-Match") == "*" {
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	b.objects[key] = object{body, header.Clone()}
}

func (b *bucket) copy(w http.ResponseWriter, key string, header http.Header) {
	from, err := url.PathUnescape(header.Get("X-Amz-Copy-Source"))
	o, ok := b.objects[strings.TrimPrefix(from, b.name+"/")]
	switch {
	case err != nil || !strings.HasPrefix(from, b.name+"/"):
		refuse(w, http.StatusBadRequest, "InvalidArgument")
	case !ok:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case header.Get("X-Amz-Metadata-Directive") != "REPLACE":
		refuse(w, http.StatusBadRequest, "InvalidRequest") // a copy onto itself that changes nothing
	default:
		b.objects[key] = object{o.body, header.Clone()}
		fmt.Fprint(w, "<CopyObjectResult><ETag>x</ETag></CopyObjectResult>")
	}
}

func (b *bucket) get(w http.ResponseWriter, r *http.Request, key string) {
	o, ok := b.objects[key]
	if !ok {
		refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	from, to, ranged := 0, len(o.body)-1, false
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err == nil {
		ranged = true
	}
	if ranged && from >= len(o.body) {
		refuse(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
		return
	}
	body := o.body
	if ranged {
		body = o.body[from:min(to+1, len(o.body))]
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if ranged {
		w.WriteHeader(http.StatusPartialContent)
	}
	_, _ = w.Write(bytes.Clone(body)) // a client that went away needs none
}

func (b *bucket) list(w http.ResponseWriter, q url.Values) {
	type content struct{ Key string }
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []content
		IsTruncated           bool
		NextContinuationToken string
	}
	b.listed++
	var keys []string
	for k := range b.objects {
		if strings.HasPrefix(k, q.Get("prefix")) && k > q.Get("continuation-token") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if len(keys) > b.page {
		keys = keys[:b.page]
		out.IsTruncated, out.NextContinuationToken = true, keys[b.page-1]
	}
	for _, k := range keys {
		out.Contents = append(out.Contents, content{k})
	}
	_ = xml.NewEncoder(w).Encode(out) // a client that went away needs none
}
