package deploy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// mapping is what is mended of an event source mapping.
type mapping struct {
	UUID          string
	ScalingConfig struct{ MaximumConcurrency any }
	BatchSize     any
}

// Mend repairs what MiniStack 1.5.33 makes of the template: a number that comes from a parameter reaches an event source mapping as text,
// and then the poller of every queue stops with an error. It is called after each deployment.
func Mend(ctx context.Context, endpoint string) error {
	const path = "/2015-03-31/event-source-mappings/"
	var list struct{ EventSourceMappings []mapping }
	if err := call(ctx, http.MethodGet, endpoint+path, nil, &list); err != nil {
		return fmt.Errorf("list event source mappings: %w", err)
	}
	var errs []error
	for _, m := range list.EventSourceMappings {
		most, err := number(m.ScalingConfig.MaximumConcurrency)
		batch, err2 := number(m.BatchSize)
		if err = errors.Join(err, err2); err == nil {
			in := map[string]any{"BatchSize": batch, "ScalingConfig": map[string]any{"MaximumConcurrency": most}}
			err = call(ctx, http.MethodPut, endpoint+path+m.UUID, in, nil)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("mend event source mapping %s: %w", m.UUID, err))
		}
	}
	return errors.Join(errs...)
}

// number reads what should be one and may be text.
func number(v any) (int, error) {
	switch n := v.(type) {
	case float64:
		return int(n), nil
	case string:
		return strconv.Atoi(n)
	}
	return 0, fmt.Errorf("%v is no number", v)
}

// callTimeout bounds one request to the emulator.
const callTimeout = 30 * time.Second

// call sends one signed request to Lambda's API, whose client is not worth its weight here.
func call(ctx context.Context, method, url string, in, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body := []byte{}
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	who := aws.Credentials{AccessKeyID: Key, SecretAccessKey: Secret}
	if err := v4.NewSigner().SignHTTP(ctx, who, req, hex.EncodeToString(sum[:]), "lambda", Region, time.Now()); err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req) // MiniStack 1.5.33 ends kept connections
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	raw, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode/100 != 2:
		return fmt.Errorf("%s: %.300s", resp.Status, raw)
	case into == nil:
		return nil
	}
	return json.Unmarshal(raw, into)
}
