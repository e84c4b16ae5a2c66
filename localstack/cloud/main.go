// Command cloud is `make local-cloud`: the template, deployed to an emulated cloud on this machine, with the demo's feed to consume. It
// needs neither Docker nor an account, and takes everything away again when it is interrupted.
//
//	go run ./localstack/cloud [-port 4566] [-folder .build/local-cloud]
//
// With -endpoint it deploys what streams/ has to an emulator that somebody else started, the one of compose.yaml say, and ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/turnleaf/turnleaf/localstack/deploy"
	"github.com/turnleaf/turnleaf/localstack/emulator"
)

func main() {
	var o options
	flag.IntVar(&o.port, "port", 0, "port on 127.0.0.1; 0 takes a free one")
	flag.StringVar(&o.folder, "folder", ".build/local-cloud", "where everything is kept while it runs; removed before and after")
	flag.StringVar(&o.endpoint, "endpoint", "", "address of an emulator that runs already; none is started, and no feed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, o)
	interrupted := ctx.Err() != nil
	stop()
	if err != nil && !interrupted {
		fmt.Fprintln(os.Stderr, "local-cloud:", err)
		os.Exit(1)
	}
}

// options are the command line's.
type options struct {
	port             int
	folder, endpoint string
}

// stackName is what `turnleaf --stack` is told.
const stackName = "turnleaf"

// run prepares the folder, and removes it at the end.
func run(ctx context.Context, out io.Writer, o options) (err error) {
	if o.folder, err = filepath.Abs(o.folder); err != nil {
		return fmt.Errorf("find the folder: %w", err)
	}
	if err := os.RemoveAll(o.folder); err != nil {
		return fmt.Errorf("empty the folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(o.folder, "home"), 0o700); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.folder)) }()
	if o.endpoint != "" {
		outputs, err := put(ctx, out, o.folder, o.endpoint, func(string) error { return nil })
		if err != nil {
			return err
		}
		return deployed(out, o.endpoint, outputs)
	}
	return own(ctx, out, o)
}

// own starts an emulator and the demo's feed, deploys, and waits for the end. Whatever it started has ended when it returns.
func own(ctx context.Context, out io.Writer, o options) (err error) {
	feed, err := startFeed(ctx, filepath.Join(o.folder, "demo"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, feed.stop()) }()
	cloud, err := emulator.Start(emulator.Options{Folder: filepath.Join(o.folder, "ministack"), Port: o.port})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cloud.Stop()) }()
	if err := deploy.Ready(ctx, cloud); err != nil {
		return err
	}
	outputs, err := put(ctx, out, o.folder, cloud.Endpoint, feed.define)
	if err != nil {
		return err
	}
	if err := greet(out, cloud, outputs); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		_, err = fmt.Fprintln(out, "\nstopping")
	case <-cloud.Wait():
		err = fmt.Errorf("the emulator ended; it said: %s", cloud.Said(2000))
	}
	return err
}

// put builds a copy of the repository, with what define puts into its streams, and deploys it.
func put(ctx context.Context, out io.Writer, folder, endpoint string, define func(streams string) error) (map[string]string, error) {
	root, err := emulator.Root()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "sam.log"))
	if err != nil {
		return nil, fmt.Errorf("make sam's log: %w", err)
	}
	defer func() { _ = log.Close() }() // for people; what matters of it is in sam's error
	sam := deploy.SAM{Tree: filepath.Join(folder, "tree"), Home: filepath.Join(folder, "home"), Endpoint: endpoint, Log: log}
	if err := deploy.CopyTree(ctx, root, sam.Tree); err != nil {
		return nil, err
	}
	if err := define(filepath.Join(sam.Tree, "streams")); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		says string
		do   func() error
	}{
		{"sam build: a first one takes a minute or two", func() error { return sam.Build(ctx) }},
		{"sam deploy", func() error {
			return sam.Deploy(ctx, stackName, "Architecture="+deploy.HostArchitecture(), "FunctionSeconds=10", "DeletionProtection=false")
		}},
	} {
		if _, err := fmt.Fprintln(out, step.says); err != nil {
			return nil, err
		}
		if err := step.do(); err != nil {
			return nil, err
		}
	}
	if err := deploy.Mend(ctx, endpoint); err != nil {
		return nil, err
	}
	outputs, err := deploy.Outputs(ctx, deploy.Config(endpoint), stackName)
	if err != nil {
		return nil, err
	}
	return outputs, deploy.Tick(ctx, endpoint, outputs["PollFunction"]) // nobody wants to wait a minute for the first one
}
