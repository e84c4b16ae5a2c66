// Command poll is the Lambda function that fetches: a scheduled tick for every stream, and a continuation for one.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/cloudbind"
	"github.com/turnleaf/turnleaf/internal/config"
)

func main() {
	h, err := build(context.Background())
	if err != nil {
		slog.Error("start", slog.Any("err", err)) //nolint:sloglint // no invocation, no context
		os.Exit(1)
	}
	lambda.Start(h.handle)
}

// build makes clients once; every invocation uses them.
func build(ctx context.Context) (*handler, error) {
	c, err := config.ParseWorker(os.Getenv)
	if err != nil {
		return nil, err
	}
	sdk, err := cloud.LoadAWS(ctx)
	if err != nil {
		return nil, err
	}
	binder, names, err := cloudbind.Load(sdk, c.Streams)
	if err != nil {
		return nil, err
	}
	log := cloud.Log(os.Stdout, c.Log)
	steps := cloud.NewSteps(log)
	engine, state := cloud.Engine(sdk, c.Stores, c.Queues, c.Times, steps)
	return &handler{engine: engine, queue: engine.Queue, streams: state, binder: binder, defined: names, log: log, steps: steps}, nil
}
