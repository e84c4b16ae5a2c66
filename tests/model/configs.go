package model

// feed is two pages of three events: 1 and 2 at cursor 1, then 2 and 3 at cursor 2, then the end at cursor 3. Event 2 is on both. 1 and 3
// are of one entity, 2 of another, so that a page is two chunks.
func feed(name string, pollers, appliers int) config {
	return config{
		name: name,
		answers: []answer{
			1: {at: 1, next: 2, events: 0b011},
			2: {at: 2, next: 3, events: 0b110, end: true},
			3: {at: 3, next: 3, end: true},
		},
		entity: [maxEvents]uint8{1, 2, 1}, end: 3,
		pollers: pollers, appliers: appliers, crashes: true,
	}
}

// lane is the same feed with one entity: a page is one chunk of one lane.
func lane(name string, pollers, appliers int) config {
	c := feed(name, pollers, appliers)
	c.entity = [maxEvents]uint8{1, 1, 1}
	return c
}

// single is two pages of one lane: event 1, then 1 again and 2. For what has many states of its own.
func single(name string, pollers, appliers int) config {
	c := lane(name, pollers, appliers)
	c.answers[1].events, c.answers[2].events = 0b01, 0b11
	return c
}

// apart is two pages of one event each, and no overlap.
func apart(name string, pollers, appliers int) config {
	c := lane(name, pollers, appliers)
	c.answers[1].events, c.answers[2].events = 0b01, 0b10
	return c
}

// after begins the exploration in the middle.
func (c config) after(lines ...string) config {
	c.begin = lines
	return c
}

// loses lets messages get lost, and come again and say so.
func (c config) loses() config {
	c.loss, c.again = true, true
	return c
}

// holding makes the policy hold events, for an operator with these words.
func (c config) holding(events uint8, words ...word) config {
	c.holds, c.decisions = events, words
	return c
}

// calling makes the effect an outside call.
func (c config) calling(words ...word) config {
	c.outside, c.decisions = true, words
	return c
}

// resetting lets an operator reset the stream so many times, to any of the cursors.
func (c config) resetting(times uint8, to ...uint8) config {
	c.stream, c.resets, c.resetTo = append(c.stream, reset), times, to
	return c
}

func (c config) pausing() config {
	c.stream = append(c.stream, pause, resume)
	return c
}

// spooling lets somebody fetch ahead.
func (c config) spooling() config {
	c.spool = true
	return c
}

// changing makes the source answer the first cursor in two ways: events 1 and 2, or 1 alone with another token, at which 2 and 3 follow.
func (c config) changing() config {
	c.answers = append(c.answers, answer{at: 1, next: 4, events: 0b001}, answer{at: 4, next: 3, events: 0b110, end: true})
	return c
}

// small are the scopes of an ordinary test run.
func small() []config {
	return []config{
		feed("base", 2, 1),
		feed("loss", 1, 2).loses(),
		feed("hold", 1, 2).holding(0b010, release, ignore, quarantine),
		lane("hold at a lane's head", 1, 2).holding(0b001, release, ignore),
		feed("reset", 1, 1).resetting(1, 1, 2),
		lane("reset and hold", 1, 1).holding(0b001, release, ignore).resetting(1, 1, 2),
		feed("pause", 1, 1).pausing(),
		feed("spool and a changing source", 1, 1).spooling().changing(),
		single("outside calls", 1, 1).calling(release, ignore),
	}
}

// full are the scopes of make model.
func full() []config {
	return []config{
		feed("base", 2, 2),
		feed("loss", 2, 2).loses(),
		feed("hold", 2, 2).holding(0b010, release, ignore, quarantine),
		lane("hold at a lane's head", 2, 2).holding(0b001, release, ignore),
		feed("reset, two polls", 2, 1).resetting(1, 1, 2),
		feed("reset, two applies", 1, 2).resetting(1, 1, 2),
		feed("two resets", 1, 1).resetting(2, 1, 2),
		lane("reset and hold, two polls", 2, 1).holding(0b001, release).resetting(1, 1, 2),
		lane("reset and hold, two applies", 1, 2).holding(0b001, release, ignore).resetting(1, 1, 2),
		feed("pause", 2, 1).pausing(),
		feed("pause and reset", 1, 1).pausing().resetting(1, 1),
		feed("spool and a changing source", 2, 1).spooling().changing(),
		feed("spool, a changing source and a reset", 1, 1).spooling().changing().resetting(1, 1, 2),
		single("outside calls", 2, 1).calling(release, ignore),
		single("outside calls, two applies", 1, 2).calling(release, declare, ignore),
		single("outside calls and a reset", 1, 1).calling(release, ignore).resetting(1, 1, 2),
	}
}
