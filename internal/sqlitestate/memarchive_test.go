package sqlitestate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/handofftest"
)

// memArchive keeps objects in memory: the sweep opens a thousand archives, and waits for no disk.
type memArchive struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func newMemArchive() *memArchive { return &memArchive{objects: map[string][]byte{}} }

func TestMemArchive(t *testing.T) {
	t.Parallel()
	handofftest.ExerciseArchive(t, func(*testing.T) handoff.Archive { return newMemArchive() })
}

func (a *memArchive) Put(ctx context.Context, key string, body []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	have, ok := a.objects[key]
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case ok && !bytes.Equal(have, body):
		return fmt.Errorf("put %s: %w", key, handoff.ErrRefused)
	}
	a.objects[key] = bytes.Clone(body)
	return nil
}

func (a *memArchive) Get(ctx context.Context, key string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, ok := a.objects[key]
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !ok:
		return nil, fmt.Errorf("get %s: %w", key, handoff.ErrNotFound)
	}
	return bytes.Clone(body), nil
}

func (a *memArchive) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
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

func (a *memArchive) List(ctx context.Context, prefix string, limit int) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(a.objects)), func(k string) bool { return !strings.HasPrefix(k, prefix) })
	return keys[:min(limit, len(keys))], ctx.Err()
}

func (a *memArchive) Refresh(ctx context.Context, key string) error {
	_, err := a.Get(ctx, key)
	return err
}
