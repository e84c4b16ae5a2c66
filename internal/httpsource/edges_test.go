package httpsource

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// A next URL is sent as it stands, but for bytes that would break the request line.
func TestAskURLToken(t *testing.T) {
	t.Parallel()
	uri := ""
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { uri = r.RequestURI; fmt.Fprint(w, `{}`) },
		func(d *streamdef.Definition) { d.Source.Cursor = streamdef.Cursor{Link: "next"} })
	ask(t, s, startAt(t, s.endpoint.String()+"/9%2F1?a=b c,d;e&f=%2B+&before=#x"))
	if uri != "/events/9%2F1?a=b%20c,d;e&f=%2B+&before=" {
		t.Errorf("asked %s", uri)
	}
}

func TestTruncatedBodyIsNotJudged(t *testing.T) {
	t.Parallel()
	a := answerTo(both, 400, `{"code":"stale"}`)
	a.Truncated = true
	if r := mustSource(t, composite(), Options{}).Read(a); r.Kind != handoff.ReadTooLarge {
		t.Errorf("%s: %s", r.Kind, r.Detail)
	}
}

func TestUnaskedEncoding(t *testing.T) {
	t.Parallel()
	a := answerTo(both, 200, `{"data":[],"next":null}`)
	a.Header = map[string][]string{"Content-Encoding": {"br"}}
	check(t, mustSource(t, composite(), Options{}).Read(a), want{kind: handoff.ReadUnreadable, class: "encoding"})
}

func TestEmptyAnswerKeepsBothParts(t *testing.T) {
	t.Parallel()
	check(t, mustSource(t, composite(), Options{}).Read(answerTo(both, 204, "")), want{kind: page, end: true})
}

func TestKeepAtEndOnlyAtAnEnd(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Source.Cursor = streamdef.Cursor{Link: "next", KeepAtEnd: true}
	s := mustSource(t, def, Options{})
	check(t, s.Read(answerTo(t0, 200, `{"data":[],"has_more":true}`)), want{kind: handoff.ReadUnreadable, class: "contradiction"})
	check(t, s.Read(answerTo(t0, 200, `{"data":[],"has_more":false}`)), want{kind: page, end: true, next: string(t0)})
}

func TestUnfitRecordsMoveNoBookmark(t *testing.T) {
	t.Parallel()
	def := composite()
	def.Source.Cursor.Bookmark = "last.id"
	s := mustSource(t, def, Options{})
	future := fetchedAt.Add(time.Hour).Format(time.RFC3339)
	r := s.Read(answerTo(both, 200, `{"next":null,"data":[{"id":"a","at":1},{"id":"b","at":"`+future+`"}]}`))
	if r.Kind != page || r.Next != `{"b":"a","bt":"s"}` || r.Events[1].Invalid != "its time has not come yet" {
		t.Errorf("%s: %s, next %s, %+v", r.Kind, r.Detail, r.Next, r.Events)
	}
	r = s.Read(answerTo(both, 200, `{"next":null,"data":[{"at":1}]}`))
	if r.Kind != page || r.Next != `{"b":"B0","bt":"s"}` {
		t.Errorf("%s: %s, next %s", r.Kind, r.Detail, r.Next)
	}
}

func TestUndatedEventUnderHoldBack(t *testing.T) {
	t.Parallel()
	def := composite()
	for hold, invalid := range map[time.Duration]string{0: "", time.Minute: "no time: event.time: no such key: at"} {
		def.Contract.HoldBack = hold
		r := mustSource(t, def, Options{}).Read(answerTo(both, 200, `{"next":"T1","data":[{"id":"a"}]}`))
		if r.Kind == page && (len(r.Events) != 1 || !strings.HasPrefix(r.Events[0].Invalid, invalid) || (invalid == "") != (r.Events[0].Invalid == "")) {
			t.Errorf("hold back %v: %+v", hold, r.Events)
		} else if r.Kind != page && hold > 0 {
			t.Errorf("hold back %v: %s", hold, r.Detail)
		}
	}
}

func TestEntityNone(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Event.Entity = "none"
	r := mustSource(t, def, Options{}).Read(body(`{"has_more":false,"data":[{"id":"a","seq":1}]}`))
	if r.Kind != page || len(r.Events) != 1 || r.Events[0].Entity != "" || r.Events[0].Invalid != "" {
		t.Errorf("%s: %s %+v", r.Kind, r.Detail, r.Events)
	}
}

func TestHeadersInExpressions(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Source.End = `headers["x-more"] == "no"`
	a := body(`{"data":[]}`)
	a.Header = map[string][]string{"X-More": {"no", "yes"}}
	check(t, mustSource(t, def, Options{}).Read(a), want{kind: page, end: true})
}

// What is not UTF-8 would not survive being stored.
func TestTokenThatIsNotText(t *testing.T) {
	t.Parallel()
	def := trapDefinition()
	def.Source.Cursor = streamdef.Cursor{Link: "next"}
	a := body(`{"data":[],"has_more":true}`)
	a.Header = map[string][]string{"Link": {"<https://api.example.com/?p=\xff>; rel=next"}}
	check(t, mustSource(t, def, Options{}).Read(a), want{kind: handoff.ReadUnreadable, class: "token"})
}
