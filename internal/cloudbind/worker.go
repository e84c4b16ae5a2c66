package cloudbind

import (
	"context"
	"io"
	"time"

	"github.com/turnleaf/turnleaf/internal/bind"
	"github.com/turnleaf/turnleaf/internal/cloud"
	"github.com/turnleaf/turnleaf/internal/config"
	"github.com/turnleaf/turnleaf/internal/ddbstate"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Worker is what poll and apply are made of: clients and definitions, made once a process and used by every invocation.
type Worker struct {
	Engine  *handoff.Engine
	State   *ddbstate.Store
	Binder  *bind.Binder
	Defined []handoff.Stream // that a definition names
	Rec     *cloud.Recorder
}

// Open reads the environment and joins everything; log lines and metrics go to out.
func Open(ctx context.Context, getenv func(string) string, out io.Writer) (*Worker, error) {
	c, err := config.ParseWorker(getenv)
	if err != nil {
		return nil, err
	}
	sdk, err := cloud.LoadAWS(ctx)
	if err != nil {
		return nil, err
	}
	w := &Worker{}
	if w.Binder, w.Defined, err = Load(sdk, c.Streams); err != nil {
		return nil, err
	}
	w.Rec = cloud.NewRecorder(cloud.Log(out, c.Log), cloud.MeterOf(out, c.Metrics, cloud.Timing(c.Times)), time.Now)
	w.Engine, w.State = cloud.Engine(sdk, c.Stores, c.Queues, c.Times, w.Rec)
	return w, nil
}
