package httpsource

import (
	"testing"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

const page, unavailable = handoff.ReadPage, handoff.ReadUnavailable

// story is one source's fixture: where it starts, and what each exchange must amount to.
type story struct {
	start handoff.Cursor
	wants []want
	// asked names the exchanges whose request must be the fixture's own.
	asked map[int]bool
}

const githubNext = "https://api.github.example/enterprises/900001/audit-log?phrase=created%3A%3E%3D2031-03-01&include=all&order=asc&per_page=2&after="

func TestAPIs(t *testing.T) {
	t.Parallel()
	stories := map[string]story{
		"couchdb-changes": {`{"at":"token","v":"0"}`, []want{
			{kind: page, ids: `["order-1","1-aaaa"] ["order-2","3-bbbb"]`, next: `{"p":"2-gInventedB","pt":"s"}`, continues: true},
			{kind: page, ids: `["order-1","2-cccc"]`, next: `{"p":"3-gInventedC","pt":"s"}`, end: true, continues: true},
			{kind: page, next: `{"p":"3-gInventedC","pt":"s"}`, end: true, continues: true},
			{kind: page, ids: `["order-2","3-bbbb"]`, next: `{"p":"3-gOtherNodeC","pt":"s"}`, end: true, continues: true},
		}, map[int]bool{0: true, 1: true, 2: true, 3: true}},
		"github-audit-log": {`{"at":"beginning"}`, []want{
			{kind: page, ids: `"DocInvented0001AAAAAAAAA" "DocInvented0002AAAAAAAAA"`, continues: true,
				positions: "2031-02-28T00:00:00.1Z | 2031-02-28T00:00:00.1Z",
				next:      `{"p":"` + githubNext + `MS45MzAwMDMyMDAxZSsxMnxBQUE%3D&before=","pt":"u"}`},
			{kind: page, ids: `"DocInvented0003AAAAAAAAA" "DocInvented0004AAAAAAAAA"`, continues: true,
				positions: "2031-02-28T00:00:00.1Z | 2031-02-28T00:00:01.555Z",
				next:      `{"p":"` + githubNext + `MS45MzAwMDMyMDE1ZSsxMnxCQkI%3D&before=","pt":"u"}`},
			{kind: page, ids: `"DocInvented0005AAAAAAAAA"`, positions: "2031-02-28T00:00:02Z", end: true,
				next: `{"p":"` + githubNext + `MS45MzAwMDMyMDE1ZSsxMnxCQkI%3D&before=","pt":"u"}`},
			{kind: unavailable, class: "throttled", after: time.Minute},
		}, map[int]bool{0: true, 1: true, 2: true}},
		"http-feeds": {`{"at":"beginning"}`, []want{
			{kind: page, ids: `"0000001000001::inv-a" "0000001000002::inv-b"`, next: `{"b":"0000001000002::inv-b","bt":"s"}`, continues: true},
			{kind: page, ids: `"0000001000007::inv-g" "0000001000008::inv-h"`, next: `{"b":"0000001000008::inv-h","bt":"s"}`, continues: true},
			{kind: page, next: `{"b":"0000001000008::inv-h","bt":"s"}`, end: true, continues: true},
			{kind: page, next: `{"b":"0000001000008::inv-h","bt":"s"}`, end: true, continues: true},
		}, map[int]bool{0: true, 1: true, 3: true}},
		"stripe-events": {`{"at":"bookmark","v":"evt_inv_0000"}`, []want{
			{kind: page, ids: `"evt_inv_0001" "evt_inv_0002"`, positions: "1930000101 | 1930000101", next: `{"b":"evt_inv_0002","bt":"s"}`, continues: true},
			{kind: page, ids: `"evt_inv_0003"`, positions: "1930000140", next: `{"b":"evt_inv_0003","bt":"s"}`, end: true, continues: true},
			{kind: page, next: `{"b":"evt_inv_0003","bt":"s"}`, end: true, continues: true},
			{kind: handoff.ReadCursorRefused, class: "http_400"},
		}, map[int]bool{0: true, 1: true, 2: true, 3: true}},
		"onepassword-events": {`{"at":"bookmark","v":"2031-03-01T00:00:00Z"}`, []want{
			{kind: page, ids: `"EVINV0000000000000000000001" "EVINV0000000000000000000002"`, continues: true,
				positions: "2031-03-01T00:00:05.123456789Z | 2031-03-01T00:00:05.123456790Z",
				next:      `{"b":"2031-03-01T00:00:05.123456790Z","bt":"s","p":"aGVsbG8taW52ZW50ZWQtMQ","pt":"s"}`},
			{kind: page, ids: `"EVINV0000000000000000000003"`, positions: "2031-03-01T02:00:09+02:00", end: true, continues: true,
				next: `{"b":"2031-03-01T02:00:09+02:00","bt":"s","p":"aGVsbG8taW52ZW50ZWQtMg","pt":"s"}`},
			{kind: page, end: true, continues: true,
				next: `{"b":"2031-03-01T02:00:09+02:00","bt":"s","p":"aGVsbG8taW52ZW50ZWQtMg","pt":"s"}`},
			{kind: unavailable, class: "throttled"},
		}, map[int]bool{0: true, 1: true, 2: true, 3: true}},
		"okta-system-log": {`{"at":"beginning"}`, []want{
			{kind: page, ids: `"aa000001-0000-4000-8000-000000000001" "aa000001-0000-4000-8000-000000000002"`, continues: true,
				next: `{"p":"https://acme.okta.example/api/v1/logs?sortOrder=ASCENDING&limit=2&after=1930000000001_1","pt":"u"}`},
			{kind: page, ids: `"aa000001-0000-4000-8000-000000000003" "aa000001-0000-4000-8000-000000000002"`, continues: true,
				next: `{"p":"https://acme.okta.example/api/v1/logs?sortOrder=ASCENDING&limit=2&after=1930000009400_2","pt":"u"}`},
			{kind: page, end: true, continues: true,
				next: `{"p":"https://acme.okta.example/api/v1/logs?sortOrder=ASCENDING&limit=2&after=1930000012000_0","pt":"u"}`},
			{kind: unavailable, class: "throttled"}, // its reset lies before this test's clock
		}, map[int]bool{0: true, 1: true, 2: true, 3: true}},
		"box-enterprise-events": {`{"at":"token","v":"0"}`, []want{
			{kind: page, ids: `"evbox0001" "evbox0002"`, next: `{"p":"1152922976252290887","pt":"n"}`, continues: true},
			{kind: page, ids: `"evbox0002"`, next: `{"p":"1152922976252290999","pt":"s"}`, continues: true},
			{kind: page, ids: `"evbox0003"`, next: `{"p":"1152922976252291044","pt":"s"}`, continues: true},
			{kind: page, next: `{"p":"1152922976252291044","pt":"s"}`, end: true, continues: true},
			{kind: page, next: `{"p":"1152922976252299999","pt":"n"}`, end: true, continues: true},
		}, map[int]bool{0: true, 1: true, 2: true, 3: true}},
	}
	for name, def := range definitions() {
		st, ok := stories[name]
		if !ok {
			t.Errorf("no story for %s", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, cursor := mustSource(t, def, Options{}), st.start
			exchanges := loadFixture(t, name)
			if len(exchanges) != len(st.wants) {
				t.Fatalf("%d exchanges, %d expectations", len(exchanges), len(st.wants))
			}
			for i, x := range exchanges {
				if st.asked[i] {
					sent(t, s, cursor, x)
				}
				r := s.Read(x.answer(cursor))
				t.Run(x.Step, func(t *testing.T) { check(t, r, st.wants[i]) })
				if r.Next != "" {
					cursor = r.Next
				}
			}
		})
	}
}

// The clock at which Okta's throttle was answered: its reset is then 42 seconds away.
func TestResetHeaderOfAThrottle(t *testing.T) {
	t.Parallel()
	s := mustSource(t, definitions()["okta-system-log"], Options{})
	a := loadFixture(t, "okta-system-log")[3].answer(`{"at":"beginning"}`)
	a.FetchedAt = time.Unix(1930000018, 0)
	check(t, s.Read(a), want{kind: unavailable, class: "throttled", after: 42 * time.Second})
}
