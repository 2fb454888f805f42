// Package httpaccess decides who may speak to a server of ours over HTTP: who
// brings the token, from this machine or from others. It knows no store.
package httpaccess

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// Brings reports whether a request has the token: "Authorization: Bearer TOKEN",
// the scheme in any case. Nothing brings an empty token.
func Brings(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && Equal(given, token)
}

// Equal compares a secret that was given with the one that is wanted, in a time
// that tells nothing of it. An empty one is never right.
func Equal(given, wanted string) bool {
	return wanted != "" && subtle.ConstantTimeCompare([]byte(given), []byte(wanted)) == 1
}

// Bearer lets requests through that bring the token. Others get status 401 and
// the hint.
func Bearer(token, hint string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Brings(r, token) {
			Challenge(w)
			http.Error(w, hint, http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Challenge says in the header of an answer which proof is missing.
func Challenge(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="sessiondb"`)
}

// Loopback reports whether only this machine reaches a listener at the address.
// An address without a host, such as ":8765", is one of all interfaces.
func Loopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}
