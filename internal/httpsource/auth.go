package httpsource

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// Secrets finds secrets by reference. A secret that does not exist is an error wrapping handoff.ErrConfig; every other error
// means try again later. Neither holds the value.
type Secrets interface {
	Secret(ctx context.Context, ref streamdef.Secret) (string, error)
}

// HostSecrets reads secrets from this host: os.LookupEnv and os.ReadFile, or what stands in for them.
type HostSecrets struct {
	LookupEnv func(name string) (string, bool)
	ReadFile  func(path string) ([]byte, error)
}

// Secret gives the variable's value, or the file's content without the line end that editors leave.
func (h HostSecrets) Secret(_ context.Context, ref streamdef.Secret) (string, error) {
	if ref.Env != "" {
		if v, ok := h.LookupEnv(ref.Env); ok && v != "" {
			return v, nil
		}
		return "", fmt.Errorf("secret %s: %w: the environment variable is not set", ref.Env, handoff.ErrConfig)
	}
	if ref.File == "" {
		return "", fmt.Errorf("secret %s%s: %w: only functions on AWS read it", ref.SSM, ref.SecretsManager, handoff.ErrConfig)
	}
	b, err := h.ReadFile(ref.File)
	if err != nil {
		return "", fmt.Errorf("secret file %s: %w: %w", ref.File, handoff.ErrConfig, err)
	}
	if v := strings.TrimRight(string(b), "\r\n"); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("secret file %s: %w: it is empty", ref.File, handoff.ErrConfig)
}

// credentials keeps one secret for its lifetime, so that a source with many pages does not fetch it per page.
type credentials struct {
	auth    *streamdef.Auth
	secrets Secrets
	life    time.Duration

	mu     sync.Mutex // guards value and at, and is held while a secret is fetched, so that it is fetched once
	value  string
	at     time.Time
	cached bool
}

func (c *credentials) ref() (streamdef.Secret, bool) {
	switch {
	case c.auth == nil:
		return streamdef.Secret{}, false
	case c.auth.Bearer != nil:
		return *c.auth.Bearer, true
	case c.auth.Basic != nil:
		return c.auth.Basic.Password, true
	case c.auth.Header != nil:
		return c.auth.Header.Value, true
	}
	return streamdef.Secret{}, false
}

// get gives the cached secret, or fetches it. No auth is the empty secret.
func (c *credentials) get(ctx context.Context, now time.Time) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := now.Sub(c.at)
	if c.cached && age >= 0 && age < c.life {
		return c.value, nil
	}
	return c.fetch(ctx, now)
}

// renew fetches the secret again after a 401; changed is false if it is the one that was refused, or cannot be had.
func (c *credentials) renew(ctx context.Context, now time.Time, refused string) (fresh string, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cached && c.value != refused { // another call renewed it meanwhile
		return c.value, true
	}
	c.cached = false
	fresh, err := c.fetch(ctx, now)
	return fresh, err == nil && fresh != refused
}

func (c *credentials) fetch(ctx context.Context, now time.Time) (string, error) {
	ref, needed := c.ref()
	if !needed {
		return "", nil
	}
	if c.secrets == nil {
		return "", fmt.Errorf("%w: no way to find secrets", handoff.ErrConfig)
	}
	v, err := c.secrets.Secret(ctx, ref)
	if err != nil {
		return "", err
	}
	if v == "" || !headerValue(v) {
		return "", fmt.Errorf("%w: the secret is empty or cannot be sent in a header", handoff.ErrConfig)
	}
	c.value, c.at, c.cached = v, now, true
	return v, nil
}

// sign puts the secret where the source wants it.
func (c *credentials) sign(h http.Header, secret string) {
	switch {
	case c.auth == nil:
	case c.auth.Bearer != nil:
		h.Set("Authorization", "Bearer "+secret)
	case c.auth.Basic != nil:
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.auth.Basic.User+":"+secret)))
	case c.auth.Header != nil:
		h.Set(c.auth.Header.Name, c.auth.Header.Prefix+secret)
	}
}

// headerValue reports that v can stand in a header line.
func headerValue(v string) bool {
	for i := range len(v) {
		if c := v[i]; (c < ' ' && c != '\t') || c == 0x7f {
			return false
		}
	}
	return true
}

var errHeader = errors.New("a value that cannot be sent in a header")
