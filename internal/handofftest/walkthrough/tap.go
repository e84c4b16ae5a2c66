package walkthrough

import (
	"context"

	"github.com/turnleaf/turnleaf/internal/fault"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// tap is the process under test, and the archive behind it, which a story may replace while the process lives.
type tap struct {
	*fault.Process
	archive handoff.Archive
}

// hook arms a one-shot hook right before or after the next call of a site; its error is what the process sees.
func (t *tap) hook(when, site string, f func() error) {
	if when == "before" {
		t.Before(site, f)
		return
	}
	t.After(site, f)
}

// behind is the archive as it stands at each call.
type behind struct{ t *tap }

func (b behind) Put(ctx context.Context, key string, body []byte) error {
	return b.t.archive.Put(ctx, key, body)
}

func (b behind) Get(ctx context.Context, key string) ([]byte, error) {
	return b.t.archive.Get(ctx, key)
}

func (b behind) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	return b.t.archive.GetRange(ctx, key, offset, length)
}

func (b behind) List(ctx context.Context, prefix string, limit int) ([]string, error) {
	return b.t.archive.List(ctx, prefix, limit)
}

func (b behind) Refresh(ctx context.Context, key string) error {
	return b.t.archive.Refresh(ctx, key)
}
