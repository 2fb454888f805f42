package httpaccess

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Hosts lets requests through that name this machine as their host: "localhost",
// an address, or one of the names, at any port. Local is for a listener that
// only this machine reaches: then an address has to be one of its own. A name
// that somebody else owns and has pointed here (DNS rebinding) gets status 403.
func Hosts(local bool, names []string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hostAllowed(r.Host, local, names) {
			http.Error(w, "this server does not go by that name; use its address, or allow the name when it is started", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func hostAllowed(host string, local bool, names []string) bool {
	name := strings.ToLower(strings.TrimSuffix(hostname(host), "."))
	if a, err := netip.ParseAddr(name); err == nil {
		return !local || a.Unmap().IsLoopback()
	}
	return name == "localhost" || name != "" && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// hostname is a host without its port and without the brackets of an address.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// SameOrigin refuses, with status 403, what a page of another origin made a
// browser send, another port of the same machine too. What it lets through from
// there is the visit of a link: a GET whose answer becomes the page.
func SameOrigin(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if foreign(r) {
			http.Error(w, "a page of another site asked for this", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func foreign(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" && !isOrigin(o, r.Host) {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	visit := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return r.Method != http.MethodGet || !visit
}

// FromOwnPage reports whether a browser says that a page of this very server sent
// the request. Something that is no browser may say nothing.
func FromOwnPage(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" {
		return isOrigin(o, r.Host)
	}
	return r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// isOrigin tells whether an origin is that of the host. The scheme is not looked
// at: in front of the server something else may do TLS.
func isOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}
