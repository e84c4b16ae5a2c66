package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// servers are the listeners of this process, all on loopback, each behind a token.
type servers struct {
	running []*http.Server
	served  []chan error
}

// start listens on address, or on a free port of loopback if it is taken, and serves h in the background. It returns the address
// taken. The handler is made for it, because the guard checks the Host of each request.
func (s *servers) start(ctx context.Context, address string, handler func(address string) http.Handler) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		l, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", fmt.Errorf("listen on loopback: %w", err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return "", errors.Join(fmt.Errorf("listen on %s: not a loopback address", l.Addr()), l.Close())
	}
	srv := &http.Server{
		Handler: handler(l.Addr().String()), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 256 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	s.running, s.served = append(s.running, srv), append(s.served, done)
	return l.Addr().String(), nil
}

// stop lets requests finish for a second, then cuts them off. No goroutine of the servers is left.
func (s *servers) stop() error {
	var errs []error
	for i, srv := range s.running {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if srv.Shutdown(ctx) != nil {
			errs = append(errs, srv.Close())
		}
		cancel()
		if err := <-s.served[i]; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, fmt.Errorf("serve: %w", err))
		}
	}
	s.running, s.served = nil, nil
	return errors.Join(errs...)
}
