package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// epoch is the time of every packed file, so that the same content gives the same bytes.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// pack writes name.zip or name.tar.gz with the given files at its top; the first may be executed.
func pack(name string, zipped bool, files []string) (err error) {
	ending := ".tar.gz"
	if zipped {
		ending = ".zip"
	}
	out, err := os.Create(name + ending) //nolint:gosec // a release's own folder
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if zipped {
		return packZip(out, files)
	}
	return packTar(out, files)
}

func mode(i int) os.FileMode {
	if i == 0 {
		return 0o755
	}
	return 0o644
}

func packZip(out io.Writer, files []string) error {
	z := zip.NewWriter(out)
	for i, file := range files {
		h := &zip.FileHeader{Name: filepath.Base(file), Method: zip.Deflate, Modified: epoch}
		h.SetMode(mode(i))
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(file) //nolint:gosec // named by this program
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return z.Close()
}

func packTar(out io.Writer, files []string) error {
	gz := gzip.NewWriter(out)
	t := tar.NewWriter(gz)
	for i, file := range files {
		b, err := os.ReadFile(file) //nolint:gosec // named by this program
		if err != nil {
			return err
		}
		h := &tar.Header{Name: filepath.Base(file), Mode: int64(mode(i)), Size: int64(len(b)), ModTime: epoch, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(b); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), gz.Close())
}
