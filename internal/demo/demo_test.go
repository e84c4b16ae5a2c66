package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func feed() Feed { return Feed{Seed: 7, Start: start, Backlog: 300, Every: 400 * time.Millisecond} }

type gotPage struct {
	Events []struct {
		Seq  int
		ID   string
		Type string
	}
	Next    string
	HasMore bool `json:"has_more"`
}

func (p gotPage) seqs() []int {
	out := []int{}
	for _, e := range p.Events {
		out = append(out, e.Seq)
	}
	return out
}

// ask speaks to the handler as a stranger would.
func ask(t *testing.T, h http.Handler, token string) (gotPage, int) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/events?cursor="+url.QueryEscape(token), nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var p gotPage
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("answer %q: %v", w.Body, err)
	}
	return p, w.Code
}

// walk reads the feed to its end.
func walk(t *testing.T, h http.Handler) []gotPage {
	t.Helper()
	var pages []gotPage
	for token := ""; len(pages) < 100; {
		p, status := ask(t, h, token)
		if status != http.StatusOK {
			t.Fatalf("page %d: status %d", len(pages), status)
		}
		pages = append(pages, p)
		if !p.HasMore {
			return pages
		}
		token = p.Next
	}
	t.Fatal("no end after 100 pages")
	return nil
}

func handlerAt(f Feed, at time.Duration) http.Handler {
	return Handler(f, func() time.Time { return f.Start.Add(at) }, 0)
}

func TestEveryEventIsGivenAndPagesOverlapByTwo(t *testing.T) {
	t.Parallel()
	pages := walk(t, handlerAt(feed(), 0))
	seen, last, empty := map[int]int{}, []int{}, 0
	for i, p := range pages {
		seqs := p.seqs()
		if len(seqs) == 0 {
			empty++
			continue
		}
		if i > 0 && !slices.Equal(seqs[:2], last[len(last)-2:]) {
			t.Errorf("page %d begins with %v, the one before ended with %v", i, seqs[:2], last)
		}
		for _, k := range seqs {
			seen[k]++
		}
		last = seqs
	}
	if empty != 1 {
		t.Errorf("%d empty pages, want 1", empty)
	}
	for k := 1; k <= 300; k++ {
		if seen[k] == 0 {
			t.Errorf("event %d never given", k)
		}
	}
	if len(seen) != 300 || len(pages) != 18 {
		t.Errorf("%d events on %d pages, want 300 on 18", len(seen), len(pages))
	}
}

func TestTheEmptyPageMovesTheToken(t *testing.T) {
	t.Parallel()
	request := ""
	for i, p := range walk(t, handlerAt(feed(), 0)) {
		if len(p.Events) == 0 {
			if p.Next == request || !p.HasMore || i == 0 {
				t.Errorf("empty page %d: same token %v, has_more %v", i, p.Next == request, p.HasMore)
			}
			return
		}
		request = p.Next
	}
	t.Error("no empty page")
}

func TestTheEndKeepsItsTokenUntilSomethingArrives(t *testing.T) {
	t.Parallel()
	pages := walk(t, handlerAt(feed(), 0))
	end := pages[len(pages)-1].Next
	again, _ := ask(t, handlerAt(feed(), 399*time.Millisecond), end)
	if again.Next != end || again.HasMore || !slices.Equal(again.seqs(), []int{299, 300}) {
		t.Errorf("at the end: token kept %v, has_more %v, events %v", again.Next == end, again.HasMore, again.seqs())
	}
	later, _ := ask(t, handlerAt(feed(), 800*time.Millisecond), end)
	if later.Next == end || !slices.Equal(later.seqs(), []int{299, 300, 301, 302}) {
		t.Errorf("0.8 s later: token kept %v, events %v", later.Next == end, later.seqs())
	}
}

func TestTokensAreOpaqueAndSealed(t *testing.T) {
	t.Parallel()
	h := handlerAt(feed(), 0)
	first, _ := ask(t, h, "")
	second, _ := ask(t, h, first.Next)
	if strings.Contains(first.Next, "20") || strings.Contains(second.Next, "38") {
		t.Errorf("tokens %q and %q show their places", first.Next, second.Next)
	}
	other := feed()
	other.Seed++
	foreign, _ := ask(t, handlerAt(other, 0), "")
	changed := []byte(first.Next)
	changed[3] ^= 1
	for _, token := range []string{"20", "x", string(changed), foreign.Next, first.Next + "AA", strings.Repeat("A", 100_000)} {
		if _, status := ask(t, h, token); status != http.StatusBadRequest {
			t.Errorf("token %.30q: status %d, want 400", token, status)
		}
	}
}

func TestTheFeedSaysTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	a, b := walk(t, handlerAt(feed(), time.Minute)), walk(t, handlerAt(feed(), time.Minute))
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("two walks of one feed differ")
	}
	early := feed().Record(42)
	if string(early) != string(feed().Record(42)) {
		t.Error("a record changed")
	}
}

func TestTheEventsANewcomerMeets(t *testing.T) {
	t.Parallel()
	kinds, nameless := map[string][]int{}, []int{}
	for _, p := range walk(t, handlerAt(feed(), 0)) {
		for _, e := range p.Events {
			if e.ID == "" && !slices.Contains(nameless, e.Seq) {
				nameless = append(nameless, e.Seq)
			}
			if !slices.Contains(kinds[e.Type], e.Seq) {
				kinds[e.Type] = append(kinds[e.Type], e.Seq)
			}
		}
	}
	if !slices.Equal(kinds["refund"], []int{137, 251}) || !slices.Equal(kinds["test"], []int{90}) || !slices.Equal(nameless, []int{198}) {
		t.Errorf("refunds %v, tests %v, without an id %v", kinds["refund"], kinds["test"], nameless)
	}
	if len(kinds["ping"]) < 10 || len(kinds["deposit"]) < 100 || len(kinds["payment"]) < 50 {
		t.Errorf("kinds are lopsided: %v", kinds)
	}
}

func TestCountNeverFallsBelowTheBacklog(t *testing.T) {
	t.Parallel()
	f := feed()
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{-time.Hour, 300}, {0, 300}, {399 * time.Millisecond, 300}, {400 * time.Millisecond, 301}, {time.Minute, 450}} {
		if got := f.Count(start.Add(c.at)); got != c.want {
			t.Errorf("%v after the start: %d events, want %d", c.at, got, c.want)
		}
	}
}
