// Package dirarchive is handoff.Archive on a folder: one file an object. A done write is on the disk: the file is synced, and so is
// every folder up to the root that gained an entry.
package dirarchive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// tempPrefix begins the names of files on their way; no key part may begin like this.
const tempPrefix = ".tmp-"

// staleTemp is the age from which a temporary file is what a crash left.
const staleTemp = time.Hour

// Archive is an open folder. Its methods may be called concurrently, also from several processes.
type Archive struct {
	root *os.Root // keeps every path inside, whatever a key or a link says
	path string
}

var _ handoff.Archive = (*Archive)(nil)

// Open creates the folder if needed, and removes what crashed writes left in it.
func Open(path string) (*Archive, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	a := &Archive{root: root, path: path}
	if err := a.clean(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return a, nil
}

// Close gives the folder's handle up.
func (a *Archive) Close() error { return a.root.Close() }

// clean removes old temporary files at the root, where all of them are made.
func (a *Archive) clean() error {
	entries, err := os.ReadDir(a.path)
	if err != nil {
		return fmt.Errorf("clean archive: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), tempPrefix) || time.Since(info.ModTime()) < staleTemp {
			continue
		}
		if err := a.root.Remove(e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clean archive: %w", err)
		}
	}
	return nil
}

// check refuses keys that are no plain path: nothing a source says may lead out of the folder, or to a file that cannot be.
func check(key string) error {
	for part := range strings.SplitSeq(key, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return fmt.Errorf("archive key %.80q: an empty or relative part", key)
		case len(part) > 255:
			return fmt.Errorf("archive key %.80q: a part of %d bytes, at most 255", key, len(part))
		case strings.ContainsAny(part, "\x00\\"):
			return fmt.Errorf("archive key %.80q: a character that no file name has", key)
		case strings.HasPrefix(part, tempPrefix):
			return fmt.Errorf("archive key %.80q: parts that begin with %s are ours", key, tempPrefix)
		}
	}
	return nil
}

// Put writes a temporary file, syncs it, and links it into place, which fails if the name is taken. Dying before the link leaves a
// temporary file; dying after it leaves the object, perhaps without its folder's entry on the disk, and then it is written again.
func (a *Archive) Put(ctx context.Context, key string, body []byte) error {
	if err := errors.Join(check(key), ctx.Err()); err != nil {
		return err
	}
	made, err := a.folders(key)
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	temp, err := a.writeTemp(body)
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	err = a.root.Link(temp, key)
	if removeErr := a.root.Remove(temp); removeErr != nil {
		err = errors.Join(err, removeErr)
	}
	if errors.Is(err, fs.ErrExist) {
		if err = a.same(key, body); err != nil {
			return err
		}
	} else if err != nil {
		return fmt.Errorf("put %s: %w: %w", key, handoff.ErrUnknown, err)
	}
	// Also when it was there already: whoever put it may have died before these.
	for _, dir := range made {
		if err := a.sync(dir); err != nil {
			return fmt.Errorf("put %s: %w: %w", key, handoff.ErrUnknown, err)
		}
	}
	return nil
}

// folders makes the folders of a key and gives all of them, deepest first, the root last.
func (a *Archive) folders(key string) ([]string, error) {
	var dirs []string
	for dir := filepath.Dir(key); dir != "."; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if err := a.root.Mkdir(dirs[i], 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return append(dirs, "."), nil
}

func (a *Archive) writeTemp(body []byte) (name string, err error) {
	f, err := os.CreateTemp(a.path, tempPrefix)
	if err != nil {
		return "", err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	name = filepath.Base(f.Name())
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, a.root.Remove(name)) // on a full disk above all, nothing may stay
	}
	return name, nil
}

func (a *Archive) sync(dir string) error {
	f, err := a.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// same compares with what is there.
func (a *Archive) same(key string, body []byte) error {
	have, err := a.root.ReadFile(key)
	if err != nil {
		return fmt.Errorf("put %s: %w: %w", key, handoff.ErrUnknown, err)
	}
	if !bytes.Equal(have, body) {
		return fmt.Errorf("put %s: other bytes are there: %w", key, handoff.ErrRefused)
	}
	return nil
}

// Get reads an object whole.
func (a *Archive) Get(ctx context.Context, key string) ([]byte, error) {
	if err := errors.Join(check(key), ctx.Err()); err != nil {
		return nil, err
	}
	b, err := a.root.ReadFile(key)
	return b, translate("get", key, err)
}

// GetRange reads a part of an object.
func (a *Archive) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if err := errors.Join(check(key), ctx.Err()); err != nil {
		return nil, err
	}
	if offset < 0 || length < 0 {
		return nil, fmt.Errorf("get %s: no range of %d bytes from %d", key, length, offset)
	}
	f, err := a.root.Open(key)
	if err != nil {
		return nil, translate("get", key, err)
	}
	b, err := readRange(f, offset, length)
	return b, translate("get", key, errors.Join(err, f.Close()))
}

// readRange measures before it makes room: a length comes from a directory, which may have been tampered with.
func readRange(f *os.File, offset, length int64) ([]byte, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, syscall.EISDIR
	case length > info.Size()-offset:
		return nil, fmt.Errorf("%w: %d bytes, less than %d from %d", handoff.ErrDigest, info.Size(), length, offset)
	}
	b := make([]byte, length)
	_, err = f.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: cut while it was read", handoff.ErrDigest)
	}
	return b, err
}

// Refresh starts an object's life anew.
func (a *Archive) Refresh(ctx context.Context, key string) error {
	if err := errors.Join(check(key), ctx.Err()); err != nil {
		return err
	}
	info, err := a.root.Stat(key)
	if err == nil && info.IsDir() {
		err = syscall.EISDIR
	}
	if err == nil {
		now := time.Now()
		err = a.root.Chtimes(key, now, now)
	}
	return translate("refresh", key, err)
}

// translate is for what reads: a folder of that name, or a file where a folder would be, is no object either.
func translate(op, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s %s: %w", op, key, handoff.ErrNotFound)
	}
	return fmt.Errorf("%s %s: %w", op, key, err)
}
