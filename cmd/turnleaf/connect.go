package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/turnleaf/turnleaf/internal/local"
)

// errNoData: the data folder has no state, so there is nothing to look at.
var errNoData = errors.New("no data yet")

// How long a command waits for a process that holds the folder and is only just starting.
const (
	startTries = 20
	startWait  = 100 * time.Millisecond
)

// operate runs f on whoever serves the data folder: the running process, or this one with the lock on the folder.
func (s *session) operate(f func(operator) error) error {
	if s.operator != nil {
		return f(s.operator)
	}
	if s.given() {
		return s.operateOn(f)
	}
	if _, err := os.Stat(local.Folder(s.Data).State()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s: start it with %s", errNoData, s.Data, s.hints().Line("local"))
	}
	return s.operateOn(f)
}

// operateOn is operate for commands that may make the data folder. api.json says who runs; the lock says whether somebody does. A
// process that dies in between leaves a file that nobody answers to, and then the lock is free.
func (s *session) operateOn(f func(operator) error) error {
	if s.operator != nil {
		return f(s.operator)
	}
	if s.given() {
		op, err := s.inCloud()
		if err != nil {
			return err
		}
		return f(op)
	}
	for try := 0; ; try++ {
		if op, ok := s.dial(); ok {
			return f(op)
		}
		config, err := s.config()
		if err != nil {
			return err
		}
		node, err := local.Open(s, config)
		switch {
		case err == nil:
			return errors.Join(f(inProcess(node)), node.Close())
		case !errors.Is(err, local.ErrRunning):
			return err
		case try >= startTries:
			return fmt.Errorf("%w, and it does not answer", err)
		}
		select {
		case <-time.After(startWait):
		case <-s.Done():
			return s.Err()
		}
	}
}
