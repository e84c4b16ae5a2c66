package handoff

// defaultChunk is how many events go to one apply message.
const defaultChunk = 25

// laneOf names an event's order domain inside its page.
func laneOf(ev Event, rule LaneRule) string {
	switch {
	case ev.Invalid != "":
		return "!" + ev.ID // nothing is known of it: nobody waits for it but its own page
	case rule == LaneEntity:
		return "=" + ev.Entity
	case rule == LaneEvent:
		return "#" + ev.ID
	}
	return ""
}

// cutLanes numbers the events and gives each its lane; a second content of one id joins the lane of the first.
func cutLanes(events []Event, rule LaneRule) []Event {
	first := map[string]string{}
	out := make([]Event, len(events))
	for i, ev := range events {
		ev.Index, ev.Lane = i, laneOf(ev, rule)
		if lane, ok := first[ev.ID]; ok {
			ev.Lane = lane
		} else {
			first[ev.ID] = ev.Lane
		}
		out[i] = ev
	}
	return out
}

// lanesOf groups events by lane, lanes in order of first appearance, each in source order.
func lanesOf(events []Event) [][]Event {
	at := map[string]int{}
	var lanes [][]Event
	for _, ev := range events {
		i, ok := at[ev.Lane]
		if !ok {
			i = len(lanes)
			at[ev.Lane] = i
			lanes = append(lanes, nil)
		}
		lanes[i] = append(lanes[i], ev)
	}
	return lanes
}

// cutChunks packs whole lanes into chunks of about size events, and makes them larger until at most MaxChunks are left.
func cutChunks(events []Event, size int) [][]Event {
	if size <= 0 {
		size = defaultChunk
	}
	lanes := lanesOf(events)
	for size = max(size, (len(events)+MaxChunks-1)/MaxChunks); ; size *= 2 {
		if chunks := pack(lanes, size); len(chunks) <= MaxChunks {
			return chunks
		}
	}
}

func pack(lanes [][]Event, size int) [][]Event {
	var chunks [][]Event
	var open []Event
	for _, lane := range lanes {
		if len(open) > 0 && len(open)+len(lane) > size {
			chunks, open = append(chunks, open), nil
		}
		open = append(open, lane...)
	}
	if len(open) > 0 {
		chunks = append(chunks, open)
	}
	return chunks
}
