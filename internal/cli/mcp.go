package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/httpaccess"
	"github.com/sessiondb-go/sessiondb/internal/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var o mcp.Options
	var listen string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the store to agents, as tools of the Model Context Protocol",
		Long: `Offer the store to agents, as tools of the Model Context Protocol: session_search,
session_read, session_list and session_usage, and each session as a resource in
Markdown. A client starts this command and speaks to it on its standard input and
output; with --listen, clients connect over streamable HTTP and bring a token:
$SESSIONDB_TOKEN, or one that is made and printed. Tools only read, unless
--allow-write adds session_append, session_title, session_tag and session_end.`,
		Example: `  sessiondb mcp
  sessiondb mcp --listen 127.0.0.1:8765`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			open := a.read
			if o.AllowWrite {
				open = a.create
			}
			a.strict = true // an agent must not take a part for the whole
			o.Version, o.Logger = buildVersion().Version, a.logger()
			return open(ctx, func(db *sessiondb.DB) error {
				if listen != "" {
					return a.serveMCP(ctx, db, listen, o)
				}
				return mcp.Serve(ctx, db, a.In, a.jsonOut(), o) // a signal, how a server is told to stop, is no error
			})
		},
	}
	cmd.Flags().BoolVar(&o.AllowWrite, "allow-write", false, "also offer the tools that add messages, set titles and end sessions")
	cmd.Flags().StringVar(&listen, "listen", "", "serve streamable HTTP at `ADDRESS`, such as 127.0.0.1:8765")
	return cmd
}

// Requests are small; answers may take as long as they take.
const readHeaderTimeout = 10 * time.Second

func (a *app) serveMCP(ctx context.Context, db *sessiondb.DB, address string, o mcp.Options) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return usagef("--listen %s: %v", address, cause(err))
	}
	token := a.env("SESSIONDB_TOKEN")
	if token == "" {
		token = rand.Text()
		a.note("token: %s", token)
	}
	a.note("serving MCP at http://%s/mcp", l.Addr())
	if !httpaccess.Loopback(l.Addr()) {
		a.note("warning: other machines reach this address, and the token travels unencrypted; --listen 127.0.0.1:PORT is for this one alone")
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.Handler(db, token, o))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
