package reviewapi

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Loopback lets only programs of this machine through that know the token of this start. A page in somebody's browser knows neither:
// it is refused by its Host (a name that was made to point here), by its Origin, and by the token.
func Loopback(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !loopbackHost(r.Host):
			writeProblem(w, problemOf(&statusError{http.StatusForbidden, "this address serves loopback hosts only"}))
		case foreign(r):
			writeProblem(w, problemOf(&statusError{http.StatusForbidden, "requests of other origins are refused"}))
		case !bears(r, token):
			writeProblem(w, problemOf(&statusError{http.StatusUnauthorized, "the token of this start is missing or wrong"}))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// loopbackHost takes literal addresses and localhost, with or without a port.
func loopbackHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// foreign reports a request that a page of another origin made.
func foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}

// bears compares in constant time; an empty token opens nothing.
func bears(r *http.Request, token string) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}
