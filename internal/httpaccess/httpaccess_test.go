package httpaccess_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/httpaccess"
)

func TestBearer(t *testing.T) {
	inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for _, w := range []struct {
		token, header string
		want          int
	}{
		{"secret", "Bearer secret", http.StatusNoContent},
		{"secret", "bearer secret", http.StatusNoContent},
		{"secret", "BEARER secret", http.StatusNoContent},
		{"secret", "Bearer secreT", http.StatusUnauthorized},
		{"secret", "Basic secret", http.StatusUnauthorized},
		{"secret", "secret", http.StatusUnauthorized},
		{"secret", "Bearer ", http.StatusUnauthorized},
		{"secret", "", http.StatusUnauthorized},
		{"", "Bearer ", http.StatusUnauthorized},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Authorization", w.header)
		rec := httptest.NewRecorder()
		httpaccess.Bearer(w.token, "hint", inner).ServeHTTP(rec, r)
		if rec.Code != w.want {
			t.Errorf("token %q, header %q: status %d, want %d", w.token, w.header, rec.Code, w.want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:0": true, "127.9.9.9:1": true, "[::1]:0": true,
		":0": false, "0.0.0.0:0": false, "[::]:0": false, "192.0.2.1:80": false,
	} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := httpaccess.Loopback(a); got != want {
			t.Errorf("%s: %t, want %t", address, got, want)
		}
	}
}
