package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/turnleaf/turnleaf/internal/local"
)

type localCmd struct {
	Demo      bool          `help:"Run the built-in demo feed and its stream. Definitions are then read only with --streams."`
	Once      bool          `help:"End when every stream is caught up or blocked; exit code 3 if one is blocked."`
	Log       string        `help:"Write a log to standard error: ${enum}." enum:"none,text,json" default:"none"`
	DemoDelay time.Duration `help:"How long each answer of the demo feed takes." default:"250ms" hidden:""`
}

// Help implements kong's detailed help.
func (localCmd) Help() string {
	return `Everything is kept in the data folder: state.db, archive/, and api.json for the other commands. Ctrl-C and kill -9 are both safe.

With --once --json, each blocked stream is one line of standard output.

Example: turnleaf local --demo
Example: turnleaf local --streams streams --log json 2>turnleaf.log`
}

// Run works until it is interrupted.
func (c localCmd) Run(s *session) error {
	if s.given() {
		return usagef("local runs on this machine: it takes no deployed stack (unset TURNLEAF_* in the environment, or leave the flags out)")
	}
	var config local.Config
	var err error
	if c.Demo && s.Streams == defaultStreams { // the demo alone
		config = s.configOf(nil)
	} else if config, err = s.config(); err != nil {
		return err
	}
	console := local.Console{Out: s.stdout, Terminal: s.terminal, Hints: s.hints()}
	if c.Log != "none" || s.JSON {
		console.Terminal = local.Terminal{} // a log between the rewrites of a line is unreadable
	}
	if s.JSON {
		console.Out = s.stderr // what is said on the way is for people; the end is for programs
	}
	blocked, err := local.Run(s, local.Options{
		Config: config, Console: console, Log: s.logger(c.Log), Demo: c.Demo, DemoDelay: c.DemoDelay,
		Once: c.Once, NewToken: rand.Text, PID: os.Getpid(),
	})
	if errors.Is(err, local.ErrRunning) {
		return fmt.Errorf("%w: stop it first, or use another --data folder", err)
	}
	if err != nil || len(blocked) == 0 {
		return err
	}
	for _, st := range blocked {
		if !s.JSON {
			break
		}
		if err := s.emit(st); err != nil {
			return err
		}
	}
	return blockedError{}
}

// logger writes nothing unless it is asked to.
func (s *session) logger(format string) *slog.Logger {
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(s.stderr, nil))
	case "text":
		return slog.New(slog.NewTextHandler(s.stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}
