package effect

import (
	"encoding/json"
	"errors"

	"github.com/turnleaf/turnleaf/internal/expr"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

var (
	errNotNumber = errors.New("not a number that can be added")
	errNoEntity  = errors.New("an empty text names no document")
)

func boolOf(p *expr.Program, vars map[string]any) (bool, error) {
	r, err := p.Eval(vars)
	if err != nil {
		return false, err
	}
	return r.Bool()
}

func textOf(p *expr.Program, vars map[string]any) (string, error) {
	r, err := p.Eval(vars)
	if err != nil {
		return "", err
	}
	s, err := r.Text()
	if err == nil && s == "" {
		return "", errNoEntity
	}
	return s, err
}

func jsonOf(p *expr.Program, vars map[string]any) (json.RawMessage, error) {
	r, err := p.Eval(vars)
	if err != nil {
		return nil, err
	}
	return r.JSON()
}

// numberOf gives a literal that can be added exactly. Amounts often come as texts ("12.50"), so a text that is a number
// counts as that number.
func numberOf(p *expr.Program, vars map[string]any) (string, error) {
	r, err := p.Eval(vars)
	if err != nil {
		return "", err
	}
	if k := r.Kind(); k != expr.Number && k != expr.Text {
		_, err := r.Number()
		return "", err
	}
	s, err := r.Text()
	if err != nil {
		return "", err
	}
	if _, err := handoff.ParseDecimal(s); err != nil { // which would quote the text
		return "", errNotNumber
	}
	return s, nil
}

// add is the exact sum of two literals; an empty one is nothing.
func add(a, b string) (string, error) {
	if a == "" {
		return b, nil
	}
	x, err := handoff.ParseDecimal(a)
	if err != nil {
		return "", errNotNumber
	}
	y, err := handoff.ParseDecimal(b)
	if err != nil {
		return "", errNotNumber
	}
	return x.Add(y).String(), nil
}
