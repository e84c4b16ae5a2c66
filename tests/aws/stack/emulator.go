package stack

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// emulator is a MiniStack process of ours.
type emulator struct {
	endpoint string
	cmd      *exec.Cmd
	folder   string
	log      string
	done     chan struct{} // closed once the process has ended
}

// python finds the interpreter that .ci/venv.sh made.
func python() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
	}
	path := filepath.Join(dir, ".venv", "bin", "python")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the AWS emulator is not installed (%s is missing): run .ci/venv.sh, or name a running one in AWS_ENDPOINT_URL", path)
	}
	return path, nil
}

// freePort asks the kernel for one. Somebody may take it before the emulator does; then the emulator ends, and says so.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return strconv.Itoa(port), l.Close()
}

func startEmulator() (*emulator, error) {
	py, err := python()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	folder, err := os.MkdirTemp("", "turnleaf-ministack-")
	if err != nil {
		return nil, err
	}
	e := &emulator{endpoint: "http://127.0.0.1:" + port, folder: folder, log: filepath.Join(folder, "log"), done: make(chan struct{})}
	if err := e.start(py, port); err != nil {
		return nil, errors.Join(fmt.Errorf("start the emulator: %w", err), os.RemoveAll(folder))
	}
	return e, nil
}

func (e *emulator) start(py, port string) error {
	out, err := os.Create(e.log)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the child has its own handle
	e.cmd = exec.Command(py, "-m", "ministack")
	e.cmd.Dir, e.cmd.Stdout, e.cmd.Stderr = e.folder, out, out
	e.cmd.Env = append(os.Environ(), "BIND_HOST=127.0.0.1", "GATEWAY_PORT="+port, "AWS_ENDPOINT_URL="+e.endpoint, "IOT_MTLS_ENABLED=0",
		"SFTP_ENABLED=0", "TMPDIR="+e.folder, "HOME="+e.folder)
	e.cmd.SysProcAttr = ownGroup()
	started := make(chan error, 1)
	go func() {
		// A process that asked to die with its parent dies with the thread that made it: that thread waits here.
		runtime.LockOSThread()
		err := e.cmd.Start()
		started <- err
		if err == nil {
			_ = e.cmd.Wait() // how it ended is in its log
		}
		close(e.done)
	}()
	return <-started
}

// ended reports that the process is gone.
func (e *emulator) ended() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// said is the end of what the emulator printed.
func (e *emulator) said() string {
	b, err := os.ReadFile(e.log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b[max(0, len(b)-2000):]))
}

// stopWait is how long the emulator may take to end in order.
const stopWait = 5 * time.Second

// stop ends the process and whatever it started: all of its group.
func (e *emulator) stop() error {
	group := -e.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // gone already is fine
	select {
	case <-e.done:
	case <-time.After(stopWait):
	}
	_ = syscall.Kill(group, syscall.SIGKILL) // its children, if any are left
	<-e.done
	return os.RemoveAll(e.folder)
}
