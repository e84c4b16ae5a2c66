// Command size prints what the built functions weigh, which packages dominate them, and how long each takes from the start of its process
// to its first request for work. It speaks the Lambda Runtime API to them and gives them nothing to do.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// starts is how many processes are timed; the median of them is printed.
const starts = 21

var (
	names = []string{"poll", "apply", "review"}
	// goals in MB and milliseconds, as the project set them.
	goals = map[string]float64{"poll": 28, "apply": 28, "review": 13}
)

const startGoal = 40.0

// deployed is the template's default: its goals are binding.
const deployed = "arm64"

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("which folder? It has ARCHITECTURE/FUNCTION/bootstrap")
	}
	var missed []error
	for _, arch := range []string{"arm64", "amd64"} {
		for _, name := range names {
			info, err := os.Stat(filepath.Join(args[0], arch, name, "bootstrap"))
			if err != nil {
				return err
			}
			mb := float64(info.Size()) / 1e6
			verdict := ""
			if mb >= goals[name] {
				verdict = ": missed"
				if arch == deployed {
					missed = append(missed, fmt.Errorf("%s for %s is %.1f MB", name, arch, mb))
				}
			}
			_, _ = fmt.Fprintf(out, "%-6s %-6s %5.1f MB   goal below %.0f%s\n", arch, name, mb, goals[name], verdict)
		}
	}
	for _, name := range names {
		took, err := timed(ctx, filepath.Join(args[0], runtime.GOARCH, name, "bootstrap"))
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		_, _ = fmt.Fprintf(out, "%-6s %-6s %5.1f ms from start to the first request for work (median of %d)   goal below %.0f\n",
			runtime.GOARCH, name, took, starts, startGoal)
		if took >= startGoal {
			missed = append(missed, fmt.Errorf("%s starts in %.1f ms", name, took))
		}
	}
	if err := dominating(ctx, out); err != nil {
		return err
	}
	return errors.Join(missed...)
}

// timed starts a function again and again.
func timed(ctx context.Context, binary string) (float64, error) {
	asked := make(chan struct{}, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close
	defer func() { _ = server.Close() }()
	var all []time.Duration
	for range starts {
		took, err := once(ctx, binary, listener.Addr().String(), asked)
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000, nil
}

func once(ctx context.Context, binary, api string, asked <-chan struct{}) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = []string{
		"AWS_LAMBDA_RUNTIME_API=" + api, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none",
		"TURNLEAF_STREAMS_TABLE=s", "TURNLEAF_RECEIPTS_TABLE=r", "TURNLEAF_PROJECTIONS_TABLE=p", "TURNLEAF_BUCKET=b",
		"TURNLEAF_CHUNK_QUEUE=c", "TURNLEAF_POLL_QUEUE=q", "TURNLEAF_STREAMS=streams",
	}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var took time.Duration
	select {
	case <-asked:
		took = time.Since(begun)
	case <-ctx.Done():
	}
	_ = cmd.Process.Kill() // it waits for work that never comes
	_ = cmd.Wait()
	if took == 0 {
		return 0, fmt.Errorf("it never asked for work: %s", said.String())
	}
	return took, nil
}

// dominating links apply once more, with its symbols, and adds their sizes up by module. Symbols are about half of a binary: tables for stack
// traces and unwinding come on top, in proportion.
func dominating(ctx context.Context, out io.Writer) error {
	folder, err := os.MkdirTemp("", "turnleaf-size-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binary := filepath.Join(folder, "apply")
	build := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-o", binary, "./functions/apply")
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64"), os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build apply: %w", err)
	}
	listing, err := exec.CommandContext(ctx, "go", "tool", "nm", "-size", binary).Output()
	if err != nil {
		return fmt.Errorf("list symbols: %w", err)
	}
	_, _ = fmt.Fprintln(out, "what dominates apply, by the code of its modules:")
	for _, m := range heaviest(string(listing), 8) {
		_, _ = fmt.Fprintf(out, "  %6.1f MB  %s\n", float64(m.bytes)/1e6, m.name)
	}
	return nil
}
