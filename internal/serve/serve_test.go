package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

const secret = "the-token"

// store is an empty store, and a server of it.
func store(t *testing.T) (*sessiondb.DB, *httptest.Server) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db, serverOf(t, db, Options{})
}

// serverOf serves a store. What it logs fails the test.
func serverOf(t *testing.T, db *sessiondb.DB, o Options) *httptest.Server {
	t.Helper()
	var log bytes.Buffer
	o.Token, o.Local, o.Logger = secret, true, slog.New(slog.NewTextHandler(&log, nil))
	s := httptest.NewServer(Handler(t.Context(), db, o))
	t.Cleanup(func() {
		s.Close()
		_ = db.Close()
		if log.Len() > 0 {
			t.Errorf("logged: %s", log.String())
		}
	})
	return s
}

// create adds a session with messages of user and assistant in turn.
func create(t *testing.T, db *sessiondb.DB, n sessiondb.NewSession, texts ...string) string {
	t.Helper()
	id, err := db.CreateSession(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		m := sessiondb.Message{Role: []string{"user", "assistant"}[i%2], Content: sessiondb.Text(text)}
		if _, err := db.AppendMessage(t.Context(), id, m); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// answer is what came back.
type answer struct {
	*http.Response
	body string
}

// ask sends a request with the token, unless the header says otherwise.
func ask(t *testing.T, s *httptest.Server, method, path, body string, header map[string]string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		r.Header.Set(k, v)
		if v == "" {
			r.Header.Del(k)
		}
	}
	if host := header["Host"]; host != "" {
		r.Host = host
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res, string(b)}
}

// get is a page that has to come.
func get(t *testing.T, s *httptest.Server, path string) string {
	t.Helper()
	a := ask(t, s, http.MethodGet, path, "", nil)
	if a.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, a.StatusCode, a.body)
	}
	return a.body
}

func TestAccess(t *testing.T) {
	_, s := store(t)
	type header = map[string]string
	cookie := (&server{options: Options{Token: secret}}).cookieValue()
	name := "sessiondb-" + s.URL[strings.LastIndex(s.URL, ":")+1:]
	noToken := header{"Authorization": ""}
	withCookie := func(more header) header {
		h := header{"Authorization": "", "Cookie": name + "=" + cookie}
		for k, v := range more {
			h[k] = v
		}
		return h
	}
	const count = "/rpc/session_count"
	for _, w := range []struct {
		what, method, path string
		header             header
		want               int
	}{
		{"the token", "POST", count, nil, 200},
		{"no token", "POST", count, noToken, 401},
		{"another token", "POST", count, header{"Authorization": "Bearer the-tokem"}, 401},
		{"the token in the address of a call", "POST", count + "?token=" + secret, noToken, 401},
		{"no token, page", "GET", "/", noToken, 401},
		{"no token, description", "GET", "/openapi.json", noToken, 401},
		{"the link", "GET", "/?token=" + secret, noToken, 200},
		{"another link", "GET", "/?token=x", noToken, 401},
		{"an empty link", "GET", "/?token=", noToken, 401},
		{"health needs none", "GET", "/healthz", noToken, 200},
		{"a rebound name", "POST", count, header{"Host": "evil.example"}, 403},
		{"a rebound name, health", "GET", "/healthz", header{"Host": "evil.example"}, 403},
		{"a page elsewhere", "POST", count, header{"Origin": "https://evil.example"}, 403},
		{"a page elsewhere, reading", "GET", "/openapi.json", header{"Origin": "https://evil.example"}, 403},
		{"a page at another port", "POST", count, header{"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"}, 403},
		{"the cookie, reading", "GET", "/openapi.json", withCookie(nil), 200},
		{"the cookie, from its own page", "POST", count, withCookie(header{"Origin": s.URL}), 200},
		{"the cookie, from nowhere", "POST", count, withCookie(nil), 403},
		{"the cookie, from a page without a name", "POST", count, withCookie(header{"Origin": "null"}), 403},
		{"the token as a cookie", "GET", "/openapi.json", header{"Authorization": "", "Cookie": name + "=" + secret}, 401},
		{"the cookie of another port", "GET", "/openapi.json", header{"Authorization": "", "Cookie": "sessiondb-1=" + cookie}, 401},
		{"a preflight", "OPTIONS", count, header{"Authorization": "", "Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}, 403},
		{"a call that reads", "GET", count, nil, 405},
		{"no such page", "GET", "/nowhere", nil, 404},
	} {
		a := ask(t, s, w.method, w.path, "", w.header)
		if a.StatusCode != w.want {
			t.Errorf("%s: status %d, want %d: %s", w.what, a.StatusCode, w.want, a.body)
		}
		if a.Header.Get("Access-Control-Allow-Origin") != "" || !strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none'; ") {
			t.Errorf("%s: header %v", w.what, a.Header)
		}
	}
}

// The link gives a cookie that no script sees and no other site makes a browser
// send, and leads on without the token.
func TestLink(t *testing.T) {
	_, s := store(t)
	for path, to := range map[string]string{
		"/?token=" + secret:                  `content="0; url=/"`,
		"/?q=a+b&token=" + secret:            `content="0; url=/?q=a&#43;b"`,
		"/%5cevil.example/x?token=" + secret: `content="0; url=/evil.example/x"`,
	} {
		a := ask(t, s, http.MethodGet, path, "", map[string]string{"Authorization": "", "Accept": "text/html"})
		cookie := a.Header.Get("Set-Cookie")
		if !strings.Contains(cookie, "; HttpOnly; SameSite=Strict") || strings.Contains(cookie, secret) {
			t.Errorf("%s: cookie %q", path, cookie)
		}
		if !strings.Contains(a.body, to) || strings.Contains(a.body, secret) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

func TestLogin(t *testing.T) {
	_, s := store(t)
	form := func(origin, body string) answer {
		return ask(t, s, http.MethodPost, "/login", body, map[string]string{
			"Authorization": "", "Content-Type": "application/x-www-form-urlencoded", "Origin": origin, "Accept": "text/html",
		})
	}
	if a := form(s.URL, "token="+secret+"&to=https%3A%2F%2Fevil.example%2Fusage%3Fdays%3D7"); a.StatusCode != 200 ||
		a.Header.Get("Set-Cookie") == "" || !strings.Contains(a.body, `url=/usage?days=7"`) {
		t.Errorf("status %d: %s", a.StatusCode, a.body)
	}
	for what, a := range map[string]answer{
		"another token": form(s.URL, "token=x"),
		"no token":      form(s.URL, ""),
		"no page":       form("", "token="+secret),
	} {
		if a.StatusCode != 401 || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: status %d, cookie %q", what, a.StatusCode, a.Header.Get("Set-Cookie"))
		}
	}
}

// What an address says that nobody understands is no other page.
func TestMistakenAddresses(t *testing.T) {
	_, s := store(t)
	for _, w := range []struct {
		method, path string
		status       int
		says, allow  string
	}{
		{"GET", "/?page=-1", 400, "parameter page: is unknown here: there are q, source, order", ""},
		{"GET", "/?offset=-1", 400, "parameter offset: want a whole number from 0 on", ""},
		{"GET", "/?q=x&order=upwards", 400, "parameter order: it is one of start, newest, oldest", ""},
		{"GET", "/?q=&source=&order=&offset=", 200, "", ""},
		{"GET", "/?q=x&order=start&part=list", 200, "", ""},
		{"GET", "/usage?after=zzz", 400, "parameter after: is unknown here: there are days, source", ""},
		{"GET", "/usage?days=zzz", 400, "parameter days: want", ""},
		{"GET", "/health?x=1", 400, "parameter x: is unknown here: there is none", ""},
		{"GET", "/session?id=a&m=x", 400, "parameter m: want", ""},
		{"GET", "/export?id=", 200, "", ""},
		{"PUT", "/", 405, "PUT is not for this address: use GET", "GET"},
		{"TRACE", "/", 405, "", "GET"},
		{"DELETE", "/delete", 405, "", "GET, POST"},
		{"GET", "/rpc/session_count", 405, "", "POST"},
		{"PUT", "/rpc/x", 405, "", "POST"},
		{"POST", "/usage", 405, "", "GET"},
		{"POST", "/healthz", 405, "", "GET"},
		{"DELETE", "/static/style.css", 405, "", "GET"},
		{"GET", "/login", 405, "", "POST"},
		{"POST", "/nowhere", 404, "", ""},
		{"HEAD", "/", 200, "", ""},
	} {
		a := ask(t, s, w.method, w.path, "", nil)
		if a.StatusCode != w.status || !strings.Contains(a.body, w.says) || a.Header.Get("Allow") != w.allow {
			t.Errorf("%s %s: status %d, allowed %q: %s", w.method, w.path, a.StatusCode, a.Header.Get("Allow"), a.body)
		}
	}
}

// A server that ends lets the answer that is under way end, and takes in no more.
func TestStops(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- Serve(ctx, l, db, Options{Token: secret, Local: true}) }()
	res, err := http.Get("http://" + l.Addr().String() + "/healthz")
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%v, %v", res, err)
	}
	_ = res.Body.Close()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String()); err == nil {
		_ = c.Close()
		t.Error("it still takes in connections")
	}
}

// A server whose file was taken away, or replaced, answers nothing from it.
func TestStoreGone(t *testing.T) {
	for what, take := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { return os.Rename(fixture.Copy(t, "hermes-v11.db"), path) },
	} {
		t.Run(what, func(t *testing.T) {
			path := fixture.Copy(t, "hermes-v11.db")
			db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			s := httptest.NewServer(Handler(t.Context(), db, Options{Token: secret, Local: true}))
			defer s.Close()
			get(t, s, "/healthz")
			get(t, s, "/")
			if err := take(path); err != nil {
				t.Fatal(err)
			}
			status := http.StatusOK
			for begun := time.Now(); status == http.StatusOK && time.Since(begun) < time.Minute; {
				status = ask(t, s, http.MethodGet, "/healthz", "", nil).StatusCode
			}
			if status != http.StatusServiceUnavailable {
				t.Errorf("/healthz: status %d", status)
			}
			if a := ask(t, s, http.MethodGet, "/", "", nil); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(a.body, "Start the server again") {
				t.Errorf("the list: status %d: %s", a.StatusCode, a.body)
			}
			if a := ask(t, s, http.MethodPost, "/rpc/session_count", "{}", nil); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(a.body, `"kind":"replaced"`) {
				t.Errorf("a method: status %d: %s", a.StatusCode, a.body)
			}
		})
	}
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
}
