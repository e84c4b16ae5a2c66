package httpsource

import (
	"fmt"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/turnleaf/turnleaf/internal/expr"
	"github.com/turnleaf/turnleaf/internal/handoff"
)

// page reads a successful answer: its events, its token, whether it is the end, and where the next fetch begins.
func (a *answer) page() (handoff.Reading, error) {
	records, err := a.records()
	if err != nil {
		return handoff.Reading{}, err
	}
	r := handoff.Reading{Kind: handoff.ReadPage}
	r.Events = make([]handoff.Event, len(records))
	for i, rec := range records {
		r.Events[i] = rec.event
	}
	token, err := a.token()
	if err != nil {
		return handoff.Reading{}, err
	}
	if r.End, err = a.atEnd(len(records) == 0, token.absent()); err != nil {
		return handoff.Reading{}, err
	}
	if err := a.next(&r, records, token); err != nil {
		return handoff.Reading{}, err
	}
	return r, nil
}

// records reads the list, oldest first.
func (a *answer) records() ([]record, error) {
	if a.empty {
		return nil, nil
	}
	r, err := a.rules.events.eval(a.vars)
	if err != nil {
		return nil, err
	}
	if r.IsNull() {
		return nil, nil
	}
	list, err := r.List()
	if err != nil {
		return nil, fmt.Errorf("source.events: %w", err)
	}
	if len(list) > a.maxEvents {
		return nil, &failure{handoff.ReadTooLarge, "events", fmt.Sprintf("%d events: at most %d", len(list), a.maxEvents)}
	}
	out := make([]record, len(list))
	for i, one := range list {
		if out[i], err = a.record(one); err != nil {
			return nil, err
		}
	}
	if a.def.Source.NewestFirst {
		slices.Reverse(out)
	}
	return out, nil
}

// token finds the page token; absent is no error. Whatever is there and cannot be used is: it must not look like an end.
func (a *answer) token() (value, error) {
	if rel := a.def.Source.Cursor.Link; rel != "" {
		targets := linkTargets(a.Header, rel)
		if len(targets) > 1 {
			return value{}, unreadable("contradiction", "several Link headers name different next pages")
		}
		if len(targets) == 1 {
			return a.urlToken(targets[0])
		}
	}
	for _, p := range []*program{a.rules.nextURL, a.rules.token} {
		if p == nil || a.empty {
			continue
		}
		r, err := p.eval(a.vars)
		if err != nil {
			return value{}, err
		}
		v, err := scalar(r)
		if err != nil {
			return value{}, fmt.Errorf("%s: %w", p.field, err)
		}
		if v.absent() {
			continue
		}
		if p == a.rules.nextURL {
			return a.urlToken(v.text)
		}
		return v, checkToken(v)
	}
	return value{}, nil
}

// urlToken resolves a next URL against the URL that was asked, and refuses what leads off the origin before anything is asked.
func (a *answer) urlToken(ref string) (value, error) {
	base := a.endpoint
	if u, err := url.Parse(a.Request.URL); err == nil && sameOrigin(a.endpoint, u) {
		base = u
	}
	whole, err := resolve(a.endpoint, base, ref)
	if err != nil {
		return value{}, unreadable("origin", fmt.Sprintf("the next URL is refused: %v, which is %s", err, a.endpoint.Scheme+"://"+hostPort(a.endpoint)))
	}
	v := value{whole, kindURL}
	return v, checkToken(v)
}

func checkToken(v value) error {
	if len(v.text) > MaxToken {
		return &failure{handoff.ReadTooLarge, "token", fmt.Sprintf("a token of %d bytes: at most %d", len(v.text), MaxToken)}
	}
	if !utf8.ValidString(v.text) {
		return unreadable("token", "the token is not UTF-8")
	}
	return nil
}

// atEnd: the declared expression decides. Without one, or without a body to ask it of, a source with both bookmark and token
// ends where there is no token; all others end with an empty page, and where the cursor is kept at the end, also without a token.
func (a *answer) atEnd(noEvents, noToken bool) (bool, error) {
	if a.rules.end != nil {
		end, err := a.rules.end.bool(a.vars)
		if err == nil || !a.empty {
			return end, err
		}
	}
	switch {
	case a.rules.bookmark != nil && a.tokened():
		return noToken, nil
	case a.def.Source.Cursor.KeepAtEnd:
		return noEvents || noToken, nil
	}
	return noEvents, nil
}

// next says where the next fetch begins, and whether it continues this query.
func (a *answer) next(r *handoff.Reading, records []record, token value) error {
	bookmark, err := a.bookmark(records)
	if err != nil {
		return err
	}
	switch {
	case !token.absent():
		r.Next, r.Continues = cursor{bookmark, token}.encode(), true
		r.TokenLife = a.def.Source.Cursor.TokenLife
	case a.empty:
		// Nothing was said about the cursor, so it stays as it is.
	case a.rules.bookmark != nil && bookmark.absent():
		r.Next = a.Cursor // nothing has ever been seen
	case a.rules.bookmark != nil:
		r.Next, r.Continues = cursor{bookmark: bookmark}.encode(), !a.def.Contract.Overlap
	case a.def.Source.Cursor.KeepAtEnd && r.End:
		r.Next = a.Cursor
	}
	if r.Next == "" && !r.End {
		return unreadable("contradiction", "the source says that there is more, and gives no token to go on with")
	}
	return nil
}

// bookmark is the one of the last event that can give it, else the one we came with. A record stamped in the future gives none,
// and no bookmark that is a time passes the fetch less the hold-back: everything in between would be skipped.
func (a *answer) bookmark(records []record) (value, error) {
	if a.rules.bookmark == nil {
		return a.cur.bookmark, nil
	}
	limit := a.FetchedAt.Add(-a.def.Contract.HoldBack)
	var failed error
	for _, rec := range slices.Backward(records) {
		if rec.future {
			continue
		}
		v, err := a.bookmarkOf(rec)
		if err != nil {
			if rec.event.Invalid == "" {
				failed = err
			}
			continue
		}
		if at, ok := bookmarkTime(v, rec.event.Time, a.def.Event.TimeUnit); ok && at.After(limit) {
			failed = nil
			continue
		}
		return v, checkToken(v)
	}
	return a.cur.bookmark, failed
}

func (a *answer) bookmarkOf(rec record) (value, error) {
	r, err := a.rules.bookmark.eval(map[string]any{"last": rec.doc})
	if err != nil {
		return value{}, err
	}
	v, err := scalar(r)
	if err != nil || v.absent() {
		return value{}, fmt.Errorf("%s: a text or a number is needed", a.rules.bookmark.field)
	}
	return v, nil
}

// bookmarkTime is the instant a bookmark names: an RFC 3339 text, or a number that is the event's own declared time.
func bookmarkTime(v value, eventTime time.Time, unit string) (time.Time, bool) {
	if v.kind == kindText {
		t, err := time.Parse(time.RFC3339Nano, v.text)
		return t, err == nil
	}
	t, err := epoch(v.text, unit)
	return t, err == nil && !eventTime.IsZero() && t.Equal(eventTime)
}

// document gives a record's tree: a part of the answer, or what an expression made, read again.
func document(r expr.Result) (expr.Value, error) {
	if v, ok := r.Value(); ok {
		return v, nil
	}
	b, err := r.JSON()
	if err != nil {
		return expr.Value{}, err
	}
	return expr.Decode(b, expr.Limits{})
}
