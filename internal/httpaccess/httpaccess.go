// Package httpaccess decides who may speak to a server of ours over HTTP: who
// brings the token, from this machine or from others. It knows no store.
package httpaccess

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// Bearer lets requests through that bring the token: "Authorization: Bearer
// TOKEN", the scheme in any case. Others get status 401 and the hint. With an
// empty token nobody gets through.
func Bearer(token, hint string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || token == "" || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="sessiondb"`)
			http.Error(w, hint, http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Loopback reports whether only this machine reaches a listener at the address.
// An address without a host, such as ":8765", is one of all interfaces.
func Loopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}
