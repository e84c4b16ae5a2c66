//go:build unix && !linux

package emulator

import "syscall"

// ownGroup: one group to stop.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
