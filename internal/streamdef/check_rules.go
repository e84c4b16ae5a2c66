package streamdef

import (
	"fmt"
	"slices"
)

// checkContract refuses promises that contradict each other, and those that nothing in the definition could keep.
func (r *reader) checkContract(d *Definition) {
	c, e := d.Contract, d.Event
	positioned := r.has("event.position")
	arrival := c.Positions == "arrival" || c.Order == "none" || !positioned
	switch {
	case c.Order == "none" && (c.Positions == "unique" || c.Positions == "shared"):
		r.wrong("contract.positions", "arrival with order: none", c.Positions)
	case arrival && positioned:
		r.wrong("event.position", "no position with positions: arrival or order: none", "one")
	case !positioned && (c.Positions == "unique" || c.Positions == "shared"):
		r.wrong("contract.positions", "event.position beside "+c.Positions, "none")
	}
	if c.Gapless && (arrival || c.Positions == "shared" || e.PositionType == "time" || e.PositionType == "text") {
		r.wrong("contract.gapless", "unique positions that are numbers", r.positions(c, e, arrival))
	}
	if c.ReplayProof == "watermark" && (arrival || c.Late == "apply") {
		found := "late: apply"
		if arrival {
			found = "arrival"
		}
		r.wrong("contract.replay_proof", "ordered positions and late: hold for a watermark", found)
	}
	if c.Token == "once" && r.has("contract.hold_back") {
		r.wrong("contract.hold_back", "no hold-back with token: once (its page would have to be asked for again)", "one")
	}
	if r.has("contract.hold_back") && !r.has("event.time") && e.PositionType != "time" {
		r.wrong("contract.hold_back", "event.time, or position_type: time, to tell how young an event is", "neither")
	}
	if c.Token == "once" && !r.has("source.cursor.token") && !r.has("source.cursor.link") && !r.has("source.cursor.next_url") {
		r.wrong("contract.token", "a token in source.cursor for once", "none")
	}
	r.checkRetention(c)
}

func (r *reader) positions(c Contract, e EventRules, arrival bool) string {
	switch {
	case arrival:
		return "arrival"
	case c.Positions == "shared":
		return "shared positions"
	}
	return "positions of type " + e.PositionType
}

// checkRetention: a receipt that is gone while the source can still show its event is an effect twice.
func (r *reader) checkRetention(c Contract) {
	if c.ReceiptRetention == 0 {
		return
	}
	if c.Retention == 0 {
		if !r.has("contract.retention") {
			r.wrong("contract.receipt_retention", "contract.retention beside it", "none")
		}
		return
	}
	if least := c.Retention + receiptMargin; c.ReceiptRetention < least {
		r.wrong("contract.receipt_retention",
			fmt.Sprintf("at least %s (retention and %s for queues)", formatDuration(least), formatDuration(receiptMargin)),
			formatDuration(c.ReceiptRetention))
	}
}

func (r *reader) checkPolicy(rules []Rule) {
	var names []string
	for i, rule := range rules {
		at := fmt.Sprintf("policy[%d]", i)
		for _, key := range []string{"name", "when", "then"} {
			r.need(under(at, key))
		}
		if rule.Name != "" && slices.Contains(names, rule.Name) {
			r.wrong(at+".name", "each name once", fmt.Sprintf("%.60q a second time", rule.Name))
		}
		names = append(names, rule.Name)
	}
}

func (r *reader) checkEffect(d *Definition) {
	if !r.has("effect") {
		return
	}
	const at = "effect.projection"
	r.one("effect", "projection")
	p := d.Effect.Projection
	if p == nil {
		return
	}
	if !r.has(at+".set") && !r.has(at+".add") && !r.has(at+".delete") && !r.has(at+".also") {
		r.wrong(at, "set, add, delete or also", "none of them")
	}
	for _, name := range sorted(p.Add) {
		if _, both := p.Set[name]; both {
			r.wrong(under(at+".add", name), "a field to be set or added to", "both")
		}
	}
	for i := range p.Also {
		also := fmt.Sprintf("%s.also[%d]", at, i)
		r.need(also + ".entity")
		r.need(also + ".add")
	}
}
