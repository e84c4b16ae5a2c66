// Command turnleaf runs streams on one machine, and is how an operator sees and decides what blocks them.
package main

import (
	"context"
	"os"
	"os/signal"
	"os/user"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the process at once. That is as safe as kill -9 is: nothing is remembered in memory only.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], host{
		command: os.Args[0], stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, lookupEnv: os.LookupEnv, now: time.Now, terminal: terminalOf(os.Stdout, os.Getenv), progress: terminalOf(os.Stderr, os.Getenv),
		username: username,
	}))
}

// username asks the operating system; a container often has no $USER.
func username() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
