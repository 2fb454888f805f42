package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/mcp"
)

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTP(t *testing.T) {
	db := store(t)
	create(t, db, sessiondb.NewSession{ID: "a"}, "hello")
	s := httptest.NewServer(mcp.Handler(db, "secret", mcp.Options{}))
	t.Cleanup(s.Close)
	c := connect(t, &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: bearer{"secret"}}})
	t.Cleanup(func() { _ = c.Close() })
	if a := call(t, c, "session_list", nil); len(a.Sessions) != 1 {
		t.Errorf("%+v", a)
	}
	for name, w := range map[string]struct {
		header map[string]string
		host   string
		want   int
	}{
		"no token":        {nil, "", http.StatusUnauthorized},
		"another token":   {map[string]string{"Authorization": "Bearer secreT"}, "", http.StatusUnauthorized},
		"a foreign page":  {map[string]string{"Authorization": "Bearer secret", "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, "", http.StatusForbidden},
		"a rebound name":  {map[string]string{"Authorization": "Bearer secret"}, "evil.example", http.StatusForbidden},
		"not a scheme":    {map[string]string{"Authorization": "secret"}, "", http.StatusUnauthorized},
		"an empty bearer": {map[string]string{"Authorization": "Bearer "}, "", http.StatusUnauthorized},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range w.header {
			r.Header.Set(k, v)
		}
		if w.host != "" {
			r.Host = w.host
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != w.want {
			t.Errorf("%s: status %d, want %d", name, res.StatusCode, w.want)
		}
	}
}
