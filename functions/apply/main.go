// Command apply is the Lambda function that settles: one chunk of a page per message.
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
	h := &handler{engine: w.Engine, binder: w.Binder, effectOf: custom, rec: w.Rec}
	lambda.Start(h.handle)
}
