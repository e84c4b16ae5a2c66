package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// peers finds out which of the emulator's function processes is at the other end of a connection, and ends it. It reads /proc: Linux.
type peers struct {
	emulator int // the process whose children the functions are
}

// process is one execution environment of a function.
type process struct {
	pid      int
	function string // its name, as the template's outputs give it
}

// of gives the process that a connection from 127.0.0.1:port belongs to. ok is false for anybody else's. The kernel's list of sockets is
// read in pieces, and one that stands in it may be missed: it is looked at more than once.
func (p peers) of(remote string) (found process, ok bool) {
	for range tries {
		if found, ok = p.look(remote); ok {
			return found, true
		}
	}
	return found, false
}

func (p peers) look(remote string) (process, bool) {
	_, port, found := strings.Cut(remote, ":")
	n, err := strconv.Atoi(port)
	if !found || err != nil {
		return process{}, false
	}
	inode, ok := socketOf(n)
	if !ok {
		return process{}, false
	}
	for _, pid := range p.children() {
		if holds(pid, "socket:["+inode+"]") {
			return process{pid, functionOf(pid)}, true
		}
	}
	return process{}, false
}

// socketOf gives the inode of the socket whose local end is this port: the caller's end, since the test's own is the remote one there.
func socketOf(port int) (inode string, ok bool) {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return "", false
	}
	defer f.Close()
	want := fmt.Sprintf("0100007F:%04X", port)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 9 && fields[1] == want {
			return fields[9], fields[9] != "0"
		}
	}
	return "", false
}

// children are the emulator's. Functions come and go: what is gone while this looks is left out.
func (p peers) children() []int {
	var out []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')')+1:]), " ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(p.emulator) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

func holds(pid int, socket string) bool {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // gone is none
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == socket {
			return true
		}
	}
	return false
}

// functionOf reads a function's name from its process's environment.
func functionOf(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return ""
	}
	for v := range strings.SplitSeq(string(raw), "\x00") {
		if name, ok := strings.CutPrefix(v, "AWS_LAMBDA_FUNCTION_NAME="); ok {
			return name
		}
	}
	return ""
}

// kill ends a process as nothing can be prepared for.
func (p process) kill() error { return syscall.Kill(p.pid, syscall.SIGKILL) }
