// Command release builds what a release consists of: the command for every platform, the functions for both of Lambda's, an SBOM of each,
// and the checksums of all. The same revision and the same Go give the same bytes.
//
// usage: release CYCLONEDX FOLDER
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// product is one archive of a release.
type product struct {
	pkg, goos, goarch string
	tags              string
	binary            string   // its name inside the archive
	files             []string // of the repository, beside it
}

// name is that of its archive, without the ending.
func (p product) name(version string) string {
	what := "turnleaf"
	if function, ok := strings.CutPrefix(p.pkg, "functions/"); ok {
		what += "-" + function
	}
	return fmt.Sprintf("%s_%s_%s_%s", what, version, p.goos, p.goarch)
}

func products() []product {
	var all []product
	papers := []string{"LICENSE", "README.md", "CHANGELOG.md"}
	for _, goos := range []string{"linux", "darwin"} { // not windows: the embedded store takes a lock that only these have
		for _, goarch := range []string{"amd64", "arm64"} {
			all = append(all, product{pkg: "cmd/turnleaf", goos: goos, goarch: goarch, binary: "turnleaf", files: papers})
		}
	}
	for _, name := range []string{"poll", "apply", "review"} {
		for _, goarch := range []string{"arm64", "amd64"} {
			all = append(all, product{pkg: "functions/" + name, goos: "linux", goarch: goarch, tags: "lambda.norpc", binary: "bootstrap", files: []string{"LICENSE"}})
		}
	}
	return all
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: release CYCLONEDX FOLDER")
	}
	cyclonedx, folder := args[0], args[1]
	version, err := versionOf(ctx)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // published, so readable
		return err
	}
	for _, p := range products() {
		if err := p.make(ctx, cyclonedx, folder, version); err != nil {
			return fmt.Errorf("%s: %w", p.name(version), err)
		}
		fmt.Println(p.name(version))
	}
	return sums(folder)
}

// versionOf is the tag of this revision, or what git calls it otherwise. What is not committed is no release.
func versionOf(ctx context.Context) (string, error) {
	dirty, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
	if err != nil {
		return "", fmt.Errorf("ask git: %w", err)
	}
	if len(dirty) > 0 {
		return "", fmt.Errorf("these changes are not committed:\n%s", dirty)
	}
	out, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always").Output()
	return strings.TrimSpace(string(out)), err
}

// make builds one binary, describes what went into it, and packs it.
func (p product) make(ctx context.Context, cyclonedx, folder, version string) error {
	scratch, err := os.MkdirTemp("", "turnleaf-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	binary := filepath.Join(scratch, p.binary)
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=true", "-trimpath", "-tags", p.tags, "-ldflags", "-s -w", "-o", binary, "./"+p.pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.goos, "GOARCH="+p.goarch)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	sbom := filepath.Join(folder, p.name(version)+".cdx.json")
	if out, err := exec.CommandContext(ctx, cyclonedx, "bin", "-json", "-noserial", "-output", sbom, binary).CombinedOutput(); err != nil {
		return fmt.Errorf("list its modules: %w: %s", err, out)
	}
	return pack(filepath.Join(folder, p.name(version)), p.binary == "bootstrap", append([]string{binary}, p.files...))
}

// sums writes the checksums of everything in the folder, as sha256sum -c reads them.
func sums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name())) //nolint:gosec // just written
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(b), e.Name()))
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644) //nolint:gosec // published, so readable
}
