//go:build unix

package main

import (
	"os"
	"syscall"
	"unsafe"

	"github.com/turnleaf/turnleaf/internal/local"
)

// terminalOf asks the operating system whether f is a terminal; a file or a pipe has no size.
func terminalOf(f *os.File, getenv func(string) string) local.Terminal {
	if _, ok := columns(f); !ok || getenv("TERM") == "dumb" {
		return local.Terminal{}
	}
	return local.Terminal{
		Width: func() int {
			if n, ok := columns(f); ok && n > 0 {
				return n
			}
			return 80
		},
		Color: getenv("NO_COLOR") == "",
	}
}

// columns is the width of the terminal; ok is false if f is none.
func columns(f *os.File) (n int, ok bool) {
	var size struct{ rows, cols, x, y uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	return int(size.cols), errno == 0
}
