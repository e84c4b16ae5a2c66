package streamdef

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one fault of a definition: where it is, what belongs there and what stands there. It never quotes what may be a
// secret. Line and Col count from 1.
type Problem struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Path     string `json:"path,omitempty"` // source.cursor.send; empty for the file itself
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

func (p *Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Col)
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	fmt.Fprintf(&b, "expected %s, found %s", p.Expected, p.Found)
	return b.String()
}

// Problems takes the problems out of an error of Parse or Load, in the order of files and lines.
func Problems(err error) []*Problem {
	var one *Problem
	var many interface{ Unwrap() []error }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &many):
		var out []*Problem
		for _, e := range many.Unwrap() {
			out = append(out, Problems(e)...)
		}
		return out
	case errors.As(err, &one):
		return []*Problem{one}
	}
	return nil
}

// nearest is the known word that a typing error most likely meant; empty if none is near.
func nearest(word string, known []string) string {
	best, at := "", 3
	for _, k := range known {
		if d := distance(word, k); d < at && d < len(k) {
			best, at = k, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace between two short words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
