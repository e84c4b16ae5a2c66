package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is one line of `go test -json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// key names a test, or with an empty test its package.
type key struct{ pkg, test string }

// reader follows a run.
type reader struct {
	w     io.Writer
	live  bool
	text  map[key][]string // output not printed yet
	ended map[key]string   // action that ended it: pass, fail, skip
	begun []key            // in order
}

// read follows a run to its end and counts. Lines that are no event are passed on.
func read(in io.Reader, w io.Writer, live bool) (tally, error) {
	r := &reader{w: w, live: live, text: map[key][]string{}, ended: map[key]string{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF {
			return r.count(), nil
		}
		if err != nil {
			return tally{}, fmt.Errorf("read the run: %w", err)
		}
	}
}

func (r *reader) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil {
		fmt.Fprint(r.w, line)
		return
	}
	k := key{e.Package, e.Test}
	switch e.Action {
	case "run", "start":
		r.begun = append(r.begun, k)
	case "output":
		r.output(k, e.Output)
	case "build-output":
		fmt.Fprint(r.w, e.Output)
	case "pass", "fail", "skip":
		r.end(k, e)
	}
}

func (r *reader) output(k key, text string) {
	if r.live {
		if !routine(text) {
			fmt.Fprint(r.w, text)
		}
		return
	}
	r.text[k] = append(r.text[k], text)
}

// routine is what go test says of every test, and nobody reads.
func routine(text string) bool {
	return strings.HasPrefix(text, "=== ") || strings.HasPrefix(strings.TrimLeft(text, " "), "--- PASS: ")
}

// end prints what is to be known of a test or package that ended.
func (r *reader) end(k key, e event) {
	r.ended[k] = e.Action
	switch {
	case k.test == "" && e.Action == "skip": // no test files
	case k.test == "" && e.Action == "pass":
		fmt.Fprintf(r.w, "ok    %s %.1fs\n", k.pkg, e.Elapsed)
	case e.Action == "fail":
		r.print(k)
		fmt.Fprintln(r.w, strings.TrimSpace("FAIL  "+k.pkg+" "+k.test))
	case e.Action == "skip":
		r.print(k)
		fmt.Fprintf(r.w, "SKIP  %s %s: counts as failed\n", k.pkg, k.test)
	}
	delete(r.text, k)
}

func (r *reader) print(k key) {
	for _, text := range r.text[k] {
		fmt.Fprint(r.w, text)
	}
}

// family is what is known of a test's subtests.
type family struct{ any, bad bool }

// count goes over all that began. A test that never ended (a panic, a time-out) failed. A parent counts only if it has failed
// and no subtest explains why.
func (r *reader) count() tally {
	var t tally
	families := r.families()
	for _, k := range r.begun {
		if _, ended := r.ended[k]; !ended && k.test != "" {
			r.print(k)
			fmt.Fprintf(r.w, "FAIL  %s %s: never ended\n", k.pkg, k.test)
		}
		switch f := families[k]; {
		case k.test == "":
		case r.bad(k) && !f.bad:
			t.failed++
		case !r.bad(k) && !f.any:
			t.passed++
		}
	}
	for k, action := range r.ended {
		if k.test == "" && action == "fail" && !families[k].bad {
			t.failed++ // did not build, or TestMain gave up
		}
	}
	return t
}

func (r *reader) bad(k key) bool { return r.ended[k] != "pass" }

// families finds the parents of every test; the package is one too.
func (r *reader) families() map[key]family {
	out := map[key]family{}
	for _, k := range r.begun {
		if k.test == "" {
			continue
		}
		parents := []key{{k.pkg, ""}}
		for i, c := range k.test {
			if c == '/' {
				parents = append(parents, key{k.pkg, k.test[:i]})
			}
		}
		for _, p := range parents {
			out[p] = family{any: true, bad: out[p].bad || r.bad(k)}
		}
	}
	return out
}
