package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range products() {
		seen[p.name("v1.2.3")] = true
	}
	for _, want := range []string{"turnleaf_v1.2.3_linux_amd64", "turnleaf_v1.2.3_darwin_arm64", "turnleaf-poll_v1.2.3_linux_arm64", "turnleaf-review_v1.2.3_linux_amd64"} {
		if !seen[want] {
			t.Errorf("no %s among %v", want, seen)
		}
	}
	if len(seen) != len(products()) {
		t.Error("two products have one name")
	}
}

// The same files give the same bytes, the first may be executed, and what is packed comes out as it was.
func TestPack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "turnleaf")
	if err := os.WriteFile(file, []byte("binary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, zipped := range []bool{true, false} {
		var packed [2][]byte
		for i, name := range []string{"one", "two"} {
			ending := map[bool]string{true: ".zip", false: ".tar.gz"}[zipped]
			if err := pack(filepath.Join(dir, name), zipped, []string{file}); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, name+ending))
			if err != nil {
				t.Fatal(err)
			}
			packed[i] = b
		}
		if !bytes.Equal(packed[0], packed[1]) {
			t.Errorf("zip %t: the same file packs to different bytes", zipped)
		}
		name, mode, body := first(t, zipped, packed[0])
		if name != "turnleaf" || mode&0o111 == 0 || body != "binary" {
			t.Errorf("zip %t: %s, %o, %q", zipped, name, mode, body)
		}
	}
}

func first(t *testing.T, zipped bool, b []byte) (name string, mode int64, body string) {
	t.Helper()
	if zipped {
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := z.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return z.File[0].Name, int64(z.File[0].Mode()), string(text)
	}
	gz, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(gz)
	h, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return h.Name, h.Mode, string(text)
}
