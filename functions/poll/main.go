// Command poll is the Lambda function that fetches: a scheduled tick for every stream, and a continuation for one.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/turnleaf/turnleaf/internal/cloudbind"
)

func main() {
	w, err := cloudbind.Open(context.Background(), os.Getenv, os.Stdout)
	if err != nil {
		slog.Error("start", slog.Any("err", err)) //nolint:sloglint // no invocation, no context
		os.Exit(1)
	}
	h := &handler{engine: w.Engine, queue: w.Engine.Queue, binder: w.Binder, holds: w.State, defined: w.Defined, rec: w.Rec}
	lambda.Start(h.handle)
}
