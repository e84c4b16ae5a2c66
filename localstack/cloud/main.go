// Command cloud is `make local-cloud`: the template, deployed to an emulated cloud on this machine, with the demo's feed to consume. It
// needs neither Docker nor an account, and takes everything away again when it is interrupted.
//
//	go run ./localstack/cloud [-port 4566] [-folder .build/local-cloud]
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
	port := flag.Int("port", 0, "port on 127.0.0.1; 0 takes a free one")
	folder := flag.String("folder", ".build/local-cloud", "where everything is kept while it runs; removed before and after")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Stdout, *folder, *port)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "local-cloud:", err)
		stop()
		os.Exit(1) //nolint:gocritic // what was deferred is done
	}
}

// stackName is what `turnleaf --stack` is told.
const stackName = "turnleaf"

// run builds, deploys, tells how to use it, and waits for the end. Whatever it started has ended when it returns.
func run(ctx context.Context, out io.Writer, folder string, port int) (err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, "home"), 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	feed, err := startFeed(ctx, filepath.Join(folder, "demo"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, feed.stop()) }()
	cloud, err := emulator.Start(emulator.Options{Folder: filepath.Join(folder, "ministack"), Port: port})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cloud.Stop()) }()
	outputs, err := put(ctx, out, folder, cloud, feed)
	if err != nil {
		return err
	}
	greet(out, cloud, outputs)
	select {
	case <-ctx.Done():
		_, err = fmt.Fprintln(out, "\nstopping")
	case <-cloud.Wait():
		err = fmt.Errorf("the emulator ended; it said: %s", cloud.Said(2000))
	}
	return err
}

// put builds the tree with the demo's definition in it, and deploys it.
func put(ctx context.Context, out io.Writer, folder string, cloud *emulator.Process, feed *feed) (map[string]string, error) {
	root, err := emulator.Root()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "sam.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // for people; what matters of it is in sam's error
	sam := deploy.SAM{Tree: filepath.Join(folder, "tree"), Home: filepath.Join(folder, "home"), Endpoint: cloud.Endpoint, Log: log}
	if err := deploy.CopyTree(ctx, root, sam.Tree); err != nil {
		return nil, err
	}
	if err := feed.define(filepath.Join(sam.Tree, "streams")); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		says string
		do   func() error
	}{
		{"starting the emulator", func() error { return deploy.Ready(ctx, cloud) }},
		{"sam build: a first one takes a minute or two", func() error { return sam.Build(ctx) }},
		{"sam deploy", func() error {
			return sam.Deploy(ctx, stackName, "Architecture="+deploy.HostArchitecture(), "FunctionSeconds=10", "DeletionProtection=false")
		}},
		{"", func() error { return deploy.Mend(ctx, cloud.Endpoint) }},
	} {
		if step.says != "" {
			if _, err := fmt.Fprintln(out, step.says); err != nil {
				return nil, err
			}
		}
		if err := step.do(); err != nil {
			return nil, err
		}
	}
	outputs, err := deploy.Outputs(ctx, deploy.Config(cloud.Endpoint), stackName)
	if err != nil {
		return nil, err
	}
	return outputs, deploy.Tick(ctx, cloud.Endpoint, outputs["PollFunction"]) // nobody wants to wait a minute for the first one
}
