package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/turnleaf/turnleaf/internal/demo"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
)

// feed is the demo's event API on this machine, guarded by a token that only the functions know.
type feed struct {
	server     *http.Server
	done       chan error
	definition string // its file
}

// The seed of the demo, so that everybody meets the same events, and how long an answer takes.
const (
	seed  = 20260301
	delay = 100 * time.Millisecond
)

// startFeed serves until stop.
func startFeed(ctx context.Context, folder string) (*feed, error) {
	saved, err := demo.Load(folder, seed, time.Now())
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve demo feed: %w", err)
	}
	saved.Address = listener.Addr().String()
	token := rand.Text()
	f := &feed{done: make(chan error, 1)}
	f.server = &http.Server{Handler: reviewapi.Loopback(token, demo.Handler(saved.Feed(), time.Now, delay)), ReadHeaderTimeout: 5 * time.Second}
	if f.definition, err = saved.Write(folder, token); err != nil {
		_ = listener.Close() // nobody was served yet
		return nil, err
	}
	go func() { f.done <- f.server.Serve(listener) }()
	return f, nil
}

// define puts the demo's definition where it is packaged with the functions.
func (f *feed) define(streams string) error {
	text, err := os.ReadFile(f.definition)
	if err != nil {
		return fmt.Errorf("read demo definition: %w", err)
	}
	if err := os.WriteFile(filepath.Join(streams, demo.Name+".yaml"), text, 0o600); err != nil {
		return fmt.Errorf("write demo definition: %w", err)
	}
	return nil
}

func (f *feed) stop() error {
	err := f.server.Close()
	if served := <-f.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
