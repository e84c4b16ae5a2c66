// Command count reads `go test -json` and ends with one line of counts, "12 passed, 0 failed". It fails if anything failed, was
// skipped, or if nothing ran: a test that did not run proves nothing.
//
//	go test -json ./... | go run ./.ci/count -name unit
//	go run ./.ci/count -total lint,unit,feed
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	name := flag.String("name", "", "keep the counts under this name, for -total")
	total := flag.String("total", "", "add up the counts kept under these names, instead of reading a run")
	live := flag.Bool("v", false, "print all output as it comes, not only that of failures")
	folder := flag.String("folder", ".build/counts", "where counts are kept")
	flag.Parse()
	t, err := count(*name, *total, *folder, *live)
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
		os.Exit(1)
	}
	if t == (tally{}) {
		fmt.Println("nothing ran")
	}
	fmt.Printf("%d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 || t.passed == 0 {
		os.Exit(1)
	}
}

// tally is what is counted: tests without subtests of their own, and packages that failed without a failing test.
type tally struct{ passed, failed int }

func count(name, total, folder string, live bool) (tally, error) {
	if total != "" {
		return add(folder, strings.Split(total, ","))
	}
	if err := forget(folder, name); err != nil {
		return tally{}, err
	}
	t, err := read(os.Stdin, os.Stdout, live)
	if err != nil {
		return tally{}, err
	}
	return t, keep(folder, name, t)
}

// forget drops the counts of an earlier run, so that a run that dies leaves none.
func forget(folder, name string) error {
	if name == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func keep(folder, name string, t tally) error {
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), fmt.Appendf(nil, "%d %d\n", t.passed, t.failed), 0o644)
}

func add(folder string, names []string) (tally, error) {
	var sum tally
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return tally{}, err
		}
		var t tally
		if _, err := fmt.Sscanf(string(b), "%d %d", &t.passed, &t.failed); err != nil {
			return tally{}, fmt.Errorf("read counts of %s: %w", name, err)
		}
		sum.passed += t.passed
		sum.failed += t.failed
	}
	return sum, nil
}
