// Package emulator runs MiniStack, an AWS emulator, as a process of ours: without a container, on one port of 127.0.0.1, stopped with
// everything that it started.
package emulator

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

// Options say how it runs. The zero value is right for a test.
type Options struct {
	// Folder is where it keeps everything, its log as well; it is made. Empty is a folder of the emulator's own, gone with it.
	Folder string
	// Port on 127.0.0.1; 0 asks the kernel for a free one.
	Port int
	// Through is the address that the functions reach it by; empty is its own. A proxy in between sees every call of theirs.
	Through string
	// Env is added to its environment, as NAME=value.
	Env []string
}

// Process is a running emulator.
type Process struct {
	// Endpoint is its address, http://127.0.0.1:PORT.
	Endpoint string
	// Log is the file that it writes to.
	Log string

	cmd    *exec.Cmd
	folder string
	remove bool
	done   chan struct{} // closed once the process has ended
}

// Root finds the repository that the working directory lies in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
	}
}

// python finds the interpreter that .ci/venv.sh made.
func python() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".venv", "bin", "python")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the AWS emulator is not installed (%s is missing): run .ci/venv.sh, or name a running one in AWS_ENDPOINT_URL", path)
	}
	return path, nil
}

// freePort asks the kernel for one. Somebody may take it before the emulator does; then the emulator ends, and says so.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// Start begins to run it. It answers some three seconds later: wait for a first answer, and look at Ended meanwhile.
func Start(o Options) (*Process, error) {
	py, err := python()
	if err != nil {
		return nil, err
	}
	if o.Port == 0 {
		if o.Port, err = freePort(); err != nil {
			return nil, err
		}
	}
	p := &Process{Endpoint: "http://127.0.0.1:" + strconv.Itoa(o.Port), folder: o.Folder, done: make(chan struct{})}
	if p.folder == "" {
		p.remove = true
		p.folder, err = os.MkdirTemp("", "turnleaf-ministack-")
	} else {
		err = os.MkdirAll(p.folder, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make the emulator's folder: %w", err)
	}
	p.Log = filepath.Join(p.folder, "log")
	if err := p.start(py, o); err != nil {
		return nil, errors.Join(fmt.Errorf("start the emulator: %w", err), p.forget())
	}
	return p, nil
}

func (p *Process) start(py string, o Options) error {
	out, err := os.Create(p.Log)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the child has its own handle
	through := o.Through
	if through == "" {
		through = p.Endpoint
	}
	p.cmd = exec.Command(py, "-m", "ministack")
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.folder, out, out
	p.cmd.Env = append(os.Environ(), "BIND_HOST=127.0.0.1", "GATEWAY_PORT="+strconv.Itoa(o.Port), "AWS_ENDPOINT_URL="+through,
		"IOT_MTLS_ENABLED=0", "SFTP_ENABLED=0", "TMPDIR="+p.folder, "HOME="+p.folder,
		"STATE_DIR="+filepath.Join(p.folder, "state"), "S3_DATA_DIR="+filepath.Join(p.folder, "s3"))
	p.cmd.Env = append(p.cmd.Env, o.Env...)
	p.cmd.SysProcAttr = ownGroup()
	started := make(chan error, 1)
	go func() {
		// A process that asked to die with its parent dies with the thread that made it: that thread waits here.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in its log
		}
		close(p.done)
	}()
	return <-started
}

// PID is the emulator's process id; the functions' processes are its children.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended reports that the process is gone.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait gives a channel that is closed once the process is gone.
func (p *Process) Wait() <-chan struct{} { return p.done }

// Said is the end of what it printed, at most n bytes.
func (p *Process) Said(n int) string {
	b, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b[max(0, len(b)-n):]))
}

// stopWait is how long the emulator may take to end in order.
const stopWait = 5 * time.Second

// Stop ends the process and whatever it started, all of its group, and removes the folder if it was its own.
func (p *Process) Stop() error {
	group := -p.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // gone already is fine
	select {
	case <-p.done:
	case <-time.After(stopWait):
	}
	_ = syscall.Kill(group, syscall.SIGKILL) // its children, if any are left
	<-p.done
	return p.forget()
}

func (p *Process) forget() error {
	if !p.remove {
		return nil
	}
	return os.RemoveAll(p.folder)
}
