// Package deploy builds this repository with `sam build` and puts it on an emulated cloud with `sam deploy`: what `make local-cloud` does
// for a person, and tests/e2e for a machine. The working tree is never touched: a copy of it is built.
package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// CopyTree copies what a clone would have, and what git does not ignore, from the repository at root into the folder at to.
func CopyTree(ctx context.Context, root, to string) error {
	// Whose the files are is no matter here, and git would refuse to look at somebody else's.
	list := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	var said bytes.Buffer
	list.Stderr = &said
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the repository's files: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(names, []byte{0}), []byte{0}) {
		err := copyFile(filepath.Join(root, string(name)), filepath.Join(to, string(name)))
		if errors.Is(err, fs.ErrNotExist) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			return fmt.Errorf("copy the repository: %w", err)
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
