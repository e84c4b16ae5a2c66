package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/local"
)

// The exit codes, as the help lists them.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitBlocked  = 3
	exitConflict = 4
	exitUnknown  = 5
)

// blockedError ends a command whose answer is that something is blocked or violated; it was printed already.
type blockedError struct{}

func (blockedError) Error() string { return "something is blocked" }

// changedError: what was looked at was another thing at every look.
type changedError struct{ text string }

func (e changedError) Error() string { return e.text }

// usageError is a request that cannot be carried out as it was written.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// report prints an error where people or programs look for it, and gives the exit code.
func (s *session) report(err error) int {
	code := exitCode(err)
	if code == exitDone || errors.As(err, new(blockedError)) {
		return code
	}
	if s.JSON {
		b, _ := json.Marshal(map[string]any{"error": err.Error(), "exit": code}) // texts always marshal
		_, _ = fmt.Fprintln(s.stderr, string(b))
		return code
	}
	_, _ = fmt.Fprintln(s.stderr, "turnleaf: "+local.Printable(err.Error()))
	return code
}

func exitCode(err error) int {
	var invalid *handoff.InvalidError
	var conflict *handoff.ConflictError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, new(blockedError)):
		return exitBlocked
	case errors.As(err, new(usageError)), errors.As(err, &invalid):
		return exitUsage
	case errors.As(err, &conflict), errors.As(err, new(changedError)):
		return exitConflict
	case errors.Is(err, handoff.ErrUnknown):
		return exitUnknown
	}
	return exitFailed
}
