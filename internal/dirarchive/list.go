package dirarchive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// List gives keys with the prefix, ascending, up to limit. It walks only folders that can hold such keys.
func (a *Archive) List(ctx context.Context, prefix string, limit int) ([]string, error) {
	start := path.Dir(prefix + "x") // the deepest folder that every such key lies under
	var keys []string
	err := fs.WalkDir(a.root.FS(), start, func(key string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENOTDIR):
			return nil // no such folder, no such key
		case err != nil:
			return err // a folder that cannot be read may hold such keys
		case d.IsDir():
			if key != "." && !strings.HasPrefix(key+"/", prefix) && !strings.HasPrefix(prefix, key+"/") {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && strings.HasPrefix(key, prefix) && !strings.HasPrefix(key, tempPrefix):
			keys = append(keys, key)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	slices.Sort(keys) // a walk orders by part, keys are ordered whole
	if len(keys) > limit {
		keys = keys[:limit]
	}
	return keys, nil
}
