package mcp

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb"
)

// idle is how long a client may be silent before its session is forgotten.
const idle = 30 * time.Minute

// Handler serves any number of clients over streamable HTTP. Every request has
// to bring the token: "Authorization: Bearer TOKEN". Requests from pages of
// other sites are refused, with the token too.
func Handler(db *sessiondb.DB, token string, o Options) http.Handler {
	s := newServer(db, o)
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{
		Logger: o.Logger, SessionTimeout: idle,
	})
	return http.NewCrossOriginProtection().Handler(authorized(token, h))
}

func authorized(token string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="sessiondb"`)
			http.Error(w, "a bearer token is needed: the one that 'sessiondb mcp' printed, or $SESSIONDB_TOKEN", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}
