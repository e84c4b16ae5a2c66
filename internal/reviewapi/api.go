// Package reviewapi is the operators' JSON API: what blocks a stream, what is held, and every decision of the protocol. It is a plain
// http.Handler over the protocol, the same on one machine and behind a gateway. openapi.json describes it.
package reviewapi

import (
	"context"
	"net/http"
	stdpath "path"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// Reviewer is what the API asks of the protocol.
type Reviewer interface {
	Decide(ctx context.Context, d handoff.Decision) (handoff.DecisionAnswer, error)
	DriveNow(ctx context.Context, s handoff.Stream)
	Status(ctx context.Context, s handoff.Stream) (handoff.StreamStatus, error)
	EventOf(ctx context.Context, r handoff.Receipt) (handoff.Event, error)
	CheckInvariants(ctx context.Context, s handoff.Stream) ([]handoff.Violation, error)
}

// Reader is what the API reads of the store.
type Reader interface {
	Streams(ctx context.Context) ([]handoff.StreamEntry, error)
	Receipts(ctx context.Context, s handoff.Stream, keys []handoff.ReceiptKey, proof bool) (map[handoff.ReceiptKey]handoff.Receipt, error)
	HeldReceipts(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Receipt, string, error)
	ListPages(ctx context.Context, s handoff.Stream, after handoff.Version, limit int) ([]handoff.Page, error)
	ListDocs(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.Doc, string, error)
	Audits(ctx context.Context, s handoff.Stream, after string, limit int) ([]handoff.AuditRecord, string, error)
}

// Config joins the API to a store and to whoever knows who is asking.
type Config struct {
	Engine Reviewer
	State  Reader
	// Actor says who is asking; an error or nobody is 401. Nil takes the ActorHeader: right only behind Loopback, where whoever
	// has the token of this start may name himself.
	Actor func(*http.Request) (string, error)
	// Explain tells the caller the cause of an unknown outcome: right where the caller is this machine's own user. Elsewhere Report
	// gets it, and the caller only what he can do about it.
	Explain bool
	Report  func(ctx context.Context, err error)
	// NewID names a decision that came without an Idempotency-Key.
	NewID func() string
}

// ActorHeader is how the local command line names its user.
const ActorHeader = "Turnleaf-Actor"

// route is one line of the router: OpenAPI is tested against it.
type route struct {
	method, path string
	serve        func(*api, http.ResponseWriter, *http.Request) error
}

// routes is everything the API serves.
var routes = []route{
	{"GET", "/v1/streams", (*api).listStreams},
	{"GET", "/v1/streams/{stream}", (*api).getStream},
	{"GET", "/v1/streams/{stream}/holds", (*api).listHolds},
	{"GET", "/v1/streams/{stream}/events/{event}", (*api).getEvent},
	{"POST", "/v1/streams/{stream}/events/{event}/decisions", (*api).decideEvent},
	{"POST", "/v1/streams/{stream}/decisions", (*api).decideStream},
	{"POST", "/v1/streams/{stream}/bulk", (*api).decideBulk},
	{"GET", "/v1/streams/{stream}/audit", (*api).listAudit},
	{"GET", "/v1/streams/{stream}/pages", (*api).listPages},
	{"GET", "/v1/streams/{stream}/docs", (*api).listDocs},
	{"GET", "/v1/streams/{stream}/check", (*api).check},
	{"GET", "/v1/openapi.json", (*api).openAPI},
}

type api struct{ Config }

// New gives the API as a handler.
func New(c Config) http.Handler {
	a := &api{c}
	if a.NewID == nil {
		a.NewID = randomID
	}
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) {
			if err := r.serve(a, w, req); err != nil {
				writeProblem(w, a.problem(req.Context(), err))
			}
		})
	}
	return secured(routed(mux))
}

// routed answers what no route takes as a problem too, and never sends anybody elsewhere: a path with an empty part or dots names
// nothing, and is not mended into one that names something else.
func routed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.EscapedPath()
		h, pattern := mux.Handler(r)
		if pattern != "" && stdpath.Clean(asked) == asked {
			mux.ServeHTTP(w, r)
			return
		}
		rec := &recorder{header: http.Header{}}
		h.ServeHTTP(rec, r)
		if rec.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", rec.header.Get("Allow"))
			writeProblem(w, problemOf(&statusError{rec.status, "this path takes " + rec.header.Get("Allow")}))
			return
		}
		writeProblem(w, problemOf(&statusError{http.StatusNotFound, "no such path"}))
	})
}

// secured sets what every answer carries: payloads are other people's text and belong into no cache and no guess of a browser.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}
