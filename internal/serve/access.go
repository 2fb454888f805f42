package serve

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/httpaccess"
)

// policy is what a page may do: load the styles, the scripts and the data of this
// server, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded sets what holds for every answer, and lets a panic cost one answer.
func (s *server) guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Referrer-Policy", "same-origin") // with no-referrer a form would not tell where it comes from
		head.Set("Cache-Control", "no-store")
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				s.log.Error("panic in an answer", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				panic(http.ErrAbortHandler) // what was sent may be half of it
			}
		}()
		h.ServeHTTP(w, r)
	})
}

// known lets through who brings the token: as a bearer, or as the cookie that was
// given for it. A link with the token in it is answered with the cookie. Whoever
// has the cookie may change something only from a page of this server.
func (s *server) known(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch reads := r.Method == http.MethodGet || r.Method == http.MethodHead; {
		case httpaccess.Brings(r, s.options.Token):
			h.ServeHTTP(w, r)
		case reads && httpaccess.Equal(r.URL.Query().Get("token"), s.options.Token):
			s.welcome(w, r, withoutToken(r.URL))
		case !s.hasCookie(r):
			s.refuse(w, r)
		case !reads && !httpaccess.FromOwnPage(r):
			http.Error(w, "only a page of this server may ask for this", http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// withoutToken is the path and the query of an address, to go on to.
func withoutToken(u *url.URL) string {
	q := u.Query()
	q.Del("token")
	return pathAndQuery(u.Path, q)
}

// pathAndQuery is an address on this server. Two slashes would begin the name of
// another one.
func pathAndQuery(path string, q url.Values) string {
	to := (&url.URL{Path: "/" + strings.TrimLeft(path, `/\`)}).EscapedPath()
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to
}

// cookieName tells servers at several ports of a machine apart: browsers don't.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "sessiondb-" + port
	}
	return "sessiondb"
}

// cookieValue stands for the token without being it.
func (s *server) cookieValue() string {
	m := hmac.New(sha256.New, []byte(s.options.Token))
	m.Write([]byte("sessiondb cookie"))
	return hex.EncodeToString(m.Sum(nil))
}

func (s *server) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(cookieName(r))
	return err == nil && s.options.Token != "" && httpaccess.Equal(c.Value, s.cookieValue())
}

// welcome gives the cookie and leads on. It is a page that leads on, not a
// redirect: after a link on another site, a browser would follow that without the
// cookie.
func (s *server) welcome(w http.ResponseWriter, r *http.Request, to string) {
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- without TLS a secure cookie would not come back
		Name: cookieName(r), Value: s.cookieValue(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil,
	})
	s.page(w, http.StatusOK, "welcome", view{Title: "Welcome", Data: to})
}

// login takes the token from the form of the page that asks for it.
func (s *server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	if !httpaccess.FromOwnPage(r) || !httpaccess.Equal(strings.TrimSpace(r.PostFormValue("token")), s.options.Token) {
		s.refuse(w, r)
		return
	}
	to, err := url.Parse(r.PostFormValue("to"))
	if err != nil {
		to = &url.URL{Path: "/"}
	}
	s.welcome(w, r, withoutToken(to))
}

const noToken = "a token is needed: open the link that 'sessiondb serve' printed, or send its token or $SESSIONDB_TOKEN as 'Authorization: Bearer TOKEN'"

// refuse asks for the token.
func (s *server) refuse(w http.ResponseWriter, r *http.Request) {
	httpaccess.Challenge(w)
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, noToken, http.StatusUnauthorized)
		return
	}
	to := "/"
	if r.Method == http.MethodGet {
		to = withoutToken(r.URL)
	}
	s.page(w, http.StatusUnauthorized, "login", view{Title: "Who is there?", Data: to})
}
