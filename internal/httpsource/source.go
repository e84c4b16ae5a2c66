// Package httpsource speaks any paged HTTP API that a definition describes: it asks with one request, and reads the answer with
// a pure function of definition and answer. It owns the cursor's format; nobody else parses one.
package httpsource

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// The limits where a definition gives none.
const (
	defaultTimeout   = 20 * time.Second
	defaultMaxBody   = 10 << 20
	defaultMaxEvents = 5000
)

// Options are what a definition does not say.
type Options struct {
	// Transport replaces the guarded one, for tests; it is then up to the transport which addresses are reached.
	Transport http.RoundTripper
	// SecretLife is how long a fetched secret is used before it is fetched again. Default 5m.
	SecretLife time.Duration
}

// Source is a handoff.Source for one definition. It may be used concurrently.
type Source struct {
	def       *streamdef.Definition
	endpoint  *url.URL
	transport http.RoundTripper
	creds     *credentials
	rules     *rules
	timeout   time.Duration
	maxBody   int64
	maxEvents int
}

var _ handoff.Source = (*Source)(nil)

// New compiles a definition's expressions once. Errors wrap handoff.ErrConfig.
func New(def *streamdef.Definition, secrets Secrets, opts Options) (*Source, error) {
	src := def.Source
	endpoint, err := parseEndpoint(src.URL, src.AllowPrivate)
	if err != nil {
		return nil, err
	}
	r, err := compileRules(def)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", handoff.ErrConfig, err)
	}
	if err := checkMethod(src); err != nil {
		return nil, fmt.Errorf("%w: %w", handoff.ErrConfig, err)
	}
	s := &Source{
		def: def, endpoint: endpoint, transport: opts.Transport, rules: r,
		creds:     &credentials{auth: src.Auth, secrets: secrets, life: cmp.Or(opts.SecretLife, 5*time.Minute)},
		timeout:   cmp.Or(src.Timeout, defaultTimeout),
		maxBody:   cmp.Or(src.MaxBody, defaultMaxBody),
		maxEvents: cmp.Or(src.MaxEvents, defaultMaxEvents),
	}
	if s.transport == nil {
		s.transport = newTransport(src.AllowPrivate)
	}
	return s, nil
}

func checkMethod(src streamdef.Source) error {
	switch src.Method {
	case "", http.MethodGet:
		if len(src.Body) > 0 {
			return fmt.Errorf("source.body needs method POST")
		}
	case http.MethodPost:
	default:
		return fmt.Errorf("source.method is GET or POST")
	}
	return nil
}
