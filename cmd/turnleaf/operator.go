package main

import (
	"context"
	"net/http"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// operator is what the commands ask of the review API, whether a process runs on the data folder or not. Errors are those of
// handoff: ErrNotFound, *InvalidError, *ConflictError, ErrUnknown. Lists come in batches; next is "" at the end.
type operator interface {
	Streams(ctx context.Context) ([]reviewapi.StreamLine, error)
	Status(ctx context.Context, s handoff.Stream) (handoff.StreamStatus, error)
	Held(ctx context.Context, s handoff.Stream, after string) (rs []handoff.Receipt, next string, err error)
	Event(ctx context.Context, s handoff.Stream, key handoff.ReceiptKey) (reviewapi.EventView, error)
	Decide(ctx context.Context, d handoff.Decision) (handoff.DecisionAnswer, error)
	Audits(ctx context.Context, s handoff.Stream, after string) (rs []handoff.AuditRecord, next string, err error)
	Docs(ctx context.Context, s handoff.Stream, after string) (docs []handoff.Doc, next string, err error)
	Check(ctx context.Context, s handoff.Stream) ([]handoff.Violation, error)
}

var _ operator = (*reviewapi.Client)(nil)

// aliveTimeout is how long a process on this machine may take to say that it is there.
const aliveTimeout = 2 * time.Second

// dial finds the running process by its api.json; ok is false if nobody answers there to this start's token. After a kill the file
// is stale, and the port may be anybody's by now.
func (s *session) dial() (op operator, ok bool) {
	a, err := local.Folder(s.Data).ReadAPI()
	if err != nil {
		return nil, false
	}
	c := &reviewapi.Client{Base: "http://" + a.Address, Token: a.Token, HTTP: &http.Transport{DisableKeepAlives: true}}
	return c, alive(s, c)
}

func alive(ctx context.Context, c *reviewapi.Client) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+"/v1/openapi.json", nil)
	if err != nil {
		return false
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := c.HTTP.RoundTrip(r)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// localOperator is the API without a socket, and the stores behind it: this process has the lock.
type localOperator struct {
	*reviewapi.Client
	node *local.Node
}

func inProcess(n *local.Node) operator {
	return localOperator{&reviewapi.Client{Base: "http://in.process", HTTP: reviewapi.InProcess(n.API)}, n}
}
