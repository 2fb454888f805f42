package httpaccess_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/httpaccess"
)

var reached = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

func status(t *testing.T, h http.Handler, method, host string, header map[string]string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
	r.Host = host
	for k, v := range header {
		r.Header.Set(k, v)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Code
}

func TestHosts(t *testing.T) {
	for _, w := range []struct {
		host  string
		local bool
		ok    bool
	}{
		{"localhost:8765", true, true},
		{"LOCALHOST.", true, true},
		{"127.0.0.1:1", true, true},
		{"127.9.9.9", true, true},
		{"[::1]:8765", true, true},
		{"[::ffff:127.0.0.1]:8765", true, true},
		{"192.0.2.1:8765", true, false},
		{"evil.example:8765", true, false},
		{"localhost.evil.example", true, false},
		{"127.0.0.1.evil.example", true, false},
		{"", true, false},
		{"192.0.2.1:8765", false, true},
		{"evil.example", false, false},
		{"Box.example:80", false, true},
		{"sub.box.example", false, false},
	} {
		want := http.StatusForbidden
		if w.ok {
			want = http.StatusNoContent
		}
		names := []string{"box.example"}
		if got := status(t, httpaccess.Hosts(w.local, names, reached), http.MethodGet, w.host, nil); got != want {
			t.Errorf("host %q, local %t: status %d, want %d", w.host, w.local, got, want)
		}
	}
}

func TestSameOrigin(t *testing.T) {
	type header = map[string]string
	for _, w := range []struct {
		name, method string
		header       header
		ok           bool
	}{
		{"no browser", "POST", nil, true},
		{"a typed address", "GET", header{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, true},
		{"its own page", "POST", header{"Origin": "http://localhost:8765", "Sec-Fetch-Site": "same-origin"}, true},
		{"its own page behind TLS", "POST", header{"Origin": "https://localhost:8765"}, true},
		{"another port", "POST", header{"Origin": "http://localhost:8766", "Sec-Fetch-Site": "same-site"}, false},
		{"another site", "POST", header{"Origin": "https://evil.example"}, false},
		{"a page without a name", "POST", header{"Origin": "null"}, false},
		{"a form that hides its origin", "POST", header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, false},
		{"a link elsewhere", "GET", header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, true},
		{"a frame elsewhere", "GET", header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, false},
		{"a script elsewhere", "GET", header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, false},
	} {
		want := http.StatusForbidden
		if w.ok {
			want = http.StatusNoContent
		}
		if got := status(t, httpaccess.SameOrigin(reached), w.method, "localhost:8765", w.header); got != want {
			t.Errorf("%s: status %d, want %d", w.name, got, want)
		}
	}
}
