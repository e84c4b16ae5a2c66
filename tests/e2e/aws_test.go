package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/turnleaf/turnleaf/localstack/deploy"
)

// signing sends requests that are signed by one pair of credentials, wherever they are addressed to: names below localhost are not known
// everywhere, so the connection always goes to the gate. Of the services that the test only reads settings of, this is the client.
type signing struct {
	service     string
	credentials aws.Credentials
	next        http.RoundTripper
}

// toGate connects to the gate, whatever host is asked for.
func toGate(gate string) http.RoundTripper {
	address := strings.TrimPrefix(gate, "http://")
	return &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
}

// RoundTrip signs the request's method, address, headers and body.
func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
	body := []byte{}
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // read to its end
	}
	signed := r.Clone(r.Context())
	signed.Body, signed.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	if err := v4.NewSigner().SignHTTP(r.Context(), s.credentials, signed, hash, s.service, deploy.Region, time.Now()); err != nil {
		return nil, fmt.Errorf("sign request: %w", err)
	}
	return s.next.RoundTrip(signed)
}

// root is the account's own credentials, which may do everything.
var root = aws.Credentials{AccessKeyID: deploy.Key, SecretAccessKey: deploy.Secret}

// api is one service, spoken to without a client of its own.
func (w *world) api(service string) *http.Client {
	return &http.Client{Transport: signing{service, root, w.net}, Timeout: time.Minute}
}

// get reads one document of a service that speaks JSON over paths.
func (w *world) get(service, path string, into any) error {
	return w.send(service, http.MethodGet, path, nil, nil, into)
}

// ask calls an operation of a service that speaks JSON to one path.
func (w *world) ask(service, target string, in, into any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	header := http.Header{"X-Amz-Target": {target}, "Content-Type": {"application/x-amz-json-1.1"}}
	return w.send(service, http.MethodPost, "/", header, body, into)
}

// form calls an operation of a service that takes forms and answers XML.
func (w *world) form(service string, in url.Values, into any) error {
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	raw, _, err := w.raw(service, http.MethodPost, "/", header, []byte(in.Encode()))
	if err != nil || into == nil {
		return err
	}
	return xml.Unmarshal(raw, into)
}

func (w *world) send(service, method, path string, header http.Header, body []byte, into any) error {
	raw, _, err := w.raw(service, method, path, header, body)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s %s %s: %w: %.300s", service, method, path, err, raw)
	}
	return nil
}

// raw sends one request and gives its answer; another status than success is an error.
func (w *world) raw(service, method, path string, header http.Header, body []byte) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(w.ctx, method, w.gate.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := w.api(service).Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s %s: %w", service, method, path, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s %s: %w", service, method, path, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, nil, fmt.Errorf("%s %s %s: %s: %.500s", service, method, path, resp.Status, raw)
	}
	return raw, resp.Header, nil
}
