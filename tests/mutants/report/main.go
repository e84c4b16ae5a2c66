// Command report tries every mutant of every list, or of the lists named as arguments, and prints a table of guard, mutant and the
// test that killed it. It fails if one survives.
//
//	report [-only REGEXP] [-quick] [-update] [LIST ...]
//
// With -quick what survives a list's suites is not given to those that are tried last.
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

// options are the flags.
type options struct {
	only          *regexp.Regexp
	quick, update bool
	lists         []string
}

func parse() (o options, err error) {
	only := flag.String("only", "", "try only the mutants whose name matches this expression")
	flag.BoolVar(&o.quick, "quick", false, "leave out the suites that are tried last")
	flag.BoolVar(&o.update, "update", false, "note which test killed each mutant")
	flag.Parse()
	if o.lists = flag.Args(); len(o.lists) == 0 {
		o.lists = mutants.Names()
	}
	o.only, err = regexp.Compile(*only)
	return o, err
}

func main() {
	o, err := parse()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants: -only:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	failed := false
	for _, name := range o.lists {
		ok, err := run(ctx, name, o)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
		}
		failed = failed || err != nil || !ok
	}
	stop()
	if failed {
		os.Exit(1)
	}
}

// run tries one list; ok is false if a mutant survived.
func run(ctx context.Context, name string, o options) (ok bool, err error) {
	l, err := mutants.Load(name)
	if err != nil {
		return false, err
	}
	root, err := mutants.Root()
	if err != nil {
		return false, err
	}
	began := time.Now()
	lab, err := mutants.Open(ctx, root, l, !o.quick)
	if err != nil {
		return false, err
	}
	defer func() { _ = lab.Close() }() // what is left lies in the system's folder for such things
	wanted := l
	wanted.Mutants = slices.DeleteFunc(slices.Clone(l.Mutants), func(m mutants.Mutant) bool { return !o.only.MatchString(m.Name) })
	killers, err := tryAll(ctx, lab, wanted.Mutants)
	if o.update { // also what an interrupted run found
		err = errors.Join(err, mutants.SaveHints(root, l, killers))
	}
	if err != nil {
		return false, err
	}
	return table(wanted, killers, time.Since(began)), nil
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
			if k.None() {
				fmt.Fprintf(os.Stderr, "%s survived\n", m.Name) // now: the rest may take long
			}
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
