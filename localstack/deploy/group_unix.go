//go:build unix

package deploy

import (
	"os"
	"syscall"
)

// ownGroup: one group to stop.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// stopGroup ends a process and all that it started.
func stopGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }
