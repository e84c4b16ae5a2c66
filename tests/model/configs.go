package model

// feed is two pages of three events: 1 and 2 at cursor 1, then 2 and 3 at cursor 2, then the end at cursor 3. Event 2 is on both.
func feed() config {
	return config{
		answers: []answer{
			1: {at: 1, next: 2, events: 0b011},
			2: {at: 2, next: 3, events: 0b110, end: true},
			3: {at: 3, next: 3, end: true},
		},
		end: 3,
	}
}
