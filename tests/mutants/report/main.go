// Command report tries every mutant of every list, or of the lists named as arguments, and prints a table of guard, mutant and the
// test that killed it. It fails if one survives.
//
//	report [-only REGEXP] [LIST ...]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/turnleaf/turnleaf/tests/mutants"
)

// workers is how many runs go on at once.
const workers = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	only := flag.String("only", "", "try only the mutants whose name matches this expression")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants: -only:", err)
		os.Exit(2) //nolint:gocritic // nothing has begun that stop would end
	}
	names := flag.Args()
	if len(names) == 0 {
		names = mutants.Names()
	}
	failed := false
	for _, name := range names {
		ok, err := run(ctx, name, wanted)
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
func run(ctx context.Context, name string, wanted *regexp.Regexp) (ok bool, err error) {
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
	l.Mutants = slices.DeleteFunc(slices.Clone(l.Mutants), func(m mutants.Mutant) bool { return !wanted.MatchString(m.Name) })
	killers, err := tryAll(ctx, lab, l.Mutants)
	if err != nil {
		return false, err
	}
	return table(l, killers, time.Since(began)), nil
}

// tryAll gives the killer of each mutant.
func tryAll(ctx context.Context, lab *mutants.Lab, all []mutants.Mutant) ([]string, error) {
	killers, errs := make([]string, len(all)), make([]error, len(all))
	var running sync.WaitGroup
	places := make(chan struct{}, workers)
	for i, m := range all {
		if m.Equivalent != "" {
			continue
		}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			killers[i], errs[i] = lab.Try(ctx, m)
		})
	}
	running.Wait()
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
