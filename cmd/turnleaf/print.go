package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/turnleaf/turnleaf/internal/local"
)

// printf writes text for people. Whatever came from outside must be made printable by the caller.
func (s *session) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(s.stdout, format, args...)
	return err
}

// emit writes one JSON document on one line, digits as they are, and nothing that a terminal would obey.
func (s *session) emit(v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	return s.printf("%s\n", local.PrintableJSON(strings.TrimSuffix(b.String(), "\n")))
}

// table writes rows in columns; every cell is made printable.
func (s *session) table(rows [][]string) error {
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = local.Printable(cell)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(row, "\t"), "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// pairs writes labels and values; a value with nothing in it is left out.
func (s *session) pairs(kv ...string) error {
	var rows [][]string
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i+1] != "" {
			rows = append(rows, []string{"  " + kv[i], kv[i+1]})
		}
	}
	return s.table(rows)
}

// payload lays JSON out over lines, digit for digit, each of them printable; what is no JSON is one line.
func payload(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "  ", "  ") != nil {
		return "  " + local.Printable(string(raw))
	}
	lines := strings.Split(b.String(), "\n")
	for i, l := range lines {
		lines[i] = local.Printable(l)
	}
	return "  " + strings.Join(lines, "\n")
}

// when is a time for people, and nothing for none.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// age is how long ago, in whole seconds or minutes.
func age(now, t time.Time) string {
	d := max(now.Sub(t), 0)
	if d < 10*time.Minute {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
