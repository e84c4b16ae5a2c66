// Command review is the Lambda function behind the operators' HTTP API.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
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
	c, err := config.ParseReview(os.Getenv)
	if err != nil {
		return nil, err
	}
	sdk, err := cloud.LoadAWS(ctx)
	if err != nil {
		return nil, err
	}
	rec := cloud.NewRecorder(cloud.Log(os.Stdout, c.Log), cloud.MeterOf(os.Stdout, c.Metrics, cloud.Timing(c.Times)), time.Now)
	engine, state := cloud.Engine(sdk, c.Stores, c.Queues, c.Times, rec)
	return &handler{api: reviewapi.New(reviewapi.Config{Engine: engine, State: state, Actor: actorOf, Report: rec.Report}), rec: rec}, nil
}
