// Package streamdef reads stream definitions: streams/NAME.yaml, one file a stream.
package streamdef

import "time"

// Definition is one parsed and validated file. Every CEL expression in it has been compiled once by Parse; adapters compile
// those they use again (80–120 µs each), so that a Definition stays plain data.
type Definition struct {
	Name string
	// Path is the file, for messages.
	Path string
	// Start says where the first tick begins; nil waits for `turnleaf streams start`.
	Start *Start
	// Every is the distance between polls once the source's end is reached. Default 1m.
	Every time.Duration
	// Pages is the most pages turned on one tick's account. Default 20.
	Pages    int
	Source   Source
	Event    EventRules
	Contract Contract
	Policy   []Rule
	Effect   Effect

	// Hashes, hex, of the parts as written (canonical, comments and layout left out).
	Revision     string // of everything
	FetchHash    string // of source
	IdentityHash string // of event
	PolicyHash   string
	EffectHash   string
}

// Start is where a stream begins. Exactly one field is set.
type Start struct {
	// Token is sent as the cursor's token, literally ("0", "*", a saved token).
	Token string
	// Bookmark is an id or a value for the bookmark, literally.
	Bookmark string
	// Time is an RFC 3339 time, `now`, or `now-24h`: made literal once, and used as the bookmark.
	Time string
	// Beginning sends the first request without any cursor.
	Beginning bool
}

// Source says how to ask, and how to understand the answer. CEL variables of its expressions: `status` (int), `headers` (map of
// lower-case name to first value), `body` (the decoded JSON; absent if the body is empty).
type Source struct {
	URL     string
	Method  string // GET (default) or POST
	Headers map[string]string
	Query   map[string]string
	// Body is a JSON object sent with POST; the token is set into it.
	Body map[string]any
	Auth *Auth
	// AllowPrivate permits loopback and private addresses and plain http: for tests and for feeds inside a network.
	AllowPrivate bool
	Timeout      time.Duration // default 20s
	MaxBody      int64         // bytes, default 10 MiB; a larger answer is page_too_large
	MaxEvents    int           // default 5000

	// Success: default `status == 200`. 204 and 304 count as an empty page unless it says otherwise.
	Success string
	// Refused: the source does not take this cursor any more. Default `status == 410`.
	Refused string
	// RefusedToken: only the page token is refused; the bookmark still works. Needs cursor.bookmark.
	RefusedToken string
	// Unavailable: ask again later. Default: status 408, 425, 429, 5xx, 401, 403.
	Unavailable string
	// Events: a list. Missing is unreadable, null is an empty page.
	Events string
	// End: nothing more for now. Default: no token where there is a bookmark, or an empty page.
	End string
	// NewestFirst: the page is reversed when read.
	NewestFirst bool
	Cursor      Cursor
}

// Cursor says what names the next fetch. It is composite: a page token (connects pages, may be short-lived) and a bookmark (an
// id or time of the last event, that still works next month). Either may be missing.
type Cursor struct {
	// Token: CEL giving text or a number (digit for digit); null and "" are absent.
	Token string
	// Link is the relation of a Link header whose URL is the token (RFC 8288), e.g. next.
	Link string
	// NextURL: CEL giving a whole or relative URL that is the token.
	NextURL string
	// Send is where Token goes: query:NAME, body:NAME, header:NAME. A Link or NextURL is requested as it stands.
	Send string
	// Bookmark: CEL over `last` (the page's last event in source order) giving text or a number.
	Bookmark string
	// Resume is where the bookmark goes when there is no token: parameter "query:NAME", "body:NAME", "header:NAME" to a CEL
	// expression over `bookmark` (text).
	Resume map[string]string
	// KeepAtEnd: an end without a token keeps the request cursor (the last page is read again).
	KeepAtEnd bool
	// TokenLife is how long a token is good for; 0 unknown.
	TokenLife time.Duration
}

// Auth is how to authenticate; exactly one field is set. Secrets are references, never literals.
type Auth struct {
	Bearer *Secret
	Basic  *Basic
	Header *HeaderAuth
}

// Basic is HTTP basic authentication.
type Basic struct {
	User     string
	Password Secret
}

// HeaderAuth sends a secret as a header; Prefix goes before it (e.g. "SSWS ").
type HeaderAuth struct {
	Name   string
	Prefix string
	Value  Secret
}

// Secret is a reference: exactly one field is set.
type Secret struct {
	Env  string
	File string
	// SSM names a parameter of AWS Systems Manager, SecretsManager a secret of AWS Secrets Manager (name or ARN): for functions.
	SSM            string
	SecretsManager string
}

// EventRules say what identifies an event. CEL over `event` (the record).
type EventRules struct {
	ID string
	// Position: CEL giving a number, text, or a list of these (a tuple); empty with positions: arrival.
	Position string
	// PositionType is number, time or text; it decides how positions compare. Default: by the value (number, else text).
	PositionType string
	// Entity: CEL giving text or a number; "" cuts no lanes (the page is one), "none" makes each event its own lane.
	Entity string
	// Time: CEL giving RFC 3339 text, or seconds or milliseconds since 1970 by TimeUnit.
	Time     string
	TimeUnit string // "", s, ms
	// Digest: CEL giving the value that is digested; default: the record's bytes.
	Digest string
}

// Contract is what the source promises (docs: "Contract of a source").
type Contract struct {
	Order            string // ordered (default), none
	Positions        string // unique (default with a position), shared, arrival
	Gapless          bool
	Late             string // hold (default), apply
	Token            string // durable (default), once
	HoldBack         time.Duration
	Overlap          bool
	ReplayProof      string // receipts (default), watermark
	Retention        time.Duration
	ReceiptRetention time.Duration
}

// Rule is one policy rule: the first whose When holds decides; none applies. CEL variables: event, id, entity, position (text).
type Rule struct {
	Name string
	When string
	Then string // apply, ignored, held, quarantined
}

// Effect is what applying does; exactly one field is set. (Outside sinks come as fields of their own.)
type Effect struct {
	Projection *Projection
}

// Projection writes documents beside the receipts, in one transaction. CEL variables as in Rule.
type Projection struct {
	// Set and Add write fields of the event's entity document; Delete (a bool) drops it, and then Set and Add are not evaluated.
	Set    map[string]string
	Add    map[string]string
	Delete string
	// When, if set and false, leaves the entity document alone.
	When string
	Also []OtherDoc
}

// OtherDoc adds to another document: numbers only, because its events come from many lanes.
type OtherDoc struct {
	Entity string // CEL giving text
	Add    map[string]string
	When   string
}
