// Package effect holds what applying an event does. A projection writes documents beside the receipts, in one transaction.
package effect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnleaf/turnleaf/internal/expr"
	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// Projection is a transactional effect: it plans the changes of documents, and the store makes them together with the
// receipt. It may be used by several goroutines.
type Projection struct {
	own  change
	also []change
}

// change is the compiled plan of one document. A nil program is one that the definition does not have.
type change struct {
	name     string // of the place in the definition, for errors
	entity   *expr.Program
	when     *expr.Program
	remove   *expr.Program
	set, add []assignment
}

type assignment struct {
	field string
	value *expr.Program
}

var _ handoff.Effect = (*Projection)(nil)

// NewProjection compiles the definition's expressions. The error names the one that does not compile.
func NewProjection(p streamdef.Projection) (*Projection, error) {
	var c compiler
	out := &Projection{own: change{
		name: "projection", when: c.one("when", p.When), remove: c.one("delete", p.Delete),
		set: c.all("set", p.Set), add: c.all("add", p.Add),
	}}
	for i, o := range p.Also {
		name := fmt.Sprintf("also[%d]", i)
		if o.Entity == "" {
			c.errs = append(c.errs, fmt.Errorf("%s: no entity", name))
		}
		out.also = append(out.also, change{
			name: name, entity: c.one(name+".entity", o.Entity), when: c.one(name+".when", o.When), add: c.all(name+".add", o.Add),
		})
	}
	if err := errors.Join(c.errs...); err != nil {
		return nil, fmt.Errorf("compile projection: %w", err)
	}
	return out, nil
}

// compiler collects errors, so that the constructor reads like the thing it makes.
type compiler struct{ errs []error }

func (c *compiler) one(name, src string) *expr.Program {
	if src == "" {
		return nil
	}
	p, err := streamdef.CompileRule(src)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", name, err))
	}
	return p
}

// all keeps the order of the fields' names, so that of two faults the same one is always reported.
func (c *compiler) all(name string, fields map[string]string) []assignment {
	out := make([]assignment, 0, len(fields))
	for field, src := range fields {
		out = append(out, assignment{field, c.one(name+"."+field, src)})
	}
	slices.SortFunc(out, func(a, b assignment) int { return strings.Compare(a.field, b.field) })
	return out
}

// Traits says that effect and receipt are one transaction.
func (p *Projection) Traits() handoff.EffectTraits {
	return handoff.EffectTraits{Kind: handoff.Transactional}
}

// Call is never asked for of a transactional effect.
func (p *Projection) Call(context.Context, handoff.Event, string) handoff.CallResult {
	return handoff.CallResult{Kind: handoff.CallRefused, Detail: "a projection makes no calls"}
}

// Plan gives the changes for one event, at most one for each document: the store takes no document twice in a transaction. The
// event's own document is named by its entity, or by its id where the definition declares no entity. An expression that has no
// value, or one of the wrong kind, is an error that names the place and shows nothing of the event.
func (p *Projection) Plan(e handoff.Event) ([]handoff.DocChange, error) {
	vars, err := streamdef.RuleVars(e)
	if err != nil {
		return nil, fmt.Errorf("plan projection: %w", err)
	}
	var docs []handoff.DocChange
	own := e.Entity
	if own == "" {
		own = streamdef.IDText(e)
	}
	docs, err = p.own.plan(docs, vars, own)
	if err != nil {
		return nil, fmt.Errorf("plan projection: %w", err)
	}
	if len(docs) > 0 {
		docs[0].Position = e.Position
	}
	for _, c := range p.also {
		if docs, err = c.plan(docs, vars, ""); err != nil {
			return nil, fmt.Errorf("plan projection: %w", err)
		}
	}
	return docs, nil
}

// plan appends the change of one document, or adds it to the one that is planned already.
func (c change) plan(docs []handoff.DocChange, vars map[string]any, entity string) ([]handoff.DocChange, error) {
	if c.when != nil {
		if holds, err := boolOf(c.when, vars); err != nil || !holds {
			return docs, wrap(c.name+".when", err)
		}
	}
	if c.entity != nil {
		var err error
		if entity, err = textOf(c.entity, vars); err != nil {
			return nil, wrap(c.name+".entity", err)
		}
	}
	d := handoff.DocChange{Entity: entity}
	if c.remove != nil {
		var err error
		if d.Delete, err = boolOf(c.remove, vars); err != nil {
			return nil, wrap(c.name+".delete", err)
		}
	}
	if !d.Delete {
		if err := c.fields(&d, vars); err != nil {
			return nil, err
		}
	}
	if !d.Delete && len(d.Set)+len(d.Add) == 0 {
		return docs, nil // nothing to write; an empty change would make an empty document
	}
	return merge(docs, d)
}

func (c change) fields(d *handoff.DocChange, vars map[string]any) error {
	for _, a := range c.set {
		v, err := jsonOf(a.value, vars)
		if err != nil {
			return wrap(c.name+".set."+a.field, err)
		}
		if d.Set == nil {
			d.Set = map[string]json.RawMessage{}
		}
		d.Set[a.field] = v
	}
	for _, a := range c.add {
		v, err := numberOf(a.value, vars)
		if err != nil {
			return wrap(c.name+".add."+a.field, err)
		}
		if d.Add == nil {
			d.Add = map[string]string{}
		}
		d.Add[a.field] = v
	}
	return nil
}

// merge joins the sums of two changes of one document; only the first can set or delete, and both come before any sum.
func merge(docs []handoff.DocChange, d handoff.DocChange) ([]handoff.DocChange, error) {
	i := slices.IndexFunc(docs, func(have handoff.DocChange) bool { return have.Entity == d.Entity })
	if i < 0 {
		return append(docs, d), nil
	}
	if docs[i].Add == nil {
		docs[i].Add = map[string]string{}
	}
	for field, literal := range d.Add {
		sum, err := add(docs[i].Add[field], literal)
		if err != nil {
			return nil, wrap("add."+field, err)
		}
		docs[i].Add[field] = sum
	}
	return docs, nil
}

func wrap(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}
