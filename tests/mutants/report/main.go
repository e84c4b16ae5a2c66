// Command report tries every mutant of every list, or of the lists named as arguments, and prints a table of guard, mutant and the
// test that killed it. It fails if one survives.
//
//	report [-only REGEXP] [-update] [LIST ...]
//
// With -update it notes which test killed each mutant, so that the next run, and `go test ./tests/mutants`, try that one first.
package main

import (
	"context"
	"errors"
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
	update := flag.Bool("update", false, "note which test killed each mutant")
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
		ok, err := run(ctx, name, wanted, *update)
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
func run(ctx context.Context, name string, wanted *regexp.Regexp, update bool) (ok bool, err error) {
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
	all := l
	l.Mutants = slices.DeleteFunc(slices.Clone(l.Mutants), func(m mutants.Mutant) bool { return !wanted.MatchString(m.Name) })
	killers, err := tryAll(ctx, lab, l.Mutants)
	if err != nil {
		return false, err
	}
	if update {
		if err := mutants.SaveHints(root, all, killers); err != nil {
			return false, err
		}
	}
	return table(l, killers, time.Since(began)), nil
}

// tryAll says who killed each mutant.
func tryAll(ctx context.Context, lab *mutants.Lab, all []mutants.Mutant) (map[string]mutants.Killer, error) {
	var running sync.WaitGroup
	var mu sync.Mutex
	killers, failed := map[string]mutants.Killer{}, error(nil) // guarded by mu
	places := make(chan struct{}, workers)
	for _, m := range all {
		if m.Equivalent != "" {
			continue
		}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			k, err := lab.Try(ctx, m)
			mu.Lock()
			defer mu.Unlock()
			killers[m.Name], failed = k, errors.Join(failed, err)
		})
	}
	running.Wait()
	return killers, errors.Join(failed, ctx.Err())
}

func table(l mutants.List, killers map[string]mutants.Killer, took time.Duration) (ok bool) {
	killed, equivalent := 0, 0
	fmt.Printf("\n## %s\n\n| guard | mutant | killed by |\n|---|---|---|\n", l.Name)
	for _, m := range l.Mutants {
		by := killers[m.Name].String()
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
