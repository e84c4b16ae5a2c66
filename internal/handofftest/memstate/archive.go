package memstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Archive is an Archive in memory.
type Archive struct {
	mu      sync.Mutex
	objects map[string][]byte
}

var _ handoff.Archive = (*Archive)(nil)

// NewArchive gives an empty archive.
func NewArchive() *Archive { return &Archive{objects: map[string][]byte{}} }

// Put writes if nothing is there; the same bytes there is done.
func (a *Archive) Put(ctx context.Context, key string, body []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	have, ok := a.objects[key]
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("put %s: %w: %w", key, handoff.ErrUnknown, ctx.Err())
	case ok && !bytes.Equal(have, body):
		return fmt.Errorf("put %s: %w", key, handoff.ErrRefused)
	}
	a.objects[key] = bytes.Clone(body)
	return nil
}

// Get reads a whole object.
func (a *Archive) Get(ctx context.Context, key string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, ok := a.objects[key]
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("get %s: %w: %w", key, handoff.ErrUnknown, ctx.Err())
	case !ok:
		return nil, fmt.Errorf("get %s: %w", key, handoff.ErrNotFound)
	}
	return bytes.Clone(body), nil
}

// GetRange reads a part; a shorter object is ErrDigest.
func (a *Archive) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	body, err := a.Get(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case offset < 0 || length < 0:
		return nil, errors.New("no such range")
	case length > int64(len(body))-offset:
		return nil, fmt.Errorf("get %s: %w", key, handoff.ErrDigest)
	}
	return body[offset : offset+length], nil
}

// List gives keys with the prefix, ascending.
func (a *Archive) List(ctx context.Context, prefix string, limit int) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(a.objects)), func(k string) bool { return !strings.HasPrefix(k, prefix) })
	return keys[:min(limit, len(keys))], ctx.Err()
}

// Refresh has nothing to do: nothing expires here.
func (a *Archive) Refresh(ctx context.Context, key string) error {
	_, err := a.Get(ctx, key)
	return err
}
