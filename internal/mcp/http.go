package mcp

import (
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/httpaccess"
)

// idle is how long a client may be silent before its session is forgotten.
const idle = 30 * time.Minute

const noToken = "a bearer token is needed: the one that 'sessiondb mcp' printed, or $SESSIONDB_TOKEN"

// Handler serves any number of clients over streamable HTTP. Every request has
// to bring the token: "Authorization: Bearer TOKEN". Requests from pages of
// other sites are refused, with the token too.
func Handler(db *sessiondb.DB, token string, o Options) http.Handler {
	s := newServer(db, o)
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{
		Logger: o.Logger, SessionTimeout: idle,
	})
	return http.NewCrossOriginProtection().Handler(httpaccess.Bearer(token, noToken, h))
}
