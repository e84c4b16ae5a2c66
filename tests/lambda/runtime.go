package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// function is one execution environment: a process of a function's binary, and the Runtime API that it asks for work. Only the documented
// protocol is spoken: next, response, error, init/error.
type function struct {
	name    string
	process *exec.Cmd
	server  *http.Server
	next    chan invocation // to the process
	started time.Time
	asked   chan time.Time // when the process first asked for work

	mu      sync.Mutex             // guards the rest
	n       int                    // invocations given out
	answers map[string]chan answer // by request id
	onGive  func()                 // runs once the process has the next event
	gone    chan struct{}          // closed when the process has ended
}

type invocation struct {
	id       string
	event    []byte
	deadline time.Time
}

type answer struct {
	body []byte
	err  error
}

// errDied: the process ended before it answered.
var errDied = errors.New("the function's process ended")

// start runs a binary as Lambda would.
func start(binary, name string, env []string) (*function, error) {
	f := &function{
		name: name, next: make(chan invocation), asked: make(chan time.Time, 1), answers: map[string]chan answer{}, gone: make(chan struct{}),
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", f.serveNext)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", f.serveAnswer)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", f.serveAnswer)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	f.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = f.server.Serve(listener) }() // ends with stop
	f.process = exec.Command(binary)
	f.process.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + listener.Addr().String(), "_HANDLER=bootstrap", "AWS_LAMBDA_FUNCTION_NAME=" + name}, env...)
	f.process.Stdout, f.process.Stderr = os.Stderr, os.Stderr
	if os.Getenv("TURNLEAF_VERBOSE") == "" {
		f.process.Stdout = io.Discard
	}
	f.started = time.Now()
	if err := f.process.Start(); err != nil {
		return nil, errors.Join(err, f.server.Close())
	}
	go func() {
		_ = f.process.Wait() // however it ended: gone says that it did
		close(f.gone)
	}()
	return f, nil
}

func (f *function) serveNext(w http.ResponseWriter, r *http.Request) {
	select {
	case f.asked <- time.Now():
	default:
	}
	select {
	case <-r.Context().Done():
	case in := <-f.next:
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", in.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(in.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:"+f.name)
		_, _ = w.Write(in.event) // a process that is gone answers nothing either
		_ = http.NewResponseController(w).Flush()
		f.mu.Lock()
		hook := f.onGive
		f.onGive = nil
		f.mu.Unlock()
		if hook != nil {
			hook()
		}
	}
}

func (f *function) serveAnswer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if r.URL.Path[len(r.URL.Path)-len("/error"):] == "/error" && err == nil {
		err = fmt.Errorf("%s answered an error: %.500s", f.name, body)
	}
	f.mu.Lock()
	ch := f.answers[r.PathValue("id")]
	delete(f.answers, r.PathValue("id"))
	f.mu.Unlock()
	if ch != nil {
		ch <- answer{body, err}
	}
	w.WriteHeader(http.StatusAccepted)
}

// invoke hands one event over and waits for its answer.
func (f *function) invoke(ctx context.Context, event any, life time.Duration) ([]byte, error) {
	raw, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.n++
	in := invocation{id: fmt.Sprintf("%s-%d", f.name, f.n), event: raw, deadline: time.Now().Add(life)}
	ch := make(chan answer, 1)
	f.answers[in.id] = ch
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	select {
	case f.next <- in:
	case <-f.gone:
		return nil, errDied
	case <-ctx.Done():
		return nil, fmt.Errorf("%s never asked for work: %w", f.name, ctx.Err())
	}
	select {
	case a := <-ch:
		return a.body, a.err
	case <-f.gone:
		return nil, errDied
	case <-ctx.Done():
		return nil, fmt.Errorf("%s timed out: %w", f.name, ctx.Err())
	}
}

// kill ends the process at once, by its own id, and waits until it is gone.
func (f *function) kill() error {
	err := f.process.Process.Kill()
	<-f.gone
	return errors.Join(err, f.server.Close())
}

// stop ends an idle function.
func (f *function) stop() error {
	select {
	case <-f.gone:
		return f.server.Close()
	default:
		return f.kill()
	}
}
