package emulator

import "syscall"

// ownGroup: one group to stop, and nothing is left when the test process is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
