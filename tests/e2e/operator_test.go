package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// operator is a person with AWS credentials: a user of the account and what he may call.
type operator struct {
	*world
	arn    string
	client *reviewapi.Client
	http   *http.Client
}

// hire makes a user who may send these methods to the API, and no more. No method at all is somebody of the same account who may nothing.
func (w *world) hire(name string, methods ...string) *operator {
	w.Helper()
	w.must(w.form("iam", url.Values{"Action": {"CreateUser"}, "Version": {iamVersion}, "UserName": {name}}, nil))
	if len(methods) > 0 {
		var allowed []string
		for _, m := range methods {
			allowed = append(allowed, fmt.Sprintf("arn:aws:execute-api:*:*:%s/*/%s/v1/*", w.apiID(), m))
		}
		policy, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{
			map[string]any{"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": allowed},
		}})
		w.must(err)
		w.must(w.form("iam", url.Values{
			"Action": {"PutUserPolicy"}, "Version": {iamVersion}, "UserName": {name}, "PolicyName": {"api"}, "PolicyDocument": {string(policy)},
		}, nil))
	}
	var made struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	w.must(w.form("iam", url.Values{"Action": {"CreateAccessKey"}, "Version": {iamVersion}, "UserName": {name}}, &made))
	via := signing{"execute-api", aws.Credentials{AccessKeyID: made.ID, SecretAccessKey: made.Secret}, w.net}
	return &operator{
		world: w, arn: "arn:aws:iam::000000000000:user/" + name, http: &http.Client{Transport: via},
		client: &reviewapi.Client{Base: w.outputs["ApiUrl"], HTTP: via, Coded: true},
	}
}

// apiID is the API's, the first label of its host name.
func (w *world) apiID() string {
	u, err := url.Parse(w.outputs["ApiUrl"])
	w.must(err)
	id, _, _ := strings.Cut(u.Hostname(), ".")
	return id
}

// try sends a request as this person and gives its status; over nobody's shoulder it is sent unsigned.
func (w *world) try(c *http.Client, method, path, body string) int {
	w.Helper()
	req, err := http.NewRequestWithContext(w.ctx, method, w.outputs["ApiUrl"]+path, strings.NewReader(body))
	w.must(err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	w.must(err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	w.must(err)
	if resp.StatusCode == http.StatusForbidden && strings.Contains(string(raw), "evt-") {
		w.Errorf("a refusal shows events: %s", raw)
	}
	return resp.StatusCode
}

// decide takes a decision through the deployed API, as often as it takes: the same id is the same decision.
func (o *operator) decide(d handoff.Decision) handoff.DecisionAnswer {
	o.Helper()
	for try := 1; ; try++ {
		got, err := o.client.Decide(o.ctx, d)
		if err == nil {
			return got
		}
		if !errors.Is(err, handoff.ErrUnknown) || try == tries {
			o.Fatalf("%s of %s: %v", d.Kind, d.Event.EventID, err)
		}
		o.figures.repeats++
		o.say("%s is unknown, and asked again: %v", d.Kind, err)
	}
}
