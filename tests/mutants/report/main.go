// Command report tries every mutant of every list, or of the lists named as arguments, and prints a table of guard, mutant and the
// test that killed it. It fails if one survives.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/tests/mutants"
)

// workers is how many runs go on at once.
const workers = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	names := os.Args[1:]
	if len(names) == 0 {
		names = mutants.Names()
	}
	failed := false
	for _, name := range names {
		ok, err := run(ctx, name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
		}
		failed = failed || err != nil || !ok
	}
	if failed {
		stop()
		os.Exit(1)
	}
}

// run tries one list; ok is false if a mutant survived.
func run(ctx context.Context, name string) (ok bool, err error) {
	l, err := mutants.Load(name)
	if err != nil {
		return false, err
	}
	root, err := mutants.Root()
	if err != nil {
		return false, err
	}
	began := time.Now()
	lab, err := mutants.Open(ctx, root, l, true)
	if err != nil {
		return false, err
	}
	defer func() { _ = lab.Close() }() // what is left lies in the system's folder for such things
	killers, err := tryAll(ctx, lab)
	if err != nil {
		return false, err
	}
	return table(l, killers, time.Since(began)), nil
}

// tryAll gives the killer of each mutant of the list.
func tryAll(ctx context.Context, lab *mutants.Lab) ([]string, error) {
	killers, errs := make([]string, len(lab.List.Mutants)), make([]error, len(lab.List.Mutants))
	var all sync.WaitGroup
	places := make(chan struct{}, workers)
	for i, m := range lab.List.Mutants {
		if m.Equivalent != "" {
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			killers[i], errs[i] = lab.Try(ctx, m)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return killers, ctx.Err()
}

func table(l mutants.List, killers []string, took time.Duration) (ok bool) {
	killed, equivalent := 0, 0
	fmt.Printf("\n## %s\n\n| guard | mutant | killed by |\n|---|---|---|\n", l.Name)
	for i, m := range l.Mutants {
		by := killers[i]
		switch {
		case m.Equivalent != "":
			equivalent++
			by = "equivalent: " + m.Equivalent
		case by == "":
			by = "**survived**"
		default:
			killed++
		}
		fmt.Printf("| %s | %s | %s |\n", m.Guard, m.Name, by)
	}
	survived := len(l.Mutants) - killed - equivalent
	fmt.Printf("\n%d mutants: %d killed, %d survived, %d equivalent; %s\n", len(l.Mutants), killed, survived, equivalent, took.Round(time.Second))
	return survived == 0
}
