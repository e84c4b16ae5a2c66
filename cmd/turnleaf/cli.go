package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"

	"github.com/turnleaf/turnleaf/internal/local"
)

// host is what the program gets from the machine it runs on.
type host struct {
	command        string // as it was called, for the commands that people are told to run
	stdout, stderr io.Writer
	getenv         func(string) string
	lookupEnv      func(string) (string, bool)
	username       func() string // "" if nobody knows
	now            func() time.Time
	terminal       local.Terminal
	progress       local.Terminal // of stderr
	operator       operator       // instead of the one that the data folder gives; nil outside tests
	auditor        auditor        // beside it
}

// The folders that need no flag.
const (
	defaultData    = ".turnleaf"
	defaultStreams = "streams"
)

// globals are the flags of every command.
type globals struct {
	Data    string `help:"The data folder (${default})." default:".turnleaf" placeholder:"DIR"`
	Streams string `help:"The folder of stream definitions (${default})." default:"streams" placeholder:"DIR"`
	JSON    bool   `help:"Print JSON, one document a line; errors too."`
	Actor   string `help:"Who decides, for the record (the user)." placeholder:"NAME"`

	deployed
}

// grammar is the whole command line.
type grammar struct {
	globals

	Local    localCmd    `cmd:"" help:"Run every stream on this machine: poll, apply and the review API."`
	Validate validateCmd `cmd:"" help:"Check stream definitions: where, what was expected, what was found."`
	Stream   streamsCmd  `cmd:"" name:"streams" help:"List, start and retire streams."`

	Held     heldCmd     `cmd:"" help:"List what waits for a decision."`
	Show     showCmd     `cmd:"" help:"Show what blocks a stream and since when, or one event with its payload."`
	Resolve  resolveCmd  `cmd:"" help:"Decide about one event."`
	Pause    pauseCmd    `cmd:"" help:"Stop fetching and opening pages; an open page drains."`
	Resume   resumeCmd   `cmd:"" help:"End a pause or a halt."`
	Poll     pollCmd     `cmd:"" help:"Ask the source now."`
	Reset    resetCmd    `cmd:"" help:"Move a stream's cursor; shows first what that supersedes."`
	Accept   acceptCmd   `cmd:"" help:"Let the archived answer that halted a stream pass the check it failed."`
	Lost     lostCmd     `cmd:"" help:"Give up a page whose archived events are gone for good."`
	AuditLog auditLogCmd `cmd:"" help:"Print the append-only record of decisions."`
	Audit    auditCmd    `cmd:"" help:"Check every invariant over a stream's whole record and archive, read-only."`
	Check    auditCmd    `cmd:"" hidden:"" help:"The same as audit."`
	Docs     docsCmd     `cmd:"" help:"Print the projection's documents, one JSON document a line."`

	Schema  schemaCmd  `cmd:"" help:"Print the JSON Schema of a stream definition."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

const description = `Turnleaf consumes paged event APIs: a page is turned only when everything on it is settled.

Exit codes: 0 done; 1 failed; 2 wrong usage or invalid input; 3 something is blocked (local --once, show --exit-code) or an audit
found a broken promise (1: it could not read everything); 4 what you decided about, or audited, changed meanwhile; 5 the outcome is unknown, repeat it with the --id shown.

Try it:  turnleaf local --demo`

// session is one invocation.
type session struct {
	context.Context
	host
	globals
}

// run parses, works, and gives the exit code. Everything it says goes to the host's outputs.
func run(ctx context.Context, args []string, h host) int {
	var g grammar
	code := -1
	parser, err := kong.New(&g, kong.Name("turnleaf"), kong.Description(description), kong.Writers(h.stdout, h.stderr),
		kong.Exit(func(c int) { code = c; panic(asked{}) }), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}))
	if err != nil {
		_, _ = fmt.Fprintln(h.stderr, "turnleaf:", err)
		return exitFailed
	}
	parsed, err := parse(parser, args)
	switch {
	case errors.Is(err, errAsked):
		return code
	case err != nil:
		_, _ = fmt.Fprintf(h.stderr, "turnleaf: %s\nTry: %s --help\n", local.Printable(err.Error()), h.command)
		return exitUsage
	}
	s := &session{Context: ctx, host: h, globals: g.globals}
	return s.report(parsed.Run(s))
}

// asked unwinds the parser once it has printed the help or version that was asked for: kong expects its Exit not to return.
type asked struct{}

var errAsked = errors.New("help was asked for")

func parse(parser *kong.Kong, args []string) (parsed *kong.Context, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(asked); !ok {
				panic(r)
			}
			err = errAsked
		}
	}()
	return parser.Parse(args)
}
